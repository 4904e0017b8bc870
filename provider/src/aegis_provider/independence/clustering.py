"""Step 1 of independence masking on a table: the records in clusters of equal size by some of its columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from aegis_provider.errors import TableError, shortened
from aegis_provider.independence.clusters import balanced_clusters, quantile_clusters
from aegis_provider.independence.columns import Column
from aegis_provider.independence.vectors import BoolArray, FloatArray, IntArray
from aegis_provider.table.values import MISSING, Domain, ValueType

_ORDERED = (ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE)


@dataclass(frozen=True, eq=False)
class Basis:
    """A column that the clusters are made of.

    `domain`: its values, typed by their texts; `places`: (n,) the place of each record's value in it.
    """

    column: Column
    domain: Domain
    places: IntArray

    @classmethod
    def of(cls, column: Column) -> "Basis":
        """Numbers are numbers if all its texts are; texts with a leading zero are none."""
        texts = column.texts.to_pylist()
        domain = Domain.of(texts)
        places = np.array([domain.places[text] for text in texts], dtype=np.int64)
        return cls(column, domain, places[column.codes])

    @property
    def is_ordered(self) -> bool:
        """Whether its values are numbers or dates, so that intervals of them mean something."""
        return self.domain.value_type in _ORDERED

    def features(self, records: BoolArray) -> Iterator[IntArray | FloatArray]:
        """(kept,) what tells its records apart: numbers, or codes.

        A missing number stands at the mean of the others, and is told from them by a code of its own.
        Raises `TableError` for a number beyond those of doubles, which has no distance from others.
        """
        places = self.places[records]
        if not self.is_ordered:
            yield places
            return
        of_value = np.array([np.nan if key is None else _number(key) for key in self.domain.keys])
        for place in np.flatnonzero(np.isinf(of_value))[:1]:
            text = shortened(self.domain.texts[place])
            raise TableError(f"column {self.column.name!r}: {text} is too large for clusters of several columns")
        numbers = of_value[places]
        missing = np.isnan(numbers)
        yield np.where(missing, numbers[~missing].mean() if (~missing).any() else 0.0, numbers)
        if missing.any():
            yield missing.astype(np.int64)


@dataclass(frozen=True)
class Extent:
    """What a cluster holds of a column. `values`: the least and the most of numbers and dates, else all that occur.

    `missing`: how many of its records have no value there.
    """

    attribute: str
    is_ordered: bool
    values: tuple[str, ...]
    missing: int


def clusters_of(basis: Sequence[Basis], records: BoolArray, clusters: int, random: Generator) -> IntArray:
    """(kept,) the cluster of each record that is kept, from 0; all clusters have the same number of records.

    Of one column of numbers or dates the clusters are intervals, in which a missing value comes before all others;
    of several, or of others, those of a balanced k-means.
    """
    if len(basis) == 1 and basis[0].is_ordered:
        # Only the order matters, which the places in the domain have exactly.
        return quantile_clusters(basis[0].places[records].astype(np.float64), clusters, random)
    features = [feature for each in basis for feature in each.features(records)]
    return balanced_clusters(features, clusters, random)


def extents_of(basis: Sequence[Basis], records: BoolArray) -> tuple[Extent, ...]:
    """What these records hold of each column."""
    return tuple(_extent(each, np.unique(each.places[records], return_counts=True)) for each in basis)


def _extent(basis: Basis, found: tuple[IntArray, IntArray]) -> Extent:
    counted = {basis.domain.texts[place]: int(n) for place, n in zip(*found, strict=True)}
    missing = counted.pop(MISSING, 0)
    texts = tuple(counted)
    ends = dict.fromkeys((texts[0], texts[-1])) if texts else {}
    return Extent(basis.column.name, basis.is_ordered, tuple(ends) if basis.is_ordered else texts, missing)


def _number(key: object) -> float:
    """Of a `Decimal`; of a date its day."""
    return float(key.toordinal() if hasattr(key, "toordinal") else key)  # type: ignore[arg-type] # a Decimal
