"""Joint counts of pairs of masked attributes: which are needed, so that all others follow, and their counting."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.coded_table import CodedTable
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.counts import Counts, Partition, Places, common_refinement
from aegis_provider.plan.model import Plan
from aegis_provider.progress import Progress

Views: TypeAlias = Mapping[str, Partition]
"""Of an attribute, by masking id: its values as each masking groups them. The identity is one of them."""


@dataclass(frozen=True)
class Pair:
    """Two attributes by their places in the plan, ascending, and the masking id of each."""

    attributes: tuple[int, int]
    maskings: tuple[str, str]


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
        groups = self.views[view]
        return Partition(groups.groups[self.atoms.groups], groups.size)


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

    Raises:
        TableError: the table is not the one that was counted.
    """
    codings = _codings(views, pairs)
    tables = [
        table for _, each in groupby(pairs, lambda pair: pair.attributes) for table in _tables(codings, list(each))
    ]
    joints = {}
    for table, counts in zip(tables, _counted(counted, codings, tables), strict=True):
        joints[table.attributes, table.views] = counts
        progress(len(joints) * counted.records // len(tables), counted.records)
    return [_counts_of(pair, joints, codings) for pair in pairs]


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
    as_one = prod(shape(atoms)) <= max(_FEW_CELLS, sum(prod(shape(pair.maskings)) for pair in pairs))
    counted: list[_Viewed] = [atoms] if as_one else [pair.maskings for pair in pairs]
    return [_Table(both, views) for views in counted]


def _counts_of(pair: Pair, joints: Mapping[_Key, Counts], codings: Mapping[int, _Coding]) -> Counts:
    """The table of the pair: as it was counted, or else that of the atoms, folded."""
    if (pair.attributes, pair.maskings) in joints:
        return joints[pair.attributes, pair.maskings]
    atoms = joints[pair.attributes, (None, None)]
    rows, columns = (codings[place].views[name] for place, name in zip(pair.attributes, pair.maskings, strict=True))
    folded = np.zeros((rows.size, columns.size), dtype=np.int64)
    np.add.at(folded, np.ix_(rows.groups, columns.groups), atoms)
    return folded


def pairs_to_count(plan: Plan, views: Sequence[Views]) -> Iterator[Pair]:
    """The pairs of views that some configuration uses together, without those that follow from another of them.

    A table of two attributes follows from another one where on both sides its masking is a function of the other's:
    it is the other one, folded. Of tables that follow from each other the first stands, in the order of `views`.

    `views`: of each attribute those that are of interest; what they lack is as if no configuration used it.
    """
    chosen = _choices(plan, views)
    follows = [_follows(list(each.values())) for each in views]
    ids = [list(each) for each in views]
    for first, second in combinations(range(len(views)), 2):
        used = _used_together(chosen[:, first], chosen[:, second])
        for row, column in used[_needed(follows[first], follows[second], used)]:
            yield Pair((first, second), (ids[first][row], ids[second][column]))


def _choices(plan: Plan, views: Sequence[Views]) -> Places:
    """(configurations, attributes) the place among its views of each attribute's masking, -1 if it is not there."""
    places = [{name: place for place, name in enumerate(each)} for each in views]
    rows = [
        [known.get(each.maskings[attribute.name], -1) for attribute, known in zip(plan.attributes, places, strict=True)]
        for each in plan.configurations
    ]
    return np.array(rows, dtype=np.intp)


def _follows(views: Sequence[Partition]) -> NDArray[np.bool_]:
    """(views, views) whether the one of the row follows from the one of the column."""
    follows = [view.follows_from(other) for view in views for other in views]
    return np.array(follows, dtype=np.bool_).reshape(len(views), len(views))


def _used_together(first: Places, second: Places) -> Places:
    """(pairs, 2) every two views that a configuration uses together, each once, in order."""
    present = (first >= 0) & (second >= 0)
    width = int(second.max()) + 1
    pairs = np.unique(first[present] * width + second[present])
    return np.stack(np.divmod(pairs, max(width, 1)), axis=1)


def _needed(first: NDArray[np.bool_], second: NDArray[np.bool_], used: Places) -> NDArray[np.bool_]:
    """(pairs,) whether no other pair makes this one superfluous."""
    rows, columns = used.T
    follows = first[np.ix_(rows, rows)] & second[np.ix_(columns, columns)]
    earlier = np.tri(len(used), k=-1, dtype=np.bool_)
    superfluous: NDArray[np.bool_] = np.any(follows & (~follows.T | earlier), axis=1)
    return ~superfluous
