"""Merges of values into nested groups, by the label or as even as possible, and which of the two carries over.

The information of groups of values is their mutual information with the label, `I`. In nats,
`N I = sum_g h(g) - h(all)` with `h(g) = sum_y n_gy log(n_gy / n_g)`, so merging two groups loses
`h(1) + h(2) - h(1 and 2)`, which is never negative (Slonim and Tishby, Agglomerative information bottleneck, 1999).
Counts of a single label tell nothing. Their `h(g)` is `-n_g log n_g`, so that the groups become as even as possible.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import LEAST
from aegis_provider.counting.counts import Counts, Places

Group: TypeAlias = tuple[int, ...]
"""The places of the values in a group, ascending."""

Groups: TypeAlias = tuple[Group, ...]
"""All values of a domain in groups, ordered by their first values."""


def folded(joint: NDArray[np.number], groups: Groups) -> NDArray[np.number]:
    """Return the (groups, labels) counts of these groups of the values in (values, labels) counts."""
    return np.stack([joint[list(group)].sum(axis=0) for group in groups])


def without_labels_of_rare(joint: Counts, least: int) -> NDArray[np.float64]:
    """Return counts that hide the labels of rare values from merges, since groups could disclose them.

    Records of values with fewer than `least` get the average labels of all others.

    Args:
        joint: (values, labels) counts.
        least: Minimum records of a value whose labels are used.
    """
    records = joint.sum(axis=1)
    rare = records < least
    labels = joint[~rare].sum(axis=0) if not rare.all() else np.ones(joint.shape[1])
    return np.where(rare[:, np.newaxis], np.outer(records, labels / labels.sum()), joint)


def blind_runs(records: NDArray[np.number], least: int) -> Places:
    """(n,) The run of each of `n` ordered values, from 0: neighbours until they have `least` records together.

    No run depends on labels. A remainder with fewer records belongs to the last run.

    Args:
        records: (n,) The records of each value.
        least: Minimum records of a run.
    """
    runs, run, held = np.zeros(len(records), dtype=np.intp), 0, 0
    for place, number in enumerate(records.tolist()):
        run, held = (run + 1, 0) if held >= least else (run, held)
        runs[place], held = run, held + number
    if held < least:
        runs[runs == run] = max(run - 1, 0)
    return runs


def merge_neighbours(joint: NDArray[np.number], minimum: int, sizes: Sequence[int]) -> list[Groups]:
    """Return the best nested partition of ordered values into intervals for each size.

    Of all partitions into at most `size` intervals that are unions of the previous ones and have at least `minimum`
    records each, it preserves the most information (by dynamic programming). Values with fewer records in total become
    one interval.

    Args:
        joint: (values, labels) counts of one value or more, in the order of the values.
        minimum: Minimum records of a group.
        sizes: The most groups of each partition, descending.
    """
    groups: Groups = tuple((place,) for place in range(len(joint)))
    partitions = []
    for size in sizes:
        cuts = _best_cuts(folded(joint, groups), minimum, size)
        groups = tuple(sum(groups[low:high], ()) for low, high in pairwise(cuts))
        partitions.append(groups)
    return partitions


def merge_any(joint: NDArray[np.number], minimum: int, sizes: Sequence[int]) -> list[Groups]:
    """Return a nested partition of unordered values for each size.

    Groups are merged greedily, with the least loss of information: first the smallest one with another, while it has
    fewer than `minimum` records; then any two.

    Args:
        joint: (values, labels) counts of one value or more.
        minimum: Minimum records of a group.
        sizes: The most groups of each partition, descending.
    """
    merging = _Merging(joint)
    while len(merging.groups) > 1 and merging.sizes.min() < minimum:
        smallest = int(merging.sizes.argmin())
        merging.merge(smallest, int(merging.losses[smallest].argmin()))
    partitions = []
    for size in sizes:
        while len(merging.groups) > size:
            merging.merge(*divmod(int(merging.losses.argmin()), len(joint)))
        partitions.append(tuple(sorted(merging.groups.values())))
    return partitions


class _Merging:
    """Groups under pairwise merging. A group merged into another has infinite size.

    Attributes:
        groups: The groups by the place of one of their values.
        sizes: (values,) The records of the group at each place.
        losses: (values, values) The loss of merging the groups at two places, in nats times records.
    """

    def __init__(self, joint: NDArray[np.number]) -> None:
        self.groups: dict[int, Group] = {place: (place,) for place in range(len(joint))}
        self.sizes = np.rint(joint.sum(axis=1)).astype(np.float64)  # integers, although labels may be fractional
        self._joint = joint.astype(np.float64)
        self.losses = np.stack([self._losses_with(place) for place in range(len(joint))])

    def merge(self, one: int, other: int) -> None:
        """Merge the groups at two places; the result is at the first."""
        self.groups[one] = tuple(sorted(self.groups[one] + self.groups.pop(other)))
        self.sizes[one], self.sizes[other] = self.sizes[one] + self.sizes[other], np.inf
        self._joint[one] += self._joint[other]
        self.losses[other] = self.losses[:, other] = np.inf
        self.losses[one] = self.losses[:, one] = self._losses_with(one)

    def _losses_with(self, place: int) -> NDArray[np.float64]:
        purity = _purity(self._joint)
        losses: NDArray[np.float64] = purity + purity[place] - _purity(self._joint + self._joint[place])
        losses[place] = np.inf
        return np.where(np.isinf(self.sizes), np.inf, losses)


def _purity(joint: NDArray[np.number]) -> NDArray[np.float64]:
    """(groups,) `h`: the records of each group times its negative entropy, in nats; of one label, by their sizes."""
    counts = joint.astype(np.float64)
    sizes = counts.sum(axis=1)
    told = scipy.special.xlogy(counts, counts).sum(axis=1) if counts.shape[1] > 1 else 0.0
    pure: NDArray[np.float64] = told - scipy.special.xlogy(sizes, sizes)
    return pure


def _best_cuts(joint: NDArray[np.number], minimum: int, most: int) -> list[int]:
    """Return the beginnings of at most `most` intervals of the rows, and the end of the last.

    They preserve the most information of all with `minimum` records each. `best[j]` is the maximum information of a
    number of intervals of the first `j` rows: the maximum over `i` of `best[i]` for one interval less, plus that of
    rows `i` to `j`.
    """
    rows = len(joint)
    if joint.sum() < minimum:
        return [0, rows]
    kept = _kept_by_intervals(joint, minimum)
    best, beginnings, totals = np.full(rows + 1, -np.inf), [], []
    best[0] = 0.0
    for _ in range(min(most, rows)):
        sums = best[:, None] + kept
        beginnings.append(sums.argmax(axis=0))
        best = sums.max(axis=0)
        totals.append(best[rows])
    cuts = [rows]
    # With a minimum, the most intervals are not always the best, nor even possible.
    for beginning in reversed(beginnings[: int(np.argmax(totals)) + 1]):
        cuts.append(int(beginning[cuts[-1]]))
    return cuts[::-1]


def _kept_by_intervals(joint: NDArray[np.number], minimum: int) -> NDArray[np.float64]:
    """(rows + 1, rows + 1) The information of rows `i` to `j` as one group; -inf if they have too few records."""
    rows = len(joint)
    below = np.vstack([np.zeros(joint.shape[1]), np.cumsum(joint, axis=0)])
    kept = np.full((rows + 1, rows + 1), -np.inf)
    for start in range(rows):
        within = below[start + 1 :] - below[start]
        kept[start, start + 1 :] = np.where(within.sum(axis=1) >= minimum, _purity(within), -np.inf)
    return kept


Merge: TypeAlias = Callable[[NDArray[np.number], int, Sequence[int]], list[Groups]]
"""`merge_neighbours` or `merge_any`."""

_PARTS: Final = 5
_SEED: Final = 0
_MOST_DEALT: Final = 10**9 - 1  # records, of which NumPy draws; of more, a share is enough
_SIGNIFICANT: Final = 2.0  # standard errors


@dataclass(frozen=True)
class Level:
    """A partition of values; `by_label`: whether labels decided its merges; otherwise it is as even as possible."""

    groups: Groups
    by_label: bool


def best_levels(joint: NDArray[np.number], merge: Merge, minimum: int, sizes: Sequence[int]) -> list[Level]:
    """Return a nested partition for each size: the finest ones as even as possible, the others merged by the label.

    How many are even is judged by the log-loss of held-out records, as the mean over the sizes: in fifths, each by
    groups that are fitted to the others. As few are even as is possible without being worse than the best by more than
    two standard errors; all are where the label's groups tell nothing. Labels of values with fewer than 20 records have
    no influence. Equal counts give equal partitions.

    Args:
        joint: (values, labels) counts of one value or more; rare values have the average labels.
        minimum: Minimum records of a group.
        sizes: The most groups of each partition, descending.
    """
    evenly = merge(joint.sum(axis=1, keepdims=True), minimum, sizes)
    means, error = _held_out(joint, merge, minimum, sizes, evenly)
    even = int(np.flatnonzero(means.max() - means <= _SIGNIFICANT * error)[0])
    if means[even] <= 0:
        even = len(sizes)
    groups = [*evenly[:even], *_merged_further(joint, merge, minimum, sizes, evenly[:even])]
    return [Level(each, place >= even) for place, each in enumerate(groups)]


def _merged_further(
    joint: NDArray[np.number], merge: Merge, minimum: int, sizes: Sequence[int], evenly: Sequence[Groups]
) -> list[Groups]:
    """Return partitions for the sizes that are left, of unions of the coarsest even groups, merged by the label."""
    atoms = evenly[-1] if evenly else tuple((place,) for place in range(len(joint)))
    return [
        tuple(tuple(sorted(sum((atoms[place] for place in group), ()))) for group in groups)
        for groups in merge(folded(joint, atoms), minimum, sizes[len(evenly) :])
    ]


def _held_out(
    joint: NDArray[np.number], merge: Merge, minimum: int, sizes: Sequence[int], evenly: Sequence[Groups]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what groups tell of records they were not fitted to, in nats per record.

    Returns:
        (sizes + 1,) The information for each number of even levels, as the mean over the sizes.
        (sizes + 1,) The standard error of its difference to the highest.
    """
    parts = _parts(np.where(joint.sum(axis=1, keepdims=True) >= LEAST, joint, 0).astype(np.int64))
    fewest, told = minimum * (_PARTS - 1) // _PARTS, []
    for others in joint - parts:
        of_even = [_told(others, groups) for groups in evenly]
        for even in range(len(sizes) + 1):
            further = _merged_further(others, merge, fewest, sizes, evenly[:even])
            told.append([*of_even[:even], *(_told(others, groups) for groups in further)])
    by_part = np.array(told).reshape(_PARTS, len(sizes) + 1, len(sizes), *joint.shape)
    records = max(float(parts.sum()), 1.0)
    means = by_part.mean(axis=2)
    worth = np.einsum("pvl,pevl->e", parts, means) / records
    behind = means[:, [int(worth.argmax())]] - means
    mean, square = (np.einsum("pvl,pevl->e", parts, behind**power) / records for power in (1, 2))
    return worth, np.sqrt(np.maximum(square - mean**2, 0.0) / records)


def _parts(counts: Counts) -> NDArray[np.int64]:
    """(parts, values, labels) Deal records at random into parts of equal size; equal counts give equal parts."""
    random, parts = np.random.default_rng(_SEED), []
    rest = counts.ravel() // (1 + counts.sum() // _MOST_DEALT)
    for left in range(_PARTS, 0, -1):
        parts.append(random.multivariate_hypergeometric(rest, int(rest.sum()) // left, method="marginals"))
        rest = rest - parts[-1]
    return np.stack(parts).reshape(_PARTS, *counts.shape)


def _told(joint: NDArray[np.number], groups: Groups) -> NDArray[np.float64]:
    """(values, labels) The logarithm of how much likelier a label is in a value's group than among all records.

    Shares of groups are shrunk towards those of all records, as if one more record had these.
    """
    shares = (joint.sum(axis=0) + 0.5) / (joint.sum() + 0.5 * joint.shape[1])
    sums = folded(joint, groups)
    told: NDArray[np.float64] = np.log((sums + shares) / (sums.sum(axis=1, keepdims=True) + 1.0) / shares)
    group_of = {value: place for place, group in enumerate(groups) for value in group}
    return np.asarray(told[[group_of[value] for value in range(len(joint))]])
