"""Joint counts of every attribute with the label, from one scan of the table, and their folding."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_sdk.provider.table import Table, as_text

Counts: TypeAlias = NDArray[np.int64]

# DuckDB tells at most 64 grouping sets apart.
_ATTRIBUTES_PER_SCAN = 60


@dataclass(frozen=True)
class Tally:
    """The pairs that occur, each once: the text `texts[i]` with the label `labels[i]`, `counts[i]` times."""

    texts: NDArray[Any]
    labels: NDArray[Any]
    counts: Counts


@dataclass(frozen=True)
class JointCounts:
    """
    `F(A, Y)` without its zero cells: `counts[i]` records have value `values[i]` and label `labels[i]`.

    `shape`: the sizes of `Dom(A)` and `Dom(Y)`.
    """

    values: NDArray[np.intp]
    labels: NDArray[np.intp]
    counts: Counts
    shape: tuple[int, int]

    def histogram(self) -> Counts:
        """`f(A)`, one count per value."""
        return np.bincount(self.values, self.counts, self.shape[0]).astype(np.int64)

    def label_histogram(self) -> Counts:
        """`f(Y)`, one count per label."""
        return np.bincount(self.labels, self.counts, self.shape[1]).astype(np.int64)

    def fold(self, mapping: Sequence[int], size: int) -> Counts:
        """`F(M(A), Y)`, `size` by labels, where `mapping` gives each value the index of its masked value."""
        folded = np.zeros((size, self.shape[1]), dtype=np.int64)
        np.add.at(folded, (np.asarray(mapping, dtype=np.intp)[self.values], self.labels), self.counts)
        return folded


def tally(table: Table, attributes: Sequence[str], label: str) -> list[Tally]:
    """
    Counts every attribute against the label: one scan for 60 attributes, whatever the number of maskings.

    Raises `TableError` for a missing column or an unreadable file.
    """
    places = table.positions([*attributes, label])
    starts = range(0, len(attributes), _ATTRIBUTES_PER_SCAN)
    scans = (places[:-1][start : start + _ATTRIBUTES_PER_SCAN] for start in starts)
    return [each for scan in scans for each in _scan(table, scan, places[-1])]


def _scan(table: Table, places: Sequence[int], label: int) -> Iterator[Tally]:
    values = [f"v{place}" for place in places]
    named = [f"{as_text(place)} AS v{place}" for place in places]
    found = table.execute(
        f"SELECT coalesce({', '.join(values)}) AS text, y, count(*) AS n, "  # noqa: S608 - places, no names
        f"grouping({', '.join(values)}) AS absent "
        f"FROM (SELECT {', '.join(named)}, {as_text(label)} AS y FROM {table.source}) "
        f"GROUP BY GROUPING SETS ({', '.join(f'({value}, y)' for value in values)})"
    ).fetchnumpy()
    everything = (1 << len(places)) - 1
    for bit in reversed(range(len(places))):
        mine = found["absent"] == everything - (1 << bit)
        yield Tally(found["text"][mine], found["y"][mine], found["n"][mine].astype(np.int64))
