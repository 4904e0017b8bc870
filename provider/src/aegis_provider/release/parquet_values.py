"""The values of a column as Parquet keeps them: typed where nothing is lost by it, texts otherwise."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Self

import pyarrow as pa
import pyarrow.compute as pc

from aegis_provider.release.blocks import Texts, places_of
from aegis_provider.table.values import MISSING, Domain, Key, ValueType


@dataclass(frozen=True, eq=False)
class ParquetColumn:
    """A column of Parquet. `values`: (values of the domain,) each as it is written, null if missing; `None`: as text.

    `domain`: the texts that occur. Numbers are doubles where the shortest text of each double is the very number.
    """

    domain: Domain
    values: pa.Array | None

    @classmethod
    def of(cls, domain: Domain) -> Self:
        """In the type of the domain, where Parquet has it and it holds every value."""
        if domain.value_type not in _TYPES:
            return cls(domain, None)
        kind, convert, holds = _TYPES[domain.value_type]
        if not all(key is None or holds(key) for key in domain.keys):
            return cls(domain, None)
        return cls(domain, pa.array([None if key is None else convert(key) for key in domain.keys], type=kind))

    @property
    def type(self) -> pa.DataType:
        """Of Arrow."""
        return pa.string() if self.values is None else self.values.type

    def written(self, texts: Texts) -> pa.Array:
        """What stands for these texts."""
        if self.values is not None:
            return self.values.take(pa.array(places_of(texts, self.domain.places)))
        return pc.if_else(pc.equal(texts, MISSING), None, texts)


def _fits(number: Decimal) -> bool:
    return -(1 << 63) <= number < 1 << 63


def _is_double(number: Decimal) -> bool:
    return Decimal(repr(float(number))) == number


_TYPES: Final[dict[ValueType, tuple[pa.DataType, Callable[[Key], Any], Callable[[Key], bool]]]] = {
    ValueType.INTEGER: (pa.int64(), int, _fits),
    ValueType.NUMBER: (pa.float64(), float, _is_double),
    ValueType.BOOLEAN: (pa.bool_(), bool, lambda _: True),
    ValueType.DATE: (pa.date32(), lambda day: day, lambda _: True),
}
