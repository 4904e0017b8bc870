"""Decomposition of a problem: join runs, drop implied groups, and separate parts that share no group."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np
import scipy

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray, fold
from aegis_advisor.atoms import common_refinement
from aegis_advisor.reconstruction.problem import Margin, Problem


def with_runs_joined(problem: Problem) -> Problem:
    """Replace all views whose groups are runs of consecutive atoms by a single view.

    Bins, dates and sorted hierarchies are such views. The counts up to each of their cuts are known, and so, as
    differences, are the exact counts between any two cuts. However their cuts overlap, these views are equivalent to
    one. Iterative methods converge to it only slowly (`docs/model.md`). A view of some classes of labels is joined with
    all whose classes are as fine, since these determine its counts.

    Atoms must be in the order of the domain. The problem is returned unchanged if there is nothing to join, or if a
    difference is negative. In the latter case the views contradict each other, and no table fits.
    """
    runs: dict[tuple[int, ...], list[Margin]] = {}
    others: list[Margin] = []
    for margin in problem.margins:
        classes = () if margin.column_of is None else tuple(margin.column_of.tolist())
        is_run = _consists_of_runs(margin, problem.prior.size)
        (runs.setdefault(classes, []) if is_run else others).append(margin)
    finest = [each for alike in runs.values() for each in alike]
    joined = [
        _joined([_in_classes_of(alike[0], one) for one in finest if one.refines_label_of(alike[0])])
        for alike in runs.values()
    ]
    if min((one.counts.min() for one in joined), default=-1.0) < 0:
        return problem
    return Problem(problem.prior, problem.rows, (*joined, *others), problem.labels, problem.records)


def _in_classes_of(coarse: Margin, fine: Margin) -> Margin:
    """Merge the columns of the finer labels of a margin."""
    return replace(fine, counts=coarse.merged(fine.counts), column_of=coarse.column_of)


def _consists_of_runs(margin: Margin, atoms: int) -> bool:
    """Whether an exact margin covers all atoms, in order, and each of its groups is a single run."""
    if not margin.is_exact or margin.atoms.size != atoms:
        return False
    return int(np.count_nonzero(_cuts(margin))) + 1 == margin.groups


def _cuts(margin: Margin) -> BoolArray:
    """The cuts between atoms (atoms - 1,) where one group ends and another begins."""
    cuts: BoolArray = margin.group_of[1:] != margin.group_of[:-1]
    return cuts


def _joined(runs: Sequence[Margin]) -> Margin:
    """The common refinement of margins that consist of runs of the same atoms."""
    atoms = runs[0].atoms
    cut = np.logical_or.reduce([_cuts(run) for run in runs])
    group_of: IntArray = np.concatenate(([0], np.cumsum(cut)))
    cumulative = np.zeros((int(group_of[-1]) + 2, runs[0].counts.shape[1]))
    for run in runs:
        last = np.flatnonzero(np.append(_cuts(run), [True]))
        cumulative[group_of[last] + 1] = np.cumsum(run.counts[run.group_of[last]], axis=0)
    return Margin(atoms, group_of, np.diff(cumulative, axis=0), column_of=runs[0].column_of)


def without_empty_atoms(problem: Problem) -> IntArray:
    """The atoms (kept,) that can have records: neither their rows nor any of their exact groups are empty."""
    held = problem.prior > 0
    for margin in problem.margins:
        if margin.is_exact:
            empty = margin.counts.sum(axis=1) <= 0
            held[margin.atoms[empty[margin.group_of]]] = False
    return np.flatnonzero(held)


def essential(problem: Problem) -> Problem:
    """Drop the groups that others imply.

    A group is implied if it is a union of groups of another margin whose classes of labels are as fine; of equal groups
    with equal classes the first stays. Refinement cannot continue indefinitely, so every atom retains a group, and the
    remaining groups imply those dropped.
    """
    implied = [np.zeros(margin.groups, dtype=bool) for margin in problem.margins]
    for (first, one), (second, other) in combinations(enumerate(problem.margins), 2):
        ours, theirs = _overlaps(one, other, problem.prior.size)
        if other.refines_label_of(one):
            strictly = not one.refines_label_of(other)
            implied[first] |= _unions(ours, theirs, one, other) & (strictly | (np.bincount(ours)[: one.groups] > 1))
        if one.refines_label_of(other):
            implied[second] |= _unions(theirs, ours, other, one)
    chosen = (~gone[margin.group_of] for margin, gone in zip(problem.margins, implied, strict=True))
    margins = (_restricted(margin, kept) for margin, kept in zip(problem.margins, chosen, strict=True))
    kept = tuple(margin for margin in margins if margin.atoms.size)
    return Problem(problem.prior, problem.rows, kept, problem.labels, problem.records)


def restrict(problem: Problem, atoms: IntArray) -> Problem:
    """Restrict a problem to some atoms (kept,), renumbered from 0 in their order.

    No information is lost if every group has all or none of its records in these atoms.
    """
    place = np.full(problem.prior.size, -1)
    place[atoms] = np.arange(atoms.size)
    margins = (_restricted(margin, place[margin.atoms] >= 0) for margin in problem.margins)
    moved = tuple(replace(m, atoms=place[m.atoms]) for m in margins if m.atoms.size)
    rows = None if problem.rows is None else problem.rows[atoms]
    return Problem(problem.prior[atoms], rows, moved, problem.labels, problem.records)


def split(problem: Problem) -> tuple[IntArray, list[IntArray]]:
    """Return the atoms of all parts with a single group, and the atoms of every other part of the problem.

    Atoms belong to the same part if they share a group, directly or through others. Parts with a single group have a
    closed form. There can be as many as values, so they are returned as one.
    """
    atoms = problem.prior.size
    offsets = np.cumsum([atoms, *(margin.groups for margin in problem.margins)])
    members = np.concatenate([margin.atoms for margin in problem.margins])
    groups = np.concatenate([m.group_of + at for m, at in zip(problem.margins, offsets, strict=False)])
    size = int(offsets[-1])
    links = scipy.sparse.coo_array((np.ones(members.size), (members, groups)), shape=(size, size))
    parts, part = scipy.sparse.csgraph.connected_components(links.tocsr(), directed=False)
    used = np.unique(groups)
    single = np.bincount(part[used], minlength=parts)[part[:atoms]] == 1
    rest = np.flatnonzero(~single)
    rest = rest[np.argsort(part[rest], kind="stable")]
    cuts = np.flatnonzero(np.diff(part[rest])) + 1
    return np.flatnonzero(single), np.split(rest, cuts) if rest.size else []


def divide(problem: Problem, parts: Sequence[IntArray]) -> Iterator[Problem]:
    """Yield the problem of each part, given its atoms, in one pass, since there can be as many parts as atoms."""
    if not parts:
        return
    joined = restrict(problem, np.concatenate(parts))
    margins = [_in_order(margin) for margin in joined.margins]
    starts = np.cumsum([0, *(part.size for part in parts)])
    members = [np.searchsorted(margin.atoms, starts) for margin in margins]
    for at, (start, stop) in enumerate(pairwise(starts)):
        pieces = (_slice(m, cuts[at], cuts[at + 1], start) for m, cuts in zip(margins, members, strict=True))
        rows = None if joined.rows is None else joined.rows[start:stop]
        kept = tuple(piece for piece in pieces if piece.atoms.size)
        yield Problem(joined.prior[start:stop], rows, kept, problem.labels, problem.records)


@dataclass(frozen=True, slots=True, eq=False)
class MergedLabels:
    """A problem whose labels are merged, and how their records are spread again.

    Attributes:
        problem: the problem of the merged labels.
        class_of: (labels,) the merged label of each label.
        group_of: (atoms,) the group of each atom in the views of all labels.
        records: (groups, labels) the counts of these groups.
    """

    problem: Problem
    class_of: IntArray
    group_of: IntArray
    records: FloatArray

    def spread(self, table: FloatArray) -> tuple[FloatArray, float]:
        """Spread a table (atoms, merged labels); also return how much farther from the prior any such table is."""
        together = fold(np.ascontiguousarray(self.records.T), self.class_of, self.problem.labels).T[:, self.class_of]
        share = np.divide(self.records, together, out=np.zeros_like(self.records), where=together > 0)
        apart = scipy.special.xlogy(self.records, share * self.class_of.size / self.problem.labels).sum()
        return table[:, self.class_of] * share[self.group_of], float(apart)


def with_labels_merged(problem: Problem) -> MergedLabels | None:
    """Merge the labels that only views of all labels tell apart, if each atom is in a single group of these.

    The records of merged labels are spread as in that group, whatever the rest of the table: the divergence is that of
    the merged table and, by convexity, at least that of this spread. None if there is nothing to merge.
    """
    whole = [margin for margin in problem.margins if margin.column_of is None]
    views = [margin.column_of for margin in problem.margins if margin.column_of is not None]
    if not views or not whole:
        return None
    atoms = np.concatenate([margin.atoms for margin in whole])
    if not np.array_equal(np.sort(atoms), np.arange(problem.prior.size)):
        return None
    class_of = common_refinement(views, problem.labels).astype(np.int64)
    classes = int(class_of.max()) + 1
    if classes == problem.labels:
        return None
    offsets = np.cumsum([0, *(margin.groups for margin in whole)])
    group_of = np.empty_like(atoms)
    group_of[atoms] = np.concatenate([one.group_of + at for one, at in zip(whole, offsets, strict=False)])
    margins = tuple(_with_classes(margin, class_of, classes) for margin in problem.margins)
    smaller = Problem(problem.prior, problem.rows, margins, classes, problem.records)
    return MergedLabels(smaller, class_of, group_of, np.vstack([margin.counts for margin in whole]))


def _with_classes(margin: Margin, class_of: IntArray, classes: int) -> Margin:
    """Merge the labels of a margin, by the merged label (labels,) of each, which is as fine as its own classes."""
    counts = fold(np.ascontiguousarray(margin.counts.T), class_of, classes).T
    if margin.column_of is None:
        return replace(margin, counts=counts)
    column_of = class_of[margin.column_of[np.unique(class_of, return_index=True)[1]]]
    is_whole = np.array_equal(column_of, np.arange(classes))
    return replace(margin, counts=counts, column_of=None if is_whole else column_of)


def _in_order(margin: Margin) -> Margin:
    """Sort a margin's atoms, and number its groups in the order of first occurrence."""
    order = np.argsort(margin.atoms)
    _, first, group_of = np.unique(margin.group_of[order], return_index=True, return_inverse=True)
    appearance = np.argsort(first)
    number = np.empty_like(appearance)
    number[appearance] = np.arange(appearance.size)
    return replace(margin, atoms=margin.atoms[order], group_of=number[group_of], counts=margin.counts[appearance])


