"""Records as vectors and as groups of values, scaled by real records."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from aegis_provider.records import Records
from aegis_provider.synth.released.released import Released, ReleasedColumn


@dataclass(frozen=True, eq=False)
class PlainColumn:
    """A column of plain values.

    Attributes:
        is_numeric: Whether the values are numbers, or dates as days.
        of_record: (records,) The numbers, NaN where missing; for categories, their places in the domain of the table.
    """

    name: str
    is_numeric: bool
    of_record: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PlainRecords:
    """Records without masked values that stand for several."""

    columns: tuple[PlainColumn, ...]

    @classmethod
    def real(cls, records: Records) -> Self:
        """Return the records of a table."""
        columns = []
        for column in records.columns:
            values = column.places.astype(np.float64) if column.numbers is None else column.numbers[column.places]
            columns.append(PlainColumn(column.name, column.numbers is not None, values))
        return cls(tuple(columns))

    @classmethod
    def released(cls, released: Released, rng: np.random.Generator) -> Self:
        """Return released records, with a random value for each masked one that stands for several."""
        return cls(
            tuple(PlainColumn(column.name, column.is_numeric, _drawn(column, rng)) for column in released.columns)
        )

    def __len__(self) -> int:
        return len(self.columns[0].of_record)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> PlainColumn:
        """Return the column of that name."""
        return self.columns[self.names.index(name)]

    def only(self, names: Collection[str]) -> Self:
        """Return the records with only these columns."""
        return replace(self, columns=tuple(column for column in self.columns if column.name in names))

    def take(self, rows: NDArray[Any]) -> Self:
        """Return some of the records: by their places, or by a mask."""
        return replace(
            self, columns=tuple(replace(column, of_record=column.of_record[rows]) for column in self.columns)
        )

    def shuffled(self, rng: np.random.Generator) -> Self:
        """Return the records with shuffled columns, which retain value frequencies only."""
        return replace(
            self, columns=tuple(replace(column, of_record=rng.permutation(column.of_record)) for column in self.columns)
        )


def stacked(parts: Sequence[PlainRecords]) -> PlainRecords:
    """Return the concatenated records of several tables with the same columns."""
    columns = zip(*(part.columns for part in parts), strict=True)
    return PlainRecords(
        tuple(replace(same[0], of_record=np.concatenate([each.of_record for each in same])) for same in columns)
    )


def _drawn(column: ReleasedColumn, rng: np.random.Generator) -> NDArray[np.float64]:
    """(records,) Draw one of the possible values of each record's text."""
    domain = column.original.numbers
    # A missing value that the table lacks is an additional category.
    values = np.arange(len(column.positions), dtype=np.float64) if domain is None else domain
    missing = float(len(column.positions)) if domain is None else np.nan
    pools = [np.array([meaning]) if isinstance(meaning, float) else values[meaning] for meaning in column.meanings]
    pools = [each if len(each) else np.array([missing]) for each in pools]
    sizes = np.array([len(each) for each in pools])
    starts = np.cumsum(sizes) - sizes
    chosen = starts[column.codes] + (rng.random(len(column.codes)) * sizes[column.codes]).astype(np.intp)
    return np.asarray(np.concatenate(pools)[chosen])


Codes = NDArray[np.intp]
Vectors = NDArray[np.float64]

GROUPS: Final = 10
"""Maximum groups of numbers, with about equally many real records each."""

MOST_CATEGORIES: Final = 50
"""Less frequent categories share one group."""


