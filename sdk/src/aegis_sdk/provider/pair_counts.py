"""Joint counts of pairs of masked attributes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import prod
from typing import TypeAlias

import numpy as np

from aegis_sdk.provider.coded_table import CodedTable
from aegis_sdk.provider.counting import CountedTable
from aegis_sdk.provider.counts import Counts
from aegis_sdk.provider.pair_choice import Pair, Views
from aegis_sdk.provider.partition import Partition, Places, common_refinement

Progress: TypeAlias = Callable[[int, int], None]
"""Is told how many records are counted, and of how many."""

_Viewed: TypeAlias = tuple[str | None, str | None]
_Key: TypeAlias = tuple[tuple[int, int], _Viewed]

# So few cells are counted together rather than each of the tables that follow from them.
_FEW_CELLS = 4096


@dataclass(frozen=True, eq=False)
class _Coding:
    """
    An attribute's values as the records are coded.

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


@dataclass(frozen=True, eq=False)
class _Table:
    """Counts (groups of the first, groups of the second) of two attributes, one view of each; filled in place."""

    attributes: tuple[int, int]
    views: _Viewed
    counts: Counts

    def add(self, batch: "_Batch") -> None:
        first, second = (batch.groups(*each) for each in zip(self.attributes, self.views, strict=True))
        np.add.at(self.counts.reshape(-1), first * self.counts.shape[1] + second, 1)


@dataclass(frozen=True, eq=False)
class _Batch:
    """Some records; the groups that their codes are in are looked up once for each view."""

    codes: Mapping[int, Places]
    codings: Mapping[int, _Coding]
    known: dict[tuple[int, str | None], Places] = field(default_factory=dict)

    def groups(self, attribute: int, view: str | None) -> Places:
        if view is None:
            return self.codes[attribute]
        key = (attribute, view)
        if key not in self.known:
            self.known[key] = self.codings[attribute].views[view].groups[self.codes[attribute]]
        return self.known[key]


def count_pairs(
    counted: CountedTable, views: Sequence[Views], pairs: Sequence[Pair], progress: Progress
) -> list[Counts]:
    """
    The joint counts of each pair, (masked values of the first, masked values of the second).

    One reading of the table, whatever the number of pairs. Memory: the tables that are asked for, and a batch of
    records; the rest is bounded by DuckDB's limit.
    Raises `TableError` where the table is not the one that was counted.
    """
    codings = _codings(views, pairs)
    tables = [
        table for _, each in groupby(pairs, lambda pair: pair.attributes) for table in _tables(codings, list(each))
    ]
    coded = CodedTable.of(counted, {place: coding.atoms for place, coding in codings.items()})
    done = 0
    for codes in coded.batches():
        batch = _Batch(codes, codings)
        for table in tables:
            table.add(batch)
        done += len(next(iter(codes.values())))
        progress(done, coded.records)
    found = {(table.attributes, table.views): table.counts for table in tables}
    return [_counts_of(pair, found, codings) for pair in pairs]


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
    return [_Table(both, views, np.zeros(shape(views), dtype=np.int64)) for views in counted]


def _counts_of(pair: Pair, found: Mapping[_Key, Counts], codings: Mapping[int, _Coding]) -> Counts:
    """The table of the pair: as it was counted, or else that of the atoms, folded."""
    if (pair.attributes, pair.maskings) in found:
        return found[pair.attributes, pair.maskings]
    atoms = found[pair.attributes, (None, None)]
    rows, columns = (codings[place].views[name] for place, name in zip(pair.attributes, pair.maskings, strict=True))
    folded = np.zeros((rows.size, columns.size), dtype=np.int64)
    np.add.at(folded, np.ix_(rows.groups, columns.groups), atoms)
    return folded
