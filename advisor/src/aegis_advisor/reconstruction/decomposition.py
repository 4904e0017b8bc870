"""Decomposition of a problem: join runs, drop implied groups, and separate parts that share no group."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
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
    one. Iterative methods converge to it only slowly (`docs/model.md`). Views of different classes of labels are joined
    by themselves.

    Atoms must be in the order of the domain. The problem is returned unchanged if there is nothing to join, or if a
    difference is negative. In the latter case the views contradict each other, and no table fits.
    """
    runs: dict[tuple[int, ...], list[Margin]] = {}
    others: list[Margin] = []
    for margin in problem.margins:
        classes = () if margin.column_of is None else tuple(margin.column_of.tolist())
        is_run = _consists_of_runs(margin, problem.prior.size)
        (runs.setdefault(classes, []) if is_run else others).append(margin)
    joined = [_joined(alike) for alike in runs.values()]
    if min((one.counts.min() for one in joined), default=-1.0) < 0:
        return problem
    return Problem(problem.prior, problem.rows, (*joined, *others), problem.labels, problem.records)


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
    """Drop the groups that others imply. Every margin must cover all atoms.

    A group is implied if it is a union of groups of another margin whose classes of labels are as fine; of equal groups
    with equal classes the first stays. Refinement cannot continue indefinitely, so every atom retains a group, and the
    remaining groups imply those dropped.
    """
    implied = [np.zeros(margin.groups, dtype=bool) for margin in problem.margins]
    for (first, one), (second, other) in combinations(enumerate(problem.margins), 2):
        ours, theirs = _overlaps(one, other)
        if other.refines_label_of(one):
            strictly = not one.refines_label_of(other)
            implied[first] |= _unions(ours, theirs) & (strictly | (np.bincount(ours) > 1))
        if one.refines_label_of(other):
            implied[second] |= _unions(theirs, ours)
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


def with_labels_merged(problem: Problem) -> tuple[Problem, IntArray, FloatArray] | None:
    """Merge the labels that only a single group with all atoms tells apart.

    The records of merged labels are spread as in that group, whatever the rest of the table: the divergence is that of
    the merged table and, by convexity, at least that of this spread.

    Returns:
        The merged problem, the merged label (labels,) of each label, and the records (labels,) of each label; None if
        there is nothing to merge.
    """
    whole = [margin for margin in problem.margins if margin.column_of is None]
    views = [margin.column_of for margin in problem.margins if margin.column_of is not None]
    if not views or sum(one.groups for one in whole) != 1 or whole[0].atoms.size != problem.prior.size:
        return None
    class_of = common_refinement(views, problem.labels).astype(np.int64)
    classes = int(class_of.max()) + 1
    if classes == problem.labels:
        return None
    first = np.unique(class_of, return_index=True)[1]
    margins = []
    for margin in problem.margins:
        folded = fold(np.ascontiguousarray(margin.counts.T), class_of, classes).T
        column_of = None if margin.column_of is None else class_of[margin.column_of[first]]
        is_whole = column_of is None or np.array_equal(column_of, np.arange(classes))
        margins.append(replace(margin, counts=folded, column_of=None if is_whole else column_of))
    return Problem(problem.prior, problem.rows, tuple(margins), classes, problem.records), class_of, whole[0].counts[0]


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


def _overlaps(margin: Margin, other: Margin) -> tuple[IntArray, IntArray]:
    """The distinct pairs (pairs,), (pairs,) of groups of two margins that share an atom."""
    codes = margin.group_of * other.groups + other.group_of
    span = margin.groups * other.groups
    # A lookup table of all pairs is several times faster than sorting, unless it is much larger.
    pairs = np.flatnonzero(np.bincount(codes, minlength=span)) if span <= 8 * codes.size else np.unique(codes)
    return pairs // other.groups, pairs % other.groups


def _unions(ours: IntArray, theirs: IntArray) -> BoolArray:
    """Which groups (groups,) of `ours` are unions of groups of `theirs`, given the pairs that overlap."""
    straddling = np.bincount(theirs) > 1
    unions = np.ones(int(ours.max()) + 1, dtype=bool)
    unions[ours[straddling[theirs]]] = False
    return unions
