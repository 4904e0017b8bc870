"""Choice of masked values to merge so that no nonzero count is small and little information on the label is lost.

All tables of an attribute are merged, the coarsest first, so that nested tables stay nested. If one table follows from
another, and neither has a small count, no difference of the two is small: a cell without some of its parts is the sum
of its other parts.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counts import Counts, Partition, Places, common_refinement, finest_common_coarsening
from aegis_provider.table.values import MISSING, Domain, ValueType

_MOST_ROWS: Final = 2000
"""The most rows to search; more are first merged down to this number, since the time grows with its square."""

_FINER: Final = 1e-9
"""The bonus for each additional run, in nats per record: among equally informative partitions the finer one wins."""


def is_small(joint: Counts, least: int) -> NDArray[np.bool_]:
    """(rows,) Whether a row of the joint counts (rows, labels) has a nonzero count below `least`."""
    return np.asarray(((joint > 0) & (joint < least)).any(axis=1))


def merged_groups(joint: Counts, least: int, *, ordered: bool, missing: bool) -> Places | None:
    """(rows,) The group of each masked value, from 0, such that no nonzero summed count is below `least`.

    Return `None` if there would be only one group.

    Args:
        joint: (masked values, labels) joint counts; no nonzero column sum is below `least`.
        least: The smallest count allowed, apart from 0.
        ordered: Whether only neighbours may share a group.
        missing: Whether the first row is that of missing values. It is merged with others only if its counts, or those
            of all others together, would be small.
    """
    if len(joint) == 1:
        return None
    merge = _merged_in_order if ordered else _merged_by_loss
    groups = merge(joint, least, missing=missing)
    return groups if groups.max() > 0 else None


def folded(joint: Counts, groups: Places) -> Counts:
    """(groups, labels) The joint counts of the groups."""
    sums = np.zeros((int(groups.max()) + 1, joint.shape[1]), dtype=np.int64)
    np.add.at(sums, groups, joint)
    return sums


def best_runs(joint: Counts, least: int) -> Places | None:
    """(rows,) The run of each row in the best partition into contiguous runs without a small count.

    The best partition retains the most mutual information with the label. Up to terms that all partitions share, this
    is the sum over runs of `sum_y n_y ln n_y - n ln n`. Dynamic programming over the beginning of the last run
    maximises the sum (Bellman; for intervals Jackson et al. 2005) in O(rows^2 labels). Return `None` if no partition
    qualifies.
    """
    finer = _FINER * float(joint.sum())
    return _best_runs(joint, lambda runs: np.where(is_small(runs, least), -np.inf, information(runs) + finer))


def informative_runs(joint: Counts, least: int, fewest: int) -> Places:
    """(rows,) The run of each row in the best partition into contiguous runs of at least `fewest` records.

    The best partition retains the most mutual information with the label, but a run with fewer than `least` records
    must beat chance (`cost_of_group`). There is one run if no partition qualifies. Above 2,000 rows, the neighbours
    that lose least are merged first, to limit the time.

    Args:
        joint: (rows, labels) joint counts.
        least: Runs with this many records cost nothing.
        fewest: The fewest records of a run.
    """
    coarse, cost, finer = _coarsened(joint), cost_of_group(joint), _FINER * float(joint.sum())

    def worth(runs: Counts) -> NDArray[np.float64]:
        sizes = runs.sum(axis=1)
        return np.where(sizes < fewest, -np.inf, information(runs) + finer - cost * (sizes < least))

    runs = _best_runs(folded(joint, coarse), worth)
    return np.zeros(len(joint), dtype=np.intp) if runs is None else runs[coarse]


def cost_of_group(joint: Counts) -> float:
    """Return the extra information, in nats times records, that makes a group worthwhile.

    That is the penalty of the Bayesian information criterion for its parameters (Schwarz 1978): half the logarithm of
    the records for each label value but one, and twice as much for its place, which chance may have chosen.

    Args:
        joint: (rows, labels) the joint counts that are split into groups.
    """
    labels, records = int(np.count_nonzero(joint.any(axis=0))), float(joint.sum())
    return (0.5 * max(labels - 1, 1) + 1) * float(np.log(max(records, 2.0)))


def _best_runs(joint: Counts, worth: Callable[[Counts], NDArray[np.float64]]) -> Places | None:
    """(rows,) The run of each row in the partition into runs of highest total worth; None if that is minus infinity.

    Args:
        joint: (rows, labels) joint counts.
        worth: Returns the worth (runs,) of each of some runs (runs, labels).
    """
    rows, sums = len(joint), np.vstack([np.zeros_like(joint[:1]), joint.cumsum(axis=0)])
    best, begins = np.full(rows + 1, -np.inf), np.zeros(rows + 1, dtype=np.intp)
    best[0] = 0.0
    for end in range(1, rows + 1):
        kept = best[:end] + worth(sums[end] - sums[:end])
        begins[end] = kept.argmax()
        best[end] = kept[begins[end]]
    return _runs(begins) if best[-1] > -np.inf else None


def _runs(begins: Places) -> Places:
    """(rows,) The number of each row's run, where `begins[end]` is the beginning of the run that ends at `end`."""
    groups = np.zeros(len(begins) - 1, dtype=np.intp)
    end = len(groups)
    while end > 0:
        groups[begins[end]] += 1
        end = int(begins[end])
    return np.asarray(np.cumsum(groups) - 1)


