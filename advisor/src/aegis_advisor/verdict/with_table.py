"""The joint disclosure of published counts and one masked table: small counts that the table does not show.

The table shows exactly how many of its records have each masked value and label value. The published counts include the
records that the table leaves out, columns that it drops, and values that are finer than its masked ones. For one label
value, all nested published sums over the values of an attribute form a chain, and the sum over all values is the same
for every attribute; the total of the left-out records may be published. So all these sums form a tree. In a tree, the
minimum and maximum of each sum follow exactly by adding up from the leaves and then going back once (Freuder 1982, "A
sufficient condition for backtrack-free search"). Sums that do not nest are left to linear programs (`cell_bounds`).
Maskings without a mapping are ignored.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from aegis_advisor.arrays import AtomArray, BoolArray, FloatArray, IntArray, fold
from aegis_advisor.atoms import coarsening, common_refinement, per_atom
from aegis_advisor.cell_bounds.bounds import TableBounds
from aegis_advisor.cell_bounds.certain_sums import CertainSums, SumLimits, interval, label_limits
from aegis_advisor.errors import ContradictoryViewsError
from aegis_advisor.evidence import AttributeEvidence, Masking, with_declared_rounding
from aegis_advisor.reconstruction.ipf import never
from aegis_advisor.verdict.model import Finding, Path, PublishedCounts, Reason, Verdict
from aegis_advisor.verdict.rounded import RoundedTable, tables_of_pairs

Range = tuple[FloatArray, FloatArray]
"""The minimum and maximum of each number; infinite where nothing limits it."""


@dataclass(frozen=True, eq=False)
class ShownCounts:
    """The counts of an attribute in a masked table; for a dropped one, a single group with all its records.

    Attributes:
        group_of: (values,) the group, separated in both table and entry, of each listed value.
        counts: (groups, labels) int64, the records of the table; those with a suppressed cell are in none.
    """

    group_of: IntArray
    counts: IntArray


@dataclass(frozen=True, eq=False)
class MaskedTable:
    """The counts in a masked table.

    Attributes:
        shown: by the attribute's place in the entry.
        labels: (labels,) int64, its records by label value.
        left_out: the minimum and maximum number of the entry's records that it leaves out.
        pairs: by the places of two attributes, (groups, groups) its joint counts of their masked values.
    """

    shown: Sequence[ShownCounts]
    labels: IntArray
    left_out: tuple[float, float]
    pairs: Mapping[tuple[int, int], IntArray]


def judge_with_table(published: PublishedCounts, table: MaskedTable, stop: Callable[[], bool] = never) -> Verdict:
    """Return the verdict on what published counts disclose to a reader of a masked table.

    They pass if no small count (`PublishedCounts.small`) that the table does not show is certain: records that it
    leaves out, columns that it drops, values finer than its masked ones. What the table shows by itself does not count.
    A count that was rounded once, and is not certain, has a probability of at most 0.8 if the table shows its sum.

    Args:
        published: the counts, without faults.
        stop: called regularly; if true, the rest is undecided, which is not a pass.

    Raises:
        ContradictoryViewsError: the counts are not those of the table's records.
    """
    both = zip(published.evidence, table.shown, strict=True)
    chains = [_Chain.of(with_declared_rounding(evidence), shown) for evidence, shown in both]
    whole = _whole(published, table, chains)
    small = published.small
    findings = [*_of_labels(table, whole, small)]
    for place, chain in enumerate(chains):
        findings += _of_attribute(("attributes", place), chain, table, whole, small, stop)
    findings += _of_pairs(published, table, whole)
    return Verdict(tuple(findings))


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over groups of atoms, with limits (groups, labels)."""

    group_of: IntArray
    least: FloatArray
    most: FloatArray


