"""Records as plain values: real ones as they are, released ones with a value drawn where one stands for several."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from aegis_provider.records import Column, Records
from aegis_provider.synth.released import Released, ReleasedColumn


@dataclass(frozen=True, eq=False)
class PlainColumn:
    """A column of plain values.

    Attributes:
        name: The attribute, or the label.
        is_numeric: Whether the values are numbers, or dates as days.
        of_record: (records,) The numbers, NaN where missing; of categories their places in the domain of the table.
    """

    name: str
    is_numeric: bool
    of_record: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PlainRecords:
    """Records whose every value is one value."""

    columns: tuple[PlainColumn, ...]

    @classmethod
    def real(cls, records: Records) -> Self:
        """Return the records of a table."""
        return cls(tuple(PlainColumn(each.name, each.numbers is not None, _values(each)) for each in records.columns))

    @classmethod
    def released(cls, released: Released, rng: np.random.Generator) -> Self:
        """Return released records. Of the values that a masked one may stand for, each is drawn equally often."""
        return cls(tuple(PlainColumn(each.name, each.is_numeric, _drawn(each, rng)) for each in released.columns))

    def __len__(self) -> int:
        return len(self.columns[0].of_record)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(each.name for each in self.columns)

    def column(self, name: str) -> PlainColumn:
        """Return the column of that name."""
        return self.columns[self.names.index(name)]

    def only(self, names: Collection[str]) -> Self:
        """Return the records with these columns only."""
        return replace(self, columns=tuple(each for each in self.columns if each.name in names))

    def take(self, rows: NDArray[Any]) -> Self:
        """Return some of the records: by their places, or by a mask."""
        return replace(self, columns=tuple(replace(each, of_record=each.of_record[rows]) for each in self.columns))

    def shuffled(self, rng: np.random.Generator) -> Self:
        """Return the records with each column in an order of its own, which tells only how frequent values are."""
        return replace(
            self, columns=tuple(replace(each, of_record=rng.permutation(each.of_record)) for each in self.columns)
        )


def stacked(parts: Sequence[PlainRecords]) -> PlainRecords:
    """Return the records of several tables with the same columns, one table below the other."""
    columns = zip(*(each.columns for each in parts), strict=True)
    return PlainRecords(
        tuple(replace(same[0], of_record=np.concatenate([each.of_record for each in same])) for same in columns)
    )


def _values(column: Column) -> NDArray[np.float64]:
    return column.places.astype(np.float64) if column.numbers is None else column.numbers[column.places]


def _drawn(column: ReleasedColumn, rng: np.random.Generator) -> NDArray[np.float64]:
    """(records,) Draw one of the values that each record's text may stand for."""
    domain = column.original.numbers
    # A missing value where the table has none is one more category.
    values = np.arange(len(column.positions), dtype=np.float64) if domain is None else domain
    missing = float(len(column.positions)) if domain is None else np.nan
    pools = [np.array([each]) if isinstance(each, float) else values[each] for each in column.meanings]
    pools = [each if len(each) else np.array([missing]) for each in pools]
    sizes = np.array([len(each) for each in pools])
    starts = np.cumsum(sizes) - sizes
    chosen = starts[column.codes] + (rng.random(len(column.codes)) * sizes[column.codes]).astype(np.intp)
    return np.asarray(np.concatenate(pools)[chosen])