def _merged_in_order(joint: Counts, least: int, *, missing: bool) -> Places:
    """(rows,) Groups of neighbours.

    Missing values stay separate if that leaves no small count; otherwise they join a run.
    """
    coarse = _coarsened(joint[missing:])
    rows = folded(joint[missing:], coarse)
    runs = best_runs(rows, least)
    if not missing:
        return np.zeros(len(joint), dtype=np.intp) if runs is None else runs[coarse]
    if runs is not None and not is_small(joint[:1], least)[0]:
        return np.concatenate([[0], 1 + runs[coarse]])
    runs, taking = _best_runs_beside(rows, least, joint[0])
    return np.concatenate([[taking], runs[coarse]])


def _best_runs_beside(joint: Counts, least: int, beside: Counts) -> tuple[Places, int]:
    """The best runs if one of them also takes the counts `beside` (labels,), and the number of that run.

    The program stores two optima for each end: one where no run has taken the counts yet, and one where a run has. A
    solution always exists, since a single run of all rows is one.
    """
    rows, sums = len(joint), np.vstack([np.zeros_like(joint[:1]), joint.cumsum(axis=0)])
    finer = _FINER * float(joint.sum())
    best, begins = np.full((2, rows + 1), -np.inf), np.zeros((2, rows + 1), dtype=np.intp)
    takes, best[0, 0] = np.zeros(rows + 1, dtype=np.bool_), 0.0
    for end in range(1, rows + 1):
        runs = sums[end] - sums[:end]
        without, taking = (
            np.where(is_small(each, least), -np.inf, information(each) + finer) for each in (runs, runs + beside)
        )
        before, after = best[0, :end] + without, np.concatenate([best[1, :end] + without, best[0, :end] + taking])
        begins[0, end], best[0, end] = before.argmax(), before.max()
        takes[end], begins[1, end] = divmod(int(after.argmax()), end)
        best[1, end] = after.max()
    chosen, end, taken, state = np.zeros(rows + 1, dtype=np.intp), rows, 0, 1
    while end > 0:
        chosen[end] = begin = int(begins[state, end])
        if state and takes[end]:
            taken, state = begin, 0
        end = begin
    run_of = _runs(chosen)
    return run_of, int(run_of[taken])