def _slice(margin: Margin, start: int, stop: int, offset: int) -> Margin:
    """Restrict an ordered margin to consecutive members and their groups; atoms are numbered from `offset`."""
    group_of = margin.group_of[start:stop]
    lowest, highest = (group_of.min(), group_of.max()) if group_of.size else (0, -1)
    counts = margin.counts[lowest : highest + 1]
    return replace(margin, atoms=margin.atoms[start:stop] - offset, group_of=group_of - lowest, counts=counts)


def _restricted(margin: Margin, chosen: BoolArray) -> Margin:
    """Restrict a margin to the chosen members (members,) and their groups."""
    group_of = margin.group_of[chosen]
    used = np.bincount(group_of, minlength=margin.groups) > 0
    share = None if margin.share is None else margin.share[chosen]
    variance = None if margin.variance is None else margin.variance[used]
    places = (np.cumsum(used) - 1)[group_of]
    return Margin(margin.atoms[chosen], places, margin.counts[used], share, variance, margin.column_of)


def _overlaps(margin: Margin, other: Margin, atoms: int) -> tuple[IntArray, IntArray]:
    """The distinct pairs (pairs,), (pairs,) of groups of two margins that share an atom; all others are one more."""
    ours, theirs = np.full(atoms, margin.groups), np.full(atoms, other.groups)
    ours[margin.atoms], theirs[other.atoms] = margin.group_of, other.group_of
    codes = ours * (other.groups + 1) + theirs
    span = (margin.groups + 1) * (other.groups + 1)
    # A lookup table of all pairs is several times faster than sorting, unless it is much larger.
    pairs = np.flatnonzero(np.bincount(codes, minlength=span)) if span <= 8 * codes.size else np.unique(codes)
    return pairs // (other.groups + 1), pairs % (other.groups + 1)


def _unions(ours: IntArray, theirs: IntArray, margin: Margin, other: Margin) -> BoolArray:
    """Which groups (groups,) of a margin are unions of groups of another, given the pairs that overlap."""
    straddling = (np.bincount(theirs, minlength=other.groups + 1) > 1) | (np.arange(other.groups + 1) == other.groups)
    unions = np.ones(margin.groups + 1, dtype=bool)
    unions[ours[straddling[theirs]]] = False
    return unions[: margin.groups]
