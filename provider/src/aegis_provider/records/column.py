"""A column in memory: its domain, and the place of each record's value in it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aegis_provider.release.blocks import places_of
from aegis_provider.table.values import MISSING, Domain, ValueType

NUMERIC: Final = (ValueType.INTEGER, ValueType.NUMBER)
"""The types whose values are numbers as they stand."""


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table.

    Attributes:
        name: The attribute, or the label.
        domain: Its values.
        places: (records,) The place of each value in the domain.
    """

    name: str
    domain: Domain
    places: NDArray[np.intp]

    @classmethod
    def of(cls, name: str, texts: pa.StringArray, declared: ValueType | None = None) -> Self:
        """Return a column with these texts.

        Raises:
            UnmaskableValueError: A text is not a value of the declared type.
        """
        domain = Domain.of(texts.unique().to_pylist(), declared)
        return cls(name, domain, places_of(texts, domain.places))

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """(values,) The number of each value; see `numbers_of`."""
        return numbers_of(self.domain)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(values,) How many records have each value."""
        return np.bincount(self.places, minlength=len(self.domain)).astype(np.int64)

    @property
    def missing(self) -> int | None:
        """The place of the missing value in the domain; `None` if there is none."""
        return self.domain.places.get(MISSING)

    def take(self, rows: NDArray[Any]) -> Self:
        """Return the column of these records, with the same domain."""
        return replace(self, places=self.places[rows])


def numbers_of(domain: Domain) -> NDArray[np.float64] | None:
    """(values,) The numbers of a domain, dates as days, NaN if missing; `None` if some values are neither."""
    if domain.value_type == ValueType.DATE:
        return as_numbers([None if key is None else key.toordinal() for key in domain.keys])
    return as_numbers(domain.keys) if domain.value_type in NUMERIC else None


def as_numbers(keys: Sequence[Any]) -> NDArray[np.float64]:
    """(values,) The keys as floats, NaN for `None`."""
    return np.array(keys, dtype=np.float64)