@dataclass(frozen=True, eq=False)
class _Chain:
    """The certain sums of an attribute's table of atoms and labels, before its total is known.

    Attributes:
        atom_of_value: (values,) the atom of each value.
        levels: nested sums, the atoms first.
        place: the level of the groups that the table shows.
        crossing: published sums that do not nest.
    """

    declared: AttributeEvidence
    shown: ShownCounts
    atom_of_value: AtomArray
    levels: Sequence[_Sums]
    place: int
    crossing: Sequence[_Sums]

    @classmethod
    def of(cls, declared: AttributeEvidence, shown: ShownCounts) -> "_Chain":
        """Return the sums that nest with the groups of the table."""
        mappings = [shown.group_of, *declared.partitions]
        every = [np.arange(declared.values)] if declared.joint is not None else mappings
        atoms = common_refinement(every, declared.values)
        size = int(atoms.max()) + 1
        views = [_view(one, declared, atoms, size) for one in declared.traceable if one.mapping is not None]
        own = _Sums(per_atom(shown.group_of, atoms, size), shown.counts.astype(np.float64), _unlimited(shown.counts))
        levels = [own]
        for view in sorted((one for one in views if one is not None), key=lambda one: -len(one.least)):
            if all(_nests(view, other) for other in levels):
                levels.append(view)
        crossing = [view for view in views if view is not None and all(view is not one for one in levels)]
        levels.sort(key=lambda one: (-len(np.unique(one.group_of)), one is own))
        if declared.joint is not None:
            counts = declared.joint.astype(np.float64)
            levels.insert(0, _Sums(np.arange(size), counts, counts))
        elif len(np.unique(levels[0].group_of)) < size:
            least = np.zeros((size, declared.labels))
            levels.insert(0, _Sums(np.arange(size), least, _unlimited(least)))
        place = next(index for index, one in enumerate(levels) if one is own)
        return cls(declared, shown, atoms, levels, place, crossing)

    @cached_property
    def upward(self) -> Sequence[Range]:
        """The range (groups, labels) of each level, from the levels below it."""
        ranges: list[Range] = []
        for index, level in enumerate(self.levels):
            least, most = level.least, level.most
            if index:
                parents, (low, high) = self.parents(index - 1), ranges[-1]
                least = np.maximum(least, fold(low, parents, len(least)))
                most = np.minimum(most, fold(high, parents, len(most)))
            ranges.append((least, most))
        return ranges

    def parents(self, index: int) -> IntArray:
        """(groups,) the group of the next level of each group of a level."""
        mine = self.levels[index]
        return per_atom(self.levels[index + 1].group_of, mine.group_of.astype(np.int32), len(mine.least))

    @property
    def total(self) -> Range:
        """The range (labels,) of the records of each label value."""
        least, most = self.upward[-1]
        return least.sum(axis=0), most.sum(axis=0)

    def downward(self, total: Range) -> Sequence[Range]:
        """The range of each level, given that of the total (labels,)."""
        ranges: list[Range] = []
        above: Range = (total[0][np.newaxis], total[1][np.newaxis])
        for index in reversed(range(len(self.levels))):
            own = self.upward[index]
            last = index == len(self.levels) - 1
            parents = np.zeros(len(own[0]), dtype=np.int64) if last else self.parents(index)
            above = _within(own, above, parents)
            ranges.insert(0, above)
        return ranges


def _unlimited(counts: IntArray | FloatArray) -> FloatArray:
    return np.full(counts.shape, np.inf)


def _view(masking: Masking, declared: AttributeEvidence, atoms: AtomArray, size: int) -> _Sums | None:
    if masking.joint is None or masking.mapping is None or masking.perturbation.is_noisy:
        return None
    records = declared.records if declared.knows_label else None
    least, most = interval(masking.perturbation, masking.joint, records)
    occupied, group_of = np.unique(per_atom(masking.mapping, atoms, size), return_inverse=True)
    return _Sums(group_of.reshape(-1).astype(np.int64), least[occupied], most[occupied])


def _nests(one: _Sums, other: _Sums) -> bool:
    return any(coarsening(a.group_of, b.group_of, len(a.least)) is not None for a, b in ((one, other), (other, one)))


