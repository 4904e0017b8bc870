"""The domain that an entry lists: no finer than its configurations require, and without rare values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import CountedAttribute
from aegis_provider.counting.counts import Counts, Partition, Places, common_refinement
from aegis_provider.counting.group_names import group_names
from aegis_provider.counting.merging import cost_of_group, folded, information, informative_runs
from aegis_provider.counting.nested_merging import Values, View, merged_within
from aegis_provider.counting.round_edges import cut_where_round
from aegis_provider.table.values import MISSING, Domain

RECORDS_PER_CELL: Final = 10
"""The lowest mean of the pair counts of two unmasked attributes: rounding to 5 then adds less error than chance."""

LEAST: Final = 20
"""The fewest records of a listed value of an attribute that is shared unmasked."""


@dataclass(frozen=True, eq=False)
class PublishedDomain:
    """The values of an attribute that an entry lists.

    Attributes:
        texts: Their texts.
        partition: The listed value of each value of the table.
    """

    texts: tuple[str, ...]
    partition: Partition

    @classmethod
    def exact(cls, domain: Domain) -> "PublishedDomain":
        """List every value."""
        return cls(domain.texts, Partition.identity(len(domain)))

    @classmethod
    def coarsest(
        cls,
        counted: CountedAttribute,
        shared: Sequence[Partition],
        *,
        unmasked: bool,
        binned: bool,
        least: int = 0,
    ) -> "PublishedDomain":
        """List the coarsest domain that the shared maskings need.

        Values that no shared masking separates are merged. If the attribute is shared unmasked, values with at least
        `least_records` stay separate; the others are merged with values that all shared maskings treat alike:
        neighbours if the values are ordered.

        Args:
            counted: The attribute with its counts.
            shared: The partitions of its values by the maskings that configurations use.
            unmasked: Whether a configuration needs its single values.
            binned: Whether the values are bins.
            least: The smallest count of a listed value and a label value, apart from 0; values that all shared maskings
                treat alike must have as many. Names reveal no value with fewer records.
        """
        domain, histogram = counted.domain, counted.counts.histogram()
        values = Values.of(domain, binned=binned)
        atoms = _atoms(domain, shared)
        listed = listed_values(counted, shared, binned=binned) if unmasked else Partition.of(atoms.groups)
        view = View(listed, counted.counts.fold(listed.groups, listed.size))
        listed = merged_within(view, atoms, least, values).partition
        members = [np.flatnonzero(listed.groups == group) for group in range(listed.size)]
        names = group_names(domain, members, binned=binned, frequent=histogram >= max(least, LEAST))
        return cls(names, listed)

    def averages(self, transition: NDArray[np.float64]) -> NDArray[np.float64]:
        """(listed values, masked) The mean of the rows (values, masked) of each listed value, all with equal weight."""
        sums = np.zeros((self.partition.size, transition.shape[1]))
        np.add.at(sums, self.partition.groups, transition)
        return sums / np.bincount(self.partition.groups)[:, np.newaxis]


def listed_values(counted: CountedAttribute, shared: Sequence[Partition], *, binned: bool) -> Partition:
    """Return the default groups of listed values of an attribute that is shared unmasked.

    Args:
        counted: The attribute with its counts.
        shared: The partitions of its values by the maskings that configurations use.
        binned: Whether the values are bins.
    """
    domain, joint = counted.domain, counted.counts.dense()
    least = least_records(int(joint.sum()))
    return Partition.of(merged_values(domain, joint, _atoms(domain, shared), least, binned=binned).groups)


def _atoms(domain: Domain, shared: Sequence[Partition]) -> Partition:
    """Return the groups of values that no shared masking separates."""
    return common_refinement([Partition(np.zeros(len(domain), dtype=np.intp), 1), *shared])


def least_records(records: int) -> int:
    """Return the fewest records of a listed value of an attribute that is shared unmasked.

    If all values of two attributes have this number of records, the mean of their pair counts is `RECORDS_PER_CELL`: `N
    / (N / least)^2`.
    """
    return max(LEAST, math.ceil(math.sqrt(RECORDS_PER_CELL * records)))


def merged_values(
    domain: Domain, joint: Counts, atoms: Partition, least: int, *, binned: bool, fewest: int = LEAST
) -> Partition:
    """Split atoms into groups of values that retain most information on the label.

    A group has at least `least` records, or at least `fewest` and more information than chance explains. Ordered values
    are merged with neighbours and cut at round numbers. Unordered ones with too few records are one group.

    Args:
        domain: The values.
        joint: (values, labels) Their joint counts.
        atoms: The groups to split.
        least: The fewest records of a group without such information.
        binned: Whether the values are bins.
        fewest: The fewest records of a group; none needs more than `least`.
    """
    groups, following, fewest = np.empty(len(domain), dtype=np.intp), count(), min(fewest, least)
    ordered = Values.of(domain, binned=binned).ordered
    for atom in range(atoms.size):
        members = np.flatnonzero(atoms.groups == atom)
        missing = [place for place in members if domain.texts[place] == MISSING]
        present = members[len(missing) :]
        counts = joint[present]
        if ordered:
            pieces = cut_where_round(domain, present, counts.sum(axis=1) >= fewest, binned=binned)
            split = _neighbours(present, pieces, counts, least, fewest)
        else:
            split = _distinct(present, counts, least, fewest)
        for group in split:
            groups[group] = next(following)
        if missing:
            groups[missing] = next(following)
    return Partition(groups, next(following))


def _neighbours(members: Places, pieces: Places, joint: Counts, least: int, fewest: int) -> list[Places]:
    """Cut ordered values with these joint counts into runs of pieces."""
    if not len(members):
        return []
    runs = informative_runs(folded(joint, pieces), least, fewest)[pieces]
    return [members[runs == run] for run in range(int(runs.max()) + 1)]


def _distinct(members: Places, joint: Counts, least: int, fewest: int) -> list[Places]:
    """Separate unordered values that are common or much more informative than the rare ones, which form one group.

    If that has fewer than `least` records, the rarest other value joins it.
    """
    records = joint.sum(axis=1)
    rare = records < least
    others = joint[rare].sum(axis=0)
    told = information(joint[rare]) + information(others - joint[rare]) - information(others[np.newaxis])
    rare[rare] = (records[rare] < fewest) | (told <= cost_of_group(joint))
    alone = np.flatnonzero(~rare)
    if len(alone) and 0 < records[rare].sum() < least:
        rare[alone[records[alone].argmin()]] = True
    return [*members[~rare, np.newaxis], *([members[rare]] if rare.any() else [])]
