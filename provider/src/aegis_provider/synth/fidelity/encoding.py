"""Records as vectors and as groups of values, by what is usual among real records."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from aegis_provider.synth.fidelity.plain import PlainColumn, PlainRecords

Codes = NDArray[np.intp]
Vectors = NDArray[np.float64]

GROUPS: Final = 10
"""Numbers are cut into at most this many groups with about as many real records each."""

MOST_CATEGORIES: Final = 50
"""Categories beyond the most frequent ones are taken together."""


@dataclass(frozen=True, eq=False)
class Grouping:
    """The groups of the values of each column.

    Attributes:
        edges: By column the numbers at which groups begin, or the categories that have a group each; ascending.
    """

    edges: tuple[NDArray[np.float64], ...]

    @classmethod
    def of(cls, real: PlainRecords) -> Self:
        """Return the groups: quantiles of real numbers, and the most frequent real categories."""
        return cls(tuple(_edges(each) if each.is_numeric else _frequent(each) for each in real.columns))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many groups each column has: one more for missing numbers, or for all other categories."""
        return tuple(len(each) + 2 for each in self.edges)

    def codes(self, records: PlainRecords) -> Codes:
        """(records, columns) Return the group of each value."""
        columns = zip(records.columns, self.edges, strict=True)
        return np.stack([_groups(column, edges) for column, edges in columns], axis=1)


@dataclass(frozen=True, eq=False)
class Encoder:
    """Turns records into vectors: numbers are standardised, and each frequent category has an indicator.

    A missing number is the mean, and has an indicator.

    Attributes:
        scales: By column the mean and the standard deviation of real numbers, or the categories with an indicator.
    """

    scales: tuple[NDArray[np.float64], ...]

    @classmethod
    def of(cls, real: PlainRecords) -> Self:
        """Return the encoder that standardises these records."""
        return cls(tuple(_scale(each) if each.is_numeric else _frequent(each) for each in real.columns))

    def vectors(self, records: PlainRecords) -> Vectors:
        """(records, width) Return the vector of each record."""
        parts = []
        for column, scale in zip(records.columns, self.scales, strict=True):
            parts.append(_standardised(column, scale) if column.is_numeric else _indicators(column, scale))
        return np.concatenate(parts, axis=1)


def one_hot(codes: Codes, sizes: Sequence[int]) -> Vectors:
    """(records, sum of the sizes) Return an indicator for each code (records, columns)."""
    starts = (np.cumsum(sizes) - sizes).astype(np.intp)
    vectors = np.zeros((len(codes), int(np.sum(sizes))))
    np.put_along_axis(vectors, codes + starts, 1.0, axis=1)
    return vectors


def _edges(column: PlainColumn) -> NDArray[np.float64]:
    distinct = np.unique(column.of_record[~np.isnan(column.of_record)])
    if len(distinct) <= GROUPS:
        return distinct[1:]
    return np.unique(np.nanquantile(column.of_record, np.linspace(0, 1, GROUPS + 1)[1:-1]))


def _frequent(column: PlainColumn) -> NDArray[np.float64]:
    values, counts = np.unique(column.of_record, return_counts=True)
    return np.sort(values[np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]])


def _groups(column: PlainColumn, edges: NDArray[np.float64]) -> Codes:
    if column.is_numeric:
        return np.where(np.isnan(column.of_record), 0, 1 + np.searchsorted(edges, column.of_record, side="right"))
    places = np.searchsorted(edges, column.of_record).clip(max=len(edges) - 1)
    return np.where(edges[places] == column.of_record, places, len(edges))


def _scale(column: PlainColumn) -> NDArray[np.float64]:
    present = column.of_record[~np.isnan(column.of_record)]
    if not len(present):
        return np.array([0.0, 1.0])
    return np.array([present.mean(), present.std() or 1.0])


def _standardised(column: PlainColumn, scale: NDArray[np.float64]) -> Vectors:
    missing = np.isnan(column.of_record)
    numbers = np.where(missing, 0.0, (column.of_record - scale[0]) / scale[1])
    return np.stack([numbers, missing.astype(np.float64)], axis=1)


def _indicators(column: PlainColumn, categories: NDArray[np.float64]) -> Vectors:
    return one_hot(_groups(column, categories)[:, None], [len(categories) + 1])