def _within(own: Range, above: Range, parents: IntArray) -> Range:
    """Narrow the range (groups, labels) of parts by that of the sums (parents, labels) that they add up to."""
    low, high = own
    sums = len(above[0])
    infinite = fold(np.isinf(high).astype(np.float64), parents, sums)[parents] - np.isinf(high)
    finite = np.where(np.isinf(high), 0.0, high)
    other_high = np.where(infinite > 0, np.inf, fold(finite, parents, sums)[parents] - finite)
    other_low = fold(low, parents, sums)[parents] - low
    return np.maximum(low, above[0][parents] - other_high), np.minimum(high, above[1][parents] - other_low)


def _whole(published: PublishedCounts, table: MaskedTable, chains: Sequence[_Chain]) -> Range:
    """Return the range (labels,) of the entry's records, from all attributes and the left-out records."""
    first = chains[0].declared
    least, most = label_limits(first)
    for chain in chains:
        low, high = chain.total
        least, most = np.maximum(least, low), np.minimum(most, high)
    missing = np.maximum(least - table.labels, 0.0), most - table.labels
    everything = np.zeros(len(table.labels), dtype=np.int64)
    left_out = np.array([[table.left_out[0]]]), np.array([[table.left_out[1]]])
    low, high = _within((missing[0][:, np.newaxis], missing[1][:, np.newaxis]), left_out, everything)
    if (low > high).any():
        raise ContradictoryViewsError(published.evidence[0].name)
    return low[:, 0] + table.labels, high[:, 0] + table.labels


def _of_labels(table: MaskedTable, whole: Range, small: int) -> Iterator[Finding]:
    """Yield the certain small numbers of left-out records, of each label value and of all."""
    low, high = whole[0] - table.labels, whole[1] - table.labels
    yield from _certain(("label", "histogram"), _known(low, high, small))
    least, most = max(low.sum(), table.left_out[0]), min(high.sum(), table.left_out[1])
    yield from _certain(("label", "histogram"), _known(np.array(least), np.array(most), small))


def _of_attribute(
    path: Path, chain: _Chain, table: MaskedTable, whole: Range, small: int, stop: Callable[[], bool]
) -> Iterator[Finding]:
    """Yield the certain and small sums of an attribute that the table does not show."""
    ranges = chain.downward(whole)
    if any((low > high).any() for low, high in ranges):
        raise ContradictoryViewsError(chain.declared.name)
    counts = chain.shown.counts.astype(np.float64)
    for index, (low, high) in enumerate(ranges[chain.place :], start=chain.place):
        yield from _certain(path, _known(low - counts, high - counts, small))
        if index < len(ranges) - 1:
            counts = fold(counts, chain.parents(index), len(ranges[index + 1][0]))
    for index, (low, high) in enumerate(ranges[: chain.place]):
        yield from _certain(path, _known(low, high, small) & _is_finer(chain, index)[:, np.newaxis])
    yield from _certain(path, _of_rows(chain, ranges[chain.place], table, small))
    if _needs_programs(chain, ranges[0]):
        yield from _by_programs(path, chain, ranges, whole, small, stop)


def _needs_programs(chain: _Chain, atoms: Range) -> bool:
    """Whether sums that do not nest, or a histogram, may narrow the range of the atoms (atoms, labels) further."""
    low, high = atoms
    binding = (
        (fold(low, one.group_of, len(one.least)) < one.least) | (fold(high, one.group_of, len(one.most)) > one.most)
        for one in chain.crossing
    )
    return not np.array_equal(low, high) and (chain.declared.histogram is not None or any(map(np.any, binding)))


def _is_finer(chain: _Chain, index: int) -> BoolArray:
    """(groups,) whether a group of a level is a proper part of one that the table shows."""
    level, shown = chain.levels[index], chain.levels[chain.place]
    group_of = per_atom(shown.group_of, level.group_of.astype(np.int32), len(level.least))
    return np.asarray(np.bincount(group_of, minlength=len(shown.least))[group_of] > 1)


