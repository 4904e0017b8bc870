"""Pair counts of an entry after maskings were merged or left out."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np

from aegis_provider.control.merging import is_small
from aegis_provider.counting.counts import Counts, Partition
from aegis_sdk.wire import IDENTITY, Configuration, EntryDocument, Pair

_Views: TypeAlias = Mapping[tuple[str, str], Partition]
"""The grouping of values by each masking, by attribute and masking id."""

_Both: TypeAlias = tuple[tuple[str, str], tuple[str, str]]
"""Two attributes, each with a masking."""


def coarser_cells(entry: EntryDocument) -> Iterator[list[Partition]]:
    """Yield for each pair the partitions of its cells by the coarser pairs of maskings that configurations use."""
    views = _views(entry)
    for pair in entry.pairs:
        first, second = _both(pair)
        used = _used_together(entry.configurations or [], (first[0], second[0]), views)
        coarser = [both for both in used if both != (first, second) and _follows(both, (first, second), views)]
        yield [_cells(both, (first, second), views) for both in coarser]


def _cells(both: _Both, finer: _Both, views: _Views) -> Partition:
    """Return the cells of a finer table, row by row, grouped by the cell of a coarser one."""
    rows, columns = (views[view].per_group_of(views[each]) for view, each in zip(both, finer, strict=True))
    sizes = [views[view].size for view in both]
    return Partition((rows[:, np.newaxis] * sizes[1] + columns).ravel(), sizes[0] * sizes[1])


def controlled_pairs(before: EntryDocument, after: EntryDocument, least: int) -> tuple[list[Pair], list[str]]:
    """Return the `pairs` of the entry `after` merging and leaving out, and the pairs left out as too small, in words.

    The counts of every two masked attributes that a configuration uses together are summed from the tables `before`.
    Tables with a nonzero count below `least` are left out, and so are those that follow from another table. What two
    maskings tell of the label is left out as well: with large pair counts, it can still give away a count of three
    columns that is 1.
    """
    old, new = _views(before), _views(after)
    tables = _by_attributes(before.pairs)
    pairs, small = [], []
    for names in combinations([each.name for each in after.attributes], 2):
        large: dict[_Both, Counts] = {}
        for both in _used_together(after.configurations or [], names, new):
            folded = _folded(both, tables.get(names, []), old, new)
            if folded is not None and is_small(folded, least).any():
                small.append(" and ".join(f"{name} ({masking})" for name, masking in both))
            elif folded is not None:
                large[both] = folded
        pairs += [_pair(both, large[both]) for both in _needed(list(large), new)]
    return pairs, small


def _views(entry: EntryDocument) -> _Views:
    views = {}
    for each in entry.attributes:
        views[each.name, IDENTITY] = Partition.identity(len(each.domain))
        for masking in each.maskings:
            if masking.mapping is not None:
                groups = np.array(masking.mapping, dtype=np.intp)
                views[each.name, masking.id] = Partition(groups, len(masking.domain))
    return views


def _by_attributes(pairs: Sequence[Pair]) -> dict[tuple[str, str], list[tuple[_Both, Counts]]]:
    """Return the tables of every two attributes, in both orders."""
    tables: dict[tuple[str, str], list[tuple[_Both, Counts]]] = {}
    for pair in pairs:
        if pair.joint is None:
            continue
        first, second = _both(pair)
        counts = np.array(pair.joint, dtype=np.int64)
        tables.setdefault((first[0], second[0]), []).append(((first, second), counts))
        tables.setdefault((second[0], first[0]), []).append(((second, first), counts.T))
    return tables


def _used_together(configurations: Sequence[Configuration], names: tuple[str, str], views: _Views) -> Iterator[_Both]:
    """Yield every two views that a configuration uses together, once each."""
    first, second = names
    used = dict.fromkeys(((first, each.maskings[first]), (second, each.maskings[second])) for each in configurations)
    yield from (both for both in used if both[0] in views and both[1] in views)


def _folded(both: _Both, tables: Sequence[tuple[_Both, Counts]], old: _Views, new: _Views) -> Counts | None:
    """Return the counts of two views, summed from a table of finer views; `None` if there is no such table.

    There is none where a view has only one masked value, for example.
    """
    for finer, counts in tables:
        if all(new[view].follows_from(old[each]) for view, each in zip(both, finer, strict=True)):
            rows, columns = (new[view].per_group_of(old[each]) for view, each in zip(both, finer, strict=True))
            sums = np.zeros((new[both[0]].size, new[both[1]].size), dtype=np.int64)
            np.add.at(sums, np.ix_(rows, columns), counts)
            return sums
    return None


def _needed(pairs: Sequence[_Both], views: _Views) -> Iterator[_Both]:
    """Yield the pairs that do not follow from another one, and the first of those that follow from each other."""
    for place, both in enumerate(pairs):
        others = [other for other in pairs if other != both and _follows(both, other, views)]
        if all(_follows(other, both, views) and pairs.index(other) > place for other in others):
            yield both


def _follows(both: _Both, other: _Both, views: _Views) -> bool:
    return all(views[view].follows_from(views[each]) for view, each in zip(both, other, strict=True))


def _both(pair: Pair) -> _Both:
    (first, second), (rows, columns) = pair.attributes, pair.maskings
    return (first, rows), (second, columns)


def _pair(both: _Both, counts: Counts) -> Pair:
    (first, rows), (second, columns) = both
    return Pair(attributes=[first, second], maskings=[rows, columns], joint=counts.tolist())
