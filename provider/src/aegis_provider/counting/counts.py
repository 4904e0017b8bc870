"""Joint counts of every attribute with the label, from one reading of the table, and their folding."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.table import Table

Counts: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Tally:
    """The pairs that occur, each once: the text `texts[i]` with the label `labels[i]`, `counts[i]` times."""

    texts: NDArray[Any]
    labels: NDArray[Any]
    counts: Counts


@dataclass(frozen=True)
class JointCounts:
    """`F(A, Y)` without its zero cells: `counts[i]` records have value `values[i]` and label `labels[i]`.

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

    def fold(self, mapping: Sequence[int] | NDArray[np.integer[Any]], size: int) -> Counts:
        """`F(M(A), Y)`, `size` by labels, where `mapping` gives each value the index of its masked value."""
        folded = np.zeros((size, self.shape[1]), dtype=np.int64)
        np.add.at(folded, (np.asarray(mapping, dtype=np.intp)[self.values], self.labels), self.counts)
        return folded


def tally(table: Table, attributes: Sequence[str], label: str) -> list[Tally]:
    """Counts every attribute against the label: one reading for 60 attributes, whatever the number of maskings.

    Raises `TableError` for a missing column or an unreadable file.
    """
    return [
        Tally(*(found[name].to_numpy() for name in ("first", "second", "n")))
        for found in table.counts_with(attributes, label)
    ]
