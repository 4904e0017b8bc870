"""Choice of masked values to merge so that no nonzero count is small and little information on the label is lost."""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counts import Counts, Places

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
    return _only_one(joint) if runs is None else runs[coarse]


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
    """(rows,) The run of each row in the partition into runs with the highest total worth; None if that is minus
    infinity.

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
    """(rows,) Groups of neighbours. Missing values stay separate if that leaves no small count; otherwise they join a
    run.
    """
    coarse = _coarsened(joint[missing:])
    rows = folded(joint[missing:], coarse)
    runs = best_runs(rows, least)
    if not missing:
        return _only_one(joint) if runs is None else runs[coarse]
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


def _only_one(joint: Counts) -> Places:
    return np.zeros(len(joint), dtype=np.intp)


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
    groups, coarse = _only_one(joint), _coarsened_by_share(joint[missing:])
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
    groups = _only_one(joint)
    groups[order] = _coarsened(joint[order])
    return groups


def _greedily_merged(joint: Counts, least: int) -> Places:
    sums, into = joint.copy(), np.arange(len(joint))
    left = np.ones(len(joint), dtype=np.bool_)
    small = is_small(sums, least)
    while small.any() and left.sum() > 1:
        row = int(np.where(small, sums.sum(axis=1).astype(np.float64), np.inf).argmin())
        left[row] = small[row] = False
        with_it = _partner(sums, row, left, least)
        sums[with_it] += sums[row]
        small[with_it] = is_small(sums[with_it : with_it + 1], least)[0]
        into[into == row] = with_it
    return np.asarray(np.unique(into, return_inverse=True)[1])


def _partner(sums: Counts, row: int, left: NDArray[np.bool_], least: int) -> int:
    """The row to merge with: the one that loses least, preferably of those that leave no small count."""
    enough = left & ~is_small(sums + sums[row], least)
    return int(np.where(enough if enough.any() else left, _losses(sums, sums[row]), np.inf).argmin())


def _losses(sums: Counts, row: Counts) -> NDArray[np.float64]:
    """(rows,) The loss of mutual information with the label, times the records, from merging with `row` (labels,)."""
    return np.asarray(information(sums) + information(row[None]) - information(sums + row))


def information(sums: Counts) -> NDArray[np.float64]:
    """(rows,) `sum_y n_y ln n_y - n ln n` of each row, or minus records times entropy; merging decreases its sum."""
    totals = sums.sum(axis=1)
    return np.asarray(_n_log_n(sums).sum(axis=1) - _n_log_n(totals))


def _n_log_n(counts: Counts) -> NDArray[np.float64]:
    return np.asarray(counts * np.log(np.maximum(counts, 1)))
