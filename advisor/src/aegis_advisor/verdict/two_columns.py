"""Small counts that all exact tables of two columns determine jointly: of two attributes, or of one and the label.

Both columns may be masked, each in several ways that cross. The cells of the finest grid that the tables tell apart are
then the values of one attribute without a label, and each table is a masking of it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import scipy

from aegis_advisor.arrays import AtomArray, IntArray, fold
from aegis_advisor.atoms import coarsening, common_refinement, per_atom
from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.verdict.certain import Bound, find_determined
from aegis_advisor.verdict.model import Finding, Path, PublishedCounts, is_exact


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Counts (rows, columns) of two columns, with the mapping of the values of each."""

    mappings: tuple[IntArray, IntArray]
    counts: IntArray

    @property
    def row_sums(self) -> "_Table":
        """The counts of the first column alone."""
        rows, columns = self.mappings
        return _Table((rows, np.zeros_like(columns)), self.counts.sum(axis=1, keepdims=True))

    @property
    def transposed(self) -> "_Table":
        """The table with rows and columns exchanged."""
        return _Table(self.mappings[::-1], self.counts.T)


def find_certain_together(published: PublishedCounts, bound: Bound) -> Iterator[Finding]:
    """Yield the small counts that several exact tables of the same two columns determine jointly."""
    for place, evidence in enumerate(published.evidence):
        tables = list(_with_label(evidence))
        if len({table.mappings[1].tobytes() for table in tables}) > 1:
            margins = [_label(evidence), *_of_one(evidence, evidence.labels)]
            yield from _find(("attributes", place), tables, margins, bound, published.small)
    pairs: dict[tuple[int, int], list[int]] = {}
    for place, pair in published.pairs.items():
        if is_exact(pair.perturbation):
            pairs.setdefault((min(pair.attributes), max(pair.attributes)), []).append(place)
    for attributes, places in pairs.items():
        one, other = (published.evidence[place] for place in attributes)
        tables = list(_of_pairs(published, places))
        if len(tables) > 1:
            margins = [*_of_one(one, other.values), *(each.transposed for each in _of_one(other, one.values))]
            yield from _find(("pairs", places[0], "joint"), tables, margins, bound, published.small)


def _label(evidence: AttributeEvidence) -> _Table:
    mappings = np.zeros(evidence.values, dtype=np.int64), np.arange(evidence.labels)
    return _Table(mappings, evidence.label_histogram[np.newaxis])


def _with_label(evidence: AttributeEvidence) -> Iterator[_Table]:
    """Yield the exact tables of an attribute and the label, masked or as it is; none if one has all values and labels.

    Counts that were rounded once determine nothing (`find_certain`).
    """
    if evidence.rounded_once is not None or evidence.joint is not None or not evidence.label_perturbation.is_none:
        return
    for one in (*evidence.maskings, *evidence.blocks):
        if one.mapping is not None and one.joint is not None and one.perturbation.is_none:
            classes = np.arange(evidence.labels) if one.label_mapping is None else one.label_mapping
            yield _Table((one.mapping, classes), one.joint)


def _of_pairs(published: PublishedCounts, places: Iterable[int]) -> Iterator[_Table]:
    """Yield the tables of pairs whose mappings are known, with the attribute that comes first in the rows."""
    for pair in map(published.pairs.__getitem__, places):
        sides = [published.evidence[place] for place in pair.attributes]
        rows, columns = (one.mapping_of(masking) for one, masking in zip(sides, pair.maskings, strict=True))
        if rows is not None and columns is not None:
            table = _Table((rows, columns), pair.joint)
            yield table if pair.attributes[0] < pair.attributes[1] else table.transposed


def _of_one(evidence: AttributeEvidence, others: int) -> Iterator[_Table]:
    """Yield the exact counts of an attribute alone, beside a column with this many values."""
    everything = np.zeros(others, dtype=np.int64)
    if evidence.rounded_once is not None:
        return
    if evidence.value_counts is not None:
        yield _Table((np.arange(evidence.values), everything), evidence.value_counts[:, np.newaxis])
    for one in evidence.maskings:
        if one.mapping is not None and one.joint is not None and one.perturbation.is_none:
            yield _Table((one.mapping, everything), one.joint).row_sums


def _find(
    path: Path, tables: Sequence[_Table], margins: Sequence[_Table], bound: Bound, small: int
) -> Iterator[Finding]:
    """Yield what tables determine jointly, with margins of their columns, of the cells of their finest grid.

    Sums of these cells are small counts, too: those of each way to group the one column with each of the other.
    """
    sides = [[table.mappings[side] for table in tables] for side in (0, 1)]
    rows, columns = (common_refinement(mappings, mappings[0].size).astype(np.int64) for mappings in sides)
    published = [one for table in (*tables, *margins) if (one := _on_grid(table, (rows, columns))) is not None]
    ways = [{one.tobytes(): one for one in each} for each in ((rows, *sides[0]), (columns, *sides[1]))]
    sums = [_cells(both, (rows, columns)) for both in product(ways[0].values(), ways[1].values())]
    known = [one.mapping for one in published if one.mapping is not None]
    atoms = common_refinement(known, sums[0].size)
    unknown = [
        _sums(one, atoms) for one in sums if all(coarsening(each, one, int(each.max()) + 1) is None for each in known)
    ]
    records = np.array([tables[0].counts.sum()])
    evidence = AttributeEvidence("together", atoms.size, records, None, None, tuple(published))
    yield from find_determined(path, evidence, bound, small, unknown)


def _on_grid(table: _Table, atoms: tuple[IntArray, IntArray]) -> Masking | None:
    """A table as a masking of the cells of a grid; None if it groups values across the atoms."""
    counts, mappings = table.counts, list[IntArray]()
    for atom_of_value, mapping in zip(atoms, table.mappings, strict=True):
        outer, size = coarsening(mapping, atom_of_value, len(counts)), int(atom_of_value.max()) + 1
        if outer is not None:  # it is as fine as the grid, or finer
            counts = fold(np.ascontiguousarray(counts), outer, size)
        elif coarsening(atom_of_value, mapping, size) is None:
            return None
        mappings.append(mapping if outer is None else atom_of_value)
        counts = counts.T
    groups = _cells(mappings, atoms)
    return Masking("table", counts.size, groups, counts.reshape(-1, 1), deterministic=True)


def _cells(mappings: Sequence[IntArray], atoms: tuple[IntArray, IntArray]) -> IntArray:
    """(cells,) the group of each cell of a grid, by groups of the values of both columns."""
    rows, columns = (
        per_atom(mapping, atom_of_value.astype(np.int32), int(atom_of_value.max()) + 1)
        for mapping, atom_of_value in zip(mappings, atoms, strict=True)
    )
    return (rows[:, np.newaxis] * (int(columns.max()) + 1) + columns).ravel()


def _sums(groups: IntArray, atoms: AtomArray) -> Masking:
    """Groups of cells; those that share cells which no table tells apart are one."""
    size = int(groups.max()) + 1
    link = scipy.sparse.coo_array((np.ones(atoms.size), (groups, atoms + size)), shape=(size + atoms.size,) * 2)
    merged = scipy.sparse.csgraph.connected_components(link.tocsr(), directed=False)[1]
    mapping = np.asarray(merged[groups], dtype=np.int64)
    return Masking("sums", int(mapping.max()) + 1, mapping, None, deterministic=True)
