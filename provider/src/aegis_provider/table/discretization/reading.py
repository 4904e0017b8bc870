"""A column of numbers, read as the bins that hold them."""

from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa

from aegis_provider.table.arithmetic import interval_name
from aegis_provider.table.discretization.bins import Bins
from aegis_provider.table.engine import Expression
from aegis_provider.table.reading import Reading, translated
from aegis_provider.table.values import MISSING

# What `decimal_of` takes for a number, but for exponents that no double has.
_NUMBER = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-2]?[0-9]?[0-9])?$"


def number_of(value: Expression) -> Expression:
    """The value as a double; NULL where it is missing, not a number or not finite. `value`: of numbers, or of texts."""
    if value.type().is_string():
        return value.re_search(_NUMBER).ifelse(value, None).cast("float64")
    number = value.cast("float64")
    return (number.isnan() | number.isinf()).ifelse(None, number) if value.type().is_floating() else number


def not_a_number(value: Expression) -> Expression:
    """The value's text where it is there and no finite number, else NULL."""
    if value.type().is_string():
        return ((value != MISSING) & ~value.re_search(_NUMBER)).ifelse(value, None)
    if value.type().is_floating():
        return value.isinf().ifelse(value.cast("string"), None)
    return value.isnull().ifelse(None, None).cast("string")


@dataclass(frozen=True, kw_only=True)
class Binned(Reading):
    """The engine tells the values by the number of their bin, so that bins come back and never the values."""

    bins: Bins
    type: str = "int64"

    def key(self, value: Expression) -> Expression:
        """The number of the bin, NULL outside of all."""
        return self.bins.code(number_of(value))

    def canonical(self, texts: pa.Array) -> pa.Array:
        """The bins as intervals, `[0.5,1.0)`."""
        return translated(texts, lambda text: interval_name(*self.bins.bounds(int(text))) if text else MISSING)

    def key_of(self, text: str) -> int:
        """The number of the bin of that name."""
        return self.bins.beginning_at(Decimal(text[1:].partition(",")[0]))

    def bounds_of(self, text: str) -> tuple[Decimal, Decimal]:
        """The ends of the bin of that name."""
        return self.bins.bounds(self.key_of(text))

    def _written(self, key: Expression) -> Expression:
        return key.cast("string")
