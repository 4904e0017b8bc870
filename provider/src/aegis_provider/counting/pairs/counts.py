"""Joint counts of pairs of masked attributes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import TypeAlias

import numpy as np

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.counts import Counts
from aegis_provider.counting.pairs.choice import Pair, Views
from aegis_provider.counting.pairs.coded_table import CodedTable
from aegis_provider.counting.partition import Partition, common_refinement
from aegis_provider.progress import Progress

_Viewed: TypeAlias = tuple[str | None, str | None]
_Key: TypeAlias = tuple[tuple[int, int], _Viewed]

# So few cells are counted together rather than each of the tables that follow from them.
_FEW_CELLS = 4096


@dataclass(frozen=True, eq=False)
class _Coding:
    """An attribute's values as it is counted.

    `atoms`: the common refinement of `views`, a partition of the values. `views`: by masking id, partitions of the
    atoms; under `None` that of the atoms themselves.
    """

    atoms: Partition
    views: Mapping[str | None, Partition]

    @classmethod
    def of(cls, views: Views) -> "_Coding":
        atoms = common_refinement(list(views.values()))
        coded: dict[str | None, Partition] = {
            name: Partition(view.per_group_of(atoms), view.size) for name, view in views.items()
        }
        return cls(atoms, coded | {None: Partition.identity(atoms.size)})

    def of_values(self, view: str | None) -> Partition:
        """A view as a partition of the attribute's values."""
        found = self.views[view]
        return Partition(found.groups[self.atoms.groups], found.size)


@dataclass(frozen=True)
class _Table:
    """What is counted: two attributes, one view of each."""

    attributes: tuple[int, int]
    views: _Viewed


def count_pairs(
    counted: CountedTable, views: Sequence[Views], pairs: Sequence[Pair], progress: Progress
) -> list[Counts]:
    """The joint counts of each pair, (masked values of the first, masked values of the second).

    One reading of the table, whatever the number of pairs; the engine counts. Memory: the tables that are asked for.
    Raises `TableError` where the table is not the one that was counted.
    """
    codings = _codings(views, pairs)
    tables = [
        table for _, each in groupby(pairs, lambda pair: pair.attributes) for table in _tables(codings, list(each))
    ]
    found = {}
    for table, counts in zip(tables, _counted(counted, codings, tables), strict=True):
        found[table.attributes, table.views] = counts
        progress(len(found) * counted.records // len(tables), counted.records)
    return [_counts_of(pair, found, codings) for pair in pairs]


def _counted(counted: CountedTable, codings: Mapping[int, _Coding], tables: Sequence[_Table]) -> Iterator[Counts]:
    """The counts of each table in turn."""
    used: dict[int, list[str | None]] = {place: [] for place in codings}
    pairs = []
    for table in tables:
        both = []
        for place, view in zip(table.attributes, table.views, strict=True):
            if view not in used[place]:
                used[place].append(view)
            both.append((place, used[place].index(view)))
        pairs.append((both[0], both[1]))
    partitions = {place: [codings[place].of_values(view) for view in each] for place, each in used.items()}
    yield from CodedTable.of(counted, partitions).counts(pairs)


def _codings(views: Sequence[Views], pairs: Iterable[Pair]) -> dict[int, _Coding]:
    used: dict[int, dict[str, Partition]] = {}
    for pair in pairs:
        for place, masking in zip(pair.attributes, pair.maskings, strict=True):
            used.setdefault(place, {})[masking] = views[place][masking]
    return {place: _Coding.of(used[place]) for place in sorted(used)}


def _tables(codings: Mapping[int, _Coding], pairs: Sequence[Pair]) -> list[_Table]:
    """What to count for the pairs of two attributes: their atoms, if these are few; otherwise each by itself."""
    both = pairs[0].attributes

    def shape(views: _Viewed) -> tuple[int, int]:
        first, second = (codings[place].views[view].size for place, view in zip(both, views, strict=True))
        return first, second

    atoms: tuple[None, None] = (None, None)
    together = prod(shape(atoms)) <= max(_FEW_CELLS, sum(prod(shape(pair.maskings)) for pair in pairs))
    counted: list[_Viewed] = [atoms] if together else [pair.maskings for pair in pairs]
    return [_Table(both, views) for views in counted]


def _counts_of(pair: Pair, found: Mapping[_Key, Counts], codings: Mapping[int, _Coding]) -> Counts:
    """The table of the pair: as it was counted, or else that of the atoms, folded."""
    if (pair.attributes, pair.maskings) in found:
        return found[pair.attributes, pair.maskings]
    atoms = found[pair.attributes, (None, None)]
    rows, columns = (codings[place].views[name] for place, name in zip(pair.attributes, pair.maskings, strict=True))
    folded = np.zeros((rows.size, columns.size), dtype=np.int64)
    np.add.at(folded, np.ix_(rows.groups, columns.groups), atoms)
    return folded
