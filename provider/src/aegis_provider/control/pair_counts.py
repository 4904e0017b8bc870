"""Pairs of an entry whose counts are sums of those of finer pairs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from aegis_provider.counting.counts import Partition
from aegis_sdk.wire import IDENTITY, Configuration, EntryDocument, Pair

_Views: TypeAlias = Mapping[tuple[str, str], Partition]
"""The grouping of values by each masking, by attribute and masking id."""

_Both: TypeAlias = tuple[tuple[str, str], tuple[str, str]]
"""Two attributes, each with a masking."""


def coarser_cells(entry: EntryDocument) -> Iterator[list[Partition]]:
    """Yield for each pair the partitions of its cells by the coarser pairs of maskings that configurations use."""
    views = _views(entry)
    for pair in entry.pairs:
        first, second = masked_of(pair)
        used = _used_together(entry.masked, (first[0], second[0]), views)
        coarser = [both for both in used if both != (first, second) and _follows(both, (first, second), views)]
        yield [_cells(both, (first, second), views) for both in coarser]


def _cells(both: _Both, finer: _Both, views: _Views) -> Partition:
    """Return the cells of a finer table, row by row, grouped by the cell of a coarser one."""
    rows, columns = (views[view].per_group_of(views[each]) for view, each in zip(both, finer, strict=True))
    sizes = [views[view].size for view in both]
    return Partition((rows[:, np.newaxis] * sizes[1] + columns).ravel(), sizes[0] * sizes[1])


def _views(entry: EntryDocument) -> _Views:
    views = {}
    for attribute in entry.attributes:
        views[attribute.name, IDENTITY] = Partition.identity(len(attribute.domain))
        for masking in attribute.maskings:
            if masking.mapping is not None:
                groups = np.array(masking.mapping, dtype=np.intp)
                views[attribute.name, masking.id] = Partition(groups, len(masking.domain))
    return views


def _used_together(configurations: Sequence[Configuration], names: tuple[str, str], views: _Views) -> Iterator[_Both]:
    """Yield every two views that a configuration uses together, once each."""
    first, second = names
    used = dict.fromkeys(
        ((first, configuration.maskings[first]), (second, configuration.maskings[second]))
        for configuration in configurations
    )
    yield from (both for both in used if both[0] in views and both[1] in views)


def _follows(both: _Both, other: _Both, views: _Views) -> bool:
    return all(views[view].follows_from(views[each]) for view, each in zip(both, other, strict=True))


def masked_of(pair: Pair) -> _Both:
    """Return the two attributes of a pair, each with its masking."""
    (first, second), (rows, columns) = pair.attributes, pair.maskings
    return (first, rows), (second, columns)
