"""Merging of all tables of an attribute, the coarsest first, so that nested tables stay nested.

If one table follows from another, and neither has a small count, no difference of the two is small: a cell without some
of its parts is the sum of its other parts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np

from aegis_provider.counting.counts import Counts, Partition, Places, common_refinement, finest_common_coarsening
from aegis_provider.counting.merging import folded, information, is_small, merged_groups
from aegis_provider.table.values import MISSING, Domain, ValueType

_FIRST: Final = 0
"""The place of a missing value, the first."""


@dataclass(frozen=True, eq=False)
class View:
    """A table of an attribute.

    Attributes:
        partition: The values in groups, numbered in the order of their first values.
        joint: (groups, labels) the joint counts of the groups and the label.
    """

    partition: Partition
    joint: Counts

    def coarser(self, partition: Partition) -> "View":
        """Return the table of a coarser partition."""
        return View(partition, folded(self.joint, partition.per_group_of(self.partition)))


@dataclass(frozen=True)
class Values:
    """The order of an attribute's values.

    Attributes:
        ordered: Whether they are ordered, so that only neighbours may be merged.
        missing: Whether the first is the missing value.
    """

    ordered: bool
    missing: bool

    @classmethod
    def of(cls, domain: Domain, *, binned: bool) -> "Values":
        """Return the order of a domain's values; bins are ordered, too."""
        return cls(binned or domain.value_type is not ValueType.STRING, domain.texts[0] == MISSING)

    def is_order_of(self, partition: Partition) -> bool:
        """Return whether the groups are in the order of the values."""
        return self.ordered and bool(np.all(np.diff(partition.groups[int(self.missing) :]) >= 0))

    def has_missing(self, partition: Partition) -> bool:
        """Return whether the first group has missing values only."""
        return self.missing and int(np.count_nonzero(partition.groups == partition.groups[_FIRST])) == 1


def nested_merging(views: Sequence[View], least: int, values: Values) -> list[Partition]:
    """Return a coarser partition for each view, so that none has a nonzero count below `least`.

    Each view is merged only within the groups of the coarser views that follow from it, so that they still do. It may
    refine two views that cross, and their common groups may be too small. Then it is merged within the groups of one of
    these, and the others are coarsened as far as necessary. Merging coarser views further makes no count smaller, so
    one pass from the coarsest to the finest is enough. If no label value is rare, a single group always qualifies.

    Args:
        views: Tables of the same records; no nonzero sum of a column is below `least`.
        least: The smallest count allowed, apart from 0.
        values: The order of the values.
    """
    first = [next(place for place, one in enumerate(views) if _equal(one, view)) for view in views]
    merged = {place: views[place].partition for place in first}
    for place in sorted(merged, key=lambda each: views[each].partition.size):
        above = [
            other for other in merged if other != place and views[other].partition.follows_from(views[place].partition)
        ]
        coarser = [views[other].coarser(merged[other]) for other in above]
        merged[place] = _merged(views[place], coarser, least, values).partition
        for other in above:
            merged[other] = finest_common_coarsening(merged[other], merged[place])
    return [merged[place] for place in first]


def _equal(one: View, other: View) -> bool:
    return np.array_equal(one.partition.groups, other.partition.groups)


def _merged(view: View, above: Sequence[View], least: int, values: Values) -> View:
    """Merge a view within the groups of those above; if these cross, within those of the one that retains most
    information.
    """
    everything = Partition(np.zeros(len(view.partition.groups), dtype=np.intp), 1)
    common = common_refinement([everything, *(coarse.partition for coarse in above)])
    within_all = merged_within(view, common, least, values)
    if not is_small(within_all.joint, least).any():
        return within_all
    choices = [merged_within(within_all, coarse.partition, least, values) for coarse in above]
    return max(choices, key=lambda each: _kept(each, above))


def merged_within(view: View, limits: Partition, least: int, values: Values) -> View:
    """Merge small rows with others of the same group of `limits`, where the group itself is not too small."""
    into, limit_of = np.arange(view.partition.size), limits.per_group_of(view.partition)
    few = is_small(folded(view.joint, limit_of), least)
    ordered, missing = values.is_order_of(view.partition), values.has_missing(view.partition)
    for limit in np.unique(limit_of[is_small(view.joint, least)]):
        if not few[limit]:
            rows = np.flatnonzero(limit_of == limit)
            into[rows] = _merged_rows(rows, view, least, ordered=ordered, missing=missing and int(rows[0]) == _FIRST)
    return view.coarser(Partition.of(into[view.partition.groups]))


def _merged_rows(rows: Places, view: View, least: int, *, ordered: bool, missing: bool) -> Places:
    """(rows,) The first row of the group of each of these rows."""
    groups = merged_groups(view.joint[rows], least, ordered=ordered, missing=missing)
    if groups is None:
        return np.full(len(rows), rows[0])
    _, first, place = np.unique(groups, return_index=True, return_inverse=True)
    return np.asarray(rows[first[place.reshape(-1)]])


def _kept(view: View, above: Iterable[View]) -> float:
    """Return the information on the label, up to a constant, that all retain if those above follow from the view."""
    coarser = (coarse.coarser(finest_common_coarsening(coarse.partition, view.partition)) for coarse in above)
    return float(sum(information(one.joint).sum() for one in chain([view], coarser)))
