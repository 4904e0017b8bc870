"""The masked values that an entry lists for a masking that may release single values unchanged.

These are maskings without a mapping, and functions that leave values nearly unique.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import CountedAttribute, MaskedDomain
from aegis_provider.counting.counts import Counts, Partition, finest_common_coarsening
from aegis_provider.counting.group_names import group_names
from aegis_provider.counting.nested_merging import Values
from aegis_provider.counting.published_domain import LEAST, PublishedDomain, least_records, merged_values
from aegis_provider.table.values import MISSING, Domain

_FEW: Final = 20
"""A table with fewer records is too small to judge."""

_Number = TypeVar("_Number", np.int64, np.float64)


@dataclass(frozen=True, eq=False)
class ListedMasked:
    """The masked values of a masking, as listed in an entry.

    Attributes:
        texts: Their texts.
        partition: The listed value of each masked value.
    """

    texts: tuple[str, ...]
    partition: Partition

    @classmethod
    def exact(cls, texts: Sequence[str]) -> "ListedMasked":
        """List every masked value."""
        return cls(tuple(texts), Partition.identity(len(texts)))

    @classmethod
    def common(cls, texts: Sequence[str], joint: Counts, domain: Domain, *, binned: bool) -> "ListedMasked":
        """List common masked values, and groups of rare ones, merged like unmasked values.

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


def is_nearly_unique(counted: CountedAttribute, masked: MaskedDomain) -> bool:
    """Return whether a masking has at most two records per masked value, or leaves most values as rare as before."""
    histogram = counted.counts.histogram()
    records, rare = int(histogram.sum()), int(histogram[_shown(counted, masked)].sum())
    return 2 * len(masked.texts) > max(records, _FEW) or 2 * rare > records


def listed_as_unmasked(
    counted: CountedAttribute, masked: MaskedDomain, published: PublishedDomain, *, binned: bool
) -> MaskedDomain:
    """Merge the masked values of a function like the listed values, so that none has few records.

    Args:
        counted: The attribute.
        masked: The masked values.
        published: The listed values.
        binned: Whether the values are bins.
    """
    return _listed(counted, finest_common_coarsening(published.partition, masked.partition()), binned=binned)


def listed_without_rare(counted: CountedAttribute, masked: MaskedDomain, *, binned: bool) -> MaskedDomain:
    """Merge those masked values of a function that are unchanged values of few records.

    If values are ordered, only consecutive ones are merged.
    """
    domain, shown = counted.domain, _shown(counted, masked)
    if not shown.any():
        return masked
    ordered = Values.of(domain, binned=binned).ordered
    runs = np.cumsum(np.diff(shown.astype(np.intp), prepend=0) == 1) if ordered else np.zeros(shown.size, dtype=np.intp)
    atoms = Partition.of(np.where(shown, len(masked.texts) + runs, masked.mapping))
    values = merged_values(domain, counted.counts.dense(), atoms, LEAST, binned=binned)
    return _listed(counted, finest_common_coarsening(Partition.of(values.groups), masked.partition()), binned=binned)


def _listed(counted: CountedAttribute, partition: Partition, *, binned: bool) -> MaskedDomain:
    members = [np.flatnonzero(partition.groups == group) for group in range(partition.size)]
    frequent = counted.counts.histogram() >= LEAST
    texts = group_names(counted.domain, members, binned=binned, frequent=frequent)
    return MaskedDomain(texts, tuple(partition.groups.tolist()))


def _shown(counted: CountedAttribute, masked: MaskedDomain) -> NDArray[np.bool_]:
    """(values,) Whether each is a value of few records that a masking leaves unchanged."""
    both = zip(masked.mapping, counted.domain.texts, strict=True)
    kept = [masked.texts[place] == text != MISSING for place, text in both]
    return np.array(kept, dtype=bool) & (counted.counts.histogram() < LEAST)


def _domain_of(texts: Sequence[str]) -> Domain:
    """Return masked values as a domain: of numbers or dates if they are in the order of these, else of texts."""
    typed = Domain.of(texts)
    if typed.texts == tuple(texts):
        return typed
    place = {text: place for place, text in enumerate(texts)}
    return Domain.in_order(texts, place.__getitem__)