def _coarsened(joint: Counts) -> Places:
    """(rows,) At most `_MOST_ROWS` groups of neighbours: each round merges the disjoint pairs that lose least."""
    groups = np.arange(len(joint))
    while (size := int(groups.max()) + 1) > _MOST_ROWS:
        sums = folded(joint, groups)
        first, second = sums[: size - size % 2 : 2], sums[1::2]
        loss = information(first) + information(second) - information(first + second)
        most = min(size - _MOST_ROWS, (len(loss) + 1) // 2)
        follows = np.zeros(size, dtype=np.intp)
        follows[2 * np.argsort(loss, kind="stable")[:most] + 1] = 1
        groups = (np.arange(size) - np.cumsum(follows))[groups]
    return groups


def _merged_by_loss(joint: Counts, least: int, *, missing: bool) -> Places:
    """(rows,) Groups from merging the smallest repeatedly with the one that loses least; missing values come last."""
    groups, coarse = np.zeros(len(joint), dtype=np.intp), _coarsened_by_share(joint[missing:])
    groups[missing:] = _greedily_merged(folded(joint[missing:], coarse), least)[coarse]
    if not missing:
        return groups
    groups[1:] += 1
    return np.asarray(_greedily_merged(folded(joint, groups), least)[groups])


def _coarsened_by_share(joint: Counts) -> Places:
    """(rows,) At most `_MOST_ROWS` groups of rows with similar label shares.

    For two labels, no two groups are more informative than the best split into two runs in the order of the share
    (Breiman et al. 1984, theorem 4.5).
    """
    if len(joint) <= _MOST_ROWS:
        return np.arange(len(joint))
    order = np.lexsort((joint / np.maximum(joint.sum(axis=1, keepdims=True), 1)).T)
    groups = np.zeros(len(joint), dtype=np.intp)
    groups[order] = _coarsened(joint[order])
    return groups


def _greedily_merged(joint: Counts, least: int) -> Places:
    sums, into = joint.copy(), np.arange(len(joint))
    left = np.ones(len(joint), dtype=np.bool_)
    small = is_small(sums, least)
    while small.any() and left.sum() > 1:
        row = int(np.where(small, sums.sum(axis=1).astype(np.float64), np.inf).argmin())
        left[row] = small[row] = False
        # With the row that loses least, preferably of those that leave no small count.
        enough = left & ~is_small(sums + sums[row], least)
        losses = _losses(sums, sums[row])
        with_it = int(np.where(enough if enough.any() else left, losses, np.inf).argmin())
        sums[with_it] += sums[row]
        small[with_it] = is_small(sums[with_it : with_it + 1], least)[0]
        into[into == row] = with_it
    return np.asarray(np.unique(into, return_inverse=True)[1])


def _losses(sums: Counts, row: Counts) -> NDArray[np.float64]:
    """(rows,) The loss of mutual information with the label, times the records, from merging with `row` (labels,)."""
    return np.asarray(information(sums) + information(row[None]) - information(sums + row))


def information(sums: Counts) -> NDArray[np.float64]:
    """(rows,) `sum_y n_y ln n_y - n ln n` of each row, or minus records times entropy; merging decreases its sum."""
    totals = sums.sum(axis=1)
    of_cells, of_rows = (counts * np.log(np.maximum(counts, 1)) for counts in (sums, totals))
    return np.asarray(of_cells.sum(axis=1) - of_rows)


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
        """Return whether the first group has only missing values."""
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
    first = [
        next(place for place, one in enumerate(views) if np.array_equal(one.partition.groups, view.partition.groups))
        for view in views
    ]
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


def _merged(view: View, above: Sequence[View], least: int, values: Values) -> View:
    """Merge a view within the groups of those above; if these cross, within those of the most informative one."""
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
            first_is_missing = missing and int(rows[0]) == _FIRST
            groups = merged_groups(view.joint[rows], least, ordered=ordered, missing=first_is_missing)
            if groups is None:
                into[rows] = rows[0]
            else:
                _, first, place = np.unique(groups, return_index=True, return_inverse=True)
                into[rows] = rows[first[place.reshape(-1)]]
    return view.coarser(Partition.of(into[view.partition.groups]))


def _kept(view: View, above: Iterable[View]) -> float:
    """Return the information on the label, up to a constant, that all retain if those above follow from the view."""
    coarser = (coarse.coarser(finest_common_coarsening(coarse.partition, view.partition)) for coarse in above)
    return float(sum(information(one.joint).sum() for one in chain([view], coarser)))