@dataclass(frozen=True, eq=False)
class ValueGroups:
    """The groups of the values of each column.

    Attributes:
        edges: By column, the lower edges of groups of numbers, or the categories with a separate group; ascending.
    """

    edges: tuple[NDArray[np.float64], ...]

    @classmethod
    def of(cls, real: PlainRecords) -> Self:
        """Return the groups: quantiles of real numbers, and the most frequent real categories."""
        return cls(tuple(_edges(column) if column.is_numeric else _frequent(column) for column in real.columns))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of groups of each column, including one for missing numbers or for all other categories."""
        return tuple(len(edge) + 2 for edge in self.edges)

    def codes(self, records: PlainRecords) -> Codes:
        """(records, columns) Return the group of each value."""
        columns = zip(records.columns, self.edges, strict=True)
        return np.stack([_groups(column, edges) for column, edges in columns], axis=1)


@dataclass(frozen=True, eq=False)
class Encoder:
    """Turns records into vectors: numbers are standardised, and each frequent category has an indicator.

    A missing number is the mean, and has an indicator.

    Attributes:
        scales: By column, the mean and the standard deviation of real numbers, or the categories with an indicator.
    """

    scales: tuple[NDArray[np.float64], ...]

    @classmethod
    def of(cls, real: PlainRecords) -> Self:
        """Return the encoder fitted to these records."""
        return cls(tuple(_scale(column) if column.is_numeric else _frequent(column) for column in real.columns))

    def vectors(self, records: PlainRecords) -> Vectors:
        """(records, width) Return the vector of each record."""
        parts = []
        for column, scale in zip(records.columns, self.scales, strict=True):
            if column.is_numeric:
                missing = np.isnan(column.of_record)
                numbers = np.where(missing, 0.0, (column.of_record - scale[0]) / scale[1])
                parts.append(np.stack([numbers, missing.astype(np.float64)], axis=1))
            else:
                parts.append(one_hot(_groups(column, scale)[:, None], [len(scale) + 1]))
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


def pair_total_variation(one: Codes, other: Codes, sizes: Sequence[int]) -> float:
    """Return the mean total variation distance of the joint shares of all pairs of columns.

    Args:
        one: (records, columns) The groups of the values of some records.
    """
    distances = []
    for pair in combinations(range(len(sizes)), 2):
        mine, theirs = (joint_counts(codes, pair, sizes).ravel() / max(1, len(codes)) for codes in (one, other))
        distances.append(float(np.abs(mine - theirs).sum()) / 2)
    return float(np.mean(distances))


def joint_counts(codes: Codes, pair: tuple[int, int], sizes: Sequence[int]) -> NDArray[np.intp]:
    """(sizes of the pair) Return the joint counts of the groups of two columns."""
    first, second = pair
    cells = codes[:, first] * sizes[second] + codes[:, second]
    return np.bincount(cells, minlength=sizes[first] * sizes[second]).reshape(sizes[first], sizes[second])


@dataclass(frozen=True, eq=False)
class Gaussian:
    """The normal distribution with the mean and the covariance of some vectors.

    Attributes:
        mean: (width,) The mean.
        root: (width, width) The symmetric square root of the covariance.
    """

    mean: NDArray[np.float64]
    root: NDArray[np.float64]
    spread: float

    @classmethod
    def of(cls, vectors: Vectors) -> Self:
        """Return the distribution fitted to (records, width) vectors; without vectors, a point at 0."""
        records = max(1, len(vectors))
        mean = vectors.sum(axis=0) / records
        centred = vectors - mean
        values, axes = np.linalg.eigh(centred.T @ centred / records)
        values = values.clip(0.0)
        return cls(mean, (axes * np.sqrt(values)) @ axes.T, float(values.sum()))

    def frechet_distance(self, other: "Gaussian") -> float:
        """Return the Fréchet distance, as usual without the square root.

        It is |m1 - m2|^2 + tr(S1 + S2 - 2 (S1 S2)^(1/2)). The last trace is the sum of the singular values of S1^(1/2)
        S2^(1/2), which avoids an inverse and the root of an asymmetric matrix.
        Source: Dowson and Landau, The Fréchet distance between multivariate normal distributions (1982), eq. 4.
        """
        apart = float(((self.mean - other.mean) ** 2).sum())
        common = float(np.linalg.svd(self.root @ other.root, compute_uv=False).sum())
        return max(0.0, apart + self.spread + other.spread - 2 * common)
