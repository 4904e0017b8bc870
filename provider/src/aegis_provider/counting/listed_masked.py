"""The masked values that an entry lists of a masking that can release single values as they are.

Maskings without a mapping can do so, and functions that leave values nearly unique.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import CountedAttribute, MaskedDomain
from aegis_provider.counting.counts import Counts, Partition, finest_common_coarsening
from aegis_provider.counting.group_names import group_names
from aegis_provider.counting.published_domain import LEAST, PublishedDomain, least_records, merged_values
from aegis_provider.table.values import Domain

_FEW: Final = 20
"""A table with fewer records is too small to tell."""

_Number = TypeVar("_Number", np.int64, np.float64)


@dataclass(frozen=True, eq=False)
class ListedMasked:
    """The masked values of a masking as an entry lists them.

    Attributes:
        texts: Their texts.
        partition: The listed one of each masked value.
    """

    texts: tuple[str, ...]
    partition: Partition

    @classmethod
    def exact(cls, texts: Sequence[str]) -> "ListedMasked":
        """List every masked value."""
        return cls(tuple(texts), Partition.identity(len(texts)))

    @classmethod
    def common(cls, texts: Sequence[str], joint: Counts, domain: Domain, *, binned: bool) -> "ListedMasked":
        """List common masked values, and groups of rare ones, which are merged as unmasked values are.

        Args:
            texts: The masked values, in order.
            joint: (masked, labels) Their joint counts with the label.
            domain: The values of the attribute.
            binned: Whether these are bins.
        """
        known, binned = (domain, binned) if tuple(texts) == domain.texts else (_domain_of(texts), False)
        histogram = joint.sum(axis=1)
        everything = Partition(np.zeros(len(known), dtype=np.intp), 1)
        least = least_records(int(histogram.sum()))
        listed = Partition.of(merged_values(known, joint, everything, least, binned=binned).groups)
        members = [np.flatnonzero(listed.groups == group) for group in range(listed.size)]
        return cls(group_names(known, members, binned=binned, frequent=histogram >= LEAST), listed)

    def summed(self, table: NDArray[_Number]) -> NDArray[_Number]:
        """(listed, n) The sums of the rows (masked, n) of each listed masked value."""
        sums = np.zeros((self.partition.size, table.shape[1]), dtype=table.dtype)
        np.add.at(sums, self.partition.groups, table)
        return sums


def shows_rare_values(counted: CountedAttribute, masked: MaskedDomain, records: int) -> bool:
    """Return whether a masking leaves a rare value as it is, or has two records for each masked value or fewer."""
    rare = np.flatnonzero(counted.counts.histogram() < LEAST)
    texts = counted.domain.texts
    kept = any(texts[place] and masked.texts[masked.mapping[place]] == texts[place] for place in rare)
    return kept or 2 * len(masked.texts) > max(records, _FEW)


def listed_as_unmasked(
    counted: CountedAttribute, masked: MaskedDomain, published: PublishedDomain, *, binned: bool
) -> MaskedDomain:
    """Merge the masked values of a function like the listed values, so that none is that of few records.

    Args:
        counted: The attribute.
        masked: The masked values.
        published: The listed values.
        binned: Whether the values are bins.
    """
    partition = finest_common_coarsening(published.partition, masked.partition())
    members = [np.flatnonzero(partition.groups == group) for group in range(partition.size)]
    frequent = counted.counts.histogram() >= LEAST
    texts = group_names(counted.domain, members, binned=binned, frequent=frequent)
    return MaskedDomain(texts, tuple(partition.groups.tolist()))


def _domain_of(texts: Sequence[str]) -> Domain:
    """Return masked values as a domain: of numbers or dates if they are in the order of these, else of texts."""
    typed = Domain.of(texts)
    if typed.texts == tuple(texts):
        return typed
    place = {text: place for place, text in enumerate(texts)}
    return Domain.in_order(texts, place.__getitem__)