def _of_rows(chain: _Chain, shown: Range, table: MaskedTable, small: int) -> BoolArray:
    """Mark groups with certainly few left-out records, whatever their label, and groups with one record per value.

    Every listed value has a record, so a group with as many records as values has one of each.
    """
    low, high = (each.sum(axis=1) for each in (shown[0] - chain.shown.counts, shown[1] - chain.shown.counts))
    one = high.size > 1 and bool(chain.shown.counts.sum() == table.labels.sum())
    if one:
        everything = np.zeros(len(low), dtype=np.int64)
        least, most = (np.array([[each]]) for each in table.left_out)
        low, high = (
            each[:, 0] for each in _within((low[:, np.newaxis], high[:, np.newaxis]), (least, most), everything)
        )
    values = np.bincount(chain.shown.group_of, minlength=len(low))
    alone = (values > 1) & (shown[1].sum(axis=1) == values)
    return np.asarray(_known(low, high, small) & (one & (shown[0].shape[1] > 1)) | alone)


def _by_programs(
    path: Path, chain: _Chain, ranges: Sequence[Range], whole: Range, small: int, stop: Callable[[], bool]
) -> Iterator[Finding]:
    """Yield the cells that are certain and small by sums that are not nested."""
    known = CertainSums.of(chain.declared, chain.atom_of_value, len(chain.levels[0].least))
    atoms = np.arange(len(chain.levels[0].least))
    levels = [(level.group_of, each) for level, each in zip(chain.levels, ranges, strict=True)]
    sums = [SumLimits(atoms, group_of, *each) for group_of, each in [*levels, (atoms * 0, _rows(whole))]]
    bounds = TableBounds.of(replace(known, limits=(*known.limits, *sums)))
    if bounds is None or not bounds.search(lambda _done, _all: None, stop):
        raise ContradictoryViewsError(chain.declared.name)
    finer = _is_finer(chain, 0)[:, np.newaxis]
    before = _known(*ranges[0], small)
    yield from _certain(path, _known(bounds.lower, bounds.upper, small) & finer & ~before)
    open_ = (bounds.lower < bounds.upper) & (bounds.lower <= small) & finer
    if count := int(np.count_nonzero(open_ & bounds.undecided)) if bounds.complete else int(np.count_nonzero(open_)):
        yield Finding(Reason.UNDECIDED, path, count)


def _rows(labels: Range) -> Range:
    return labels[0][np.newaxis], labels[1][np.newaxis]


def _known(low: FloatArray, high: FloatArray, small: int) -> BoolArray:
    return np.asarray((low == high) & (low >= 1) & (low <= small))


def _certain(path: Path, cells: BoolArray) -> Iterator[Finding]:
    if count := int(np.count_nonzero(cells)):
        yield Finding(Reason.CERTAIN, path, count)


def _of_pairs(published: PublishedCounts, table: MaskedTable, whole: Range) -> Iterator[Finding]:
    """Yield finer combinations of two masked values that are certain and small, given the sums in the table."""
    missing = int(min(float((whole[1] - table.labels).sum()), table.left_out[1], np.iinfo(np.int32).max))
    for names, one in tables_of_pairs(published):
        counts = table.pairs.get(names)
        if counts is None:
            continue
        groups = table.shown[names[0]].group_of, table.shown[names[1]].group_of
        unknown = int(table.labels.sum()) - int(counts.sum()) + missing
        yield from _certain(one.path, _finer_cells(one, groups, (counts, counts + unknown), published.small))


def _finer_cells(
    one: RoundedTable, groups: tuple[IntArray, IntArray], limits: tuple[IntArray, IntArray], small: int
) -> BoolArray:
    """Mark the cells of a rounded table that are certain and small, given the limits (rows, columns) of their sums.

    Args:
        groups: the row and the column of the sum that contains each value.
    """
    sums = one.sums(*groups)
    if sums is None:
        return np.zeros(0, dtype=bool)
    parents = sums.group_of.ravel()
    counts = one.counts.astype(np.float64).reshape(-1, 1)
    off = one.base * one.within - 1
    own = np.maximum(counts - off, 0.0), counts + off
    least, most = (limit.reshape(-1, 1).astype(np.float64) for limit in limits)
    low, high = _within(own, (least, most), parents)
    return _known(low, high, small)[:, 0] & (np.bincount(parents, minlength=sums.groups)[parents] > 1)
