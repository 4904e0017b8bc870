"""Bins: half-open intervals of numbers, numbered in order. Engines compute the bin of a number, and read columns as
bins.

Numbers and edges are compared as doubles, each edge as the nearest double. Columns of decimals and of doubles thus fall
into the same bins, and a value that is written like an edge (0.3) begins its bin. Only values that differ from an edge
after its 15th digit may be confused with it.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

import pyarrow as pa

from aegis_provider.table.arithmetic import floor_ratio, interval_name, minus, plus, times
from aegis_provider.table.engine import Expression
from aegis_provider.table.late import ibis
from aegis_provider.table.reading import AS_TEXT, Reading, translated
from aegis_provider.table.values import MISSING, Domain, ValueType

_EXACT = 2**53

# What `decimal_of` accepts as a number, except for exponents beyond those of doubles.
_NUMBER = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-2]?[0-9]?[0-9])?$"

# Larger and smaller than every positive number that a plan can state.
_HUGE = Decimal("1e1500")
_TINY = Decimal("1e-1500")


class Bins(Protocol):
    """The bins of one attribute."""

    def code(self, number: Expression) -> Expression:
        """Return the number of the bin that contains a double; NULL outside all bins, or if the double is NULL."""
        ...

    def bounds(self, code: int) -> tuple[Decimal, Decimal]:
        """Return the ends of a bin, which includes the lower one."""
        ...

    def beginning_at(self, lower: Decimal) -> int:
        """Return the number of the bin with this lower end."""
        ...


@dataclass(frozen=True)
class EvenBins:
    """`[origin + i * width, origin + (i + 1) * width)`, for every integer `i`."""

    width: Decimal
    origin: Decimal = Decimal(0)

    def code(self, number: Expression) -> Expression:
        """Return `i`, estimated by a division and corrected by comparing the number with the ends of its bin.

        An edge is a quotient of two integers that are exact in doubles, so it becomes the nearest double (IEEE 754).
        """
        scale, width, origin = self._integers()
        guess = ((number * _double(scale) - _double(origin)) / _double(width)).floor()
        ends = [(_double(origin) + each * _double(width)) / _double(scale) for each in (guess, guess + 1)]
        above = (number >= ends[1]).ifelse(1, 0)
        below = (number < ends[0]).ifelse(1, 0)
        return guess.cast("int64") + above - below

    def bounds(self, code: int) -> tuple[Decimal, Decimal]:
        """Return the exact ends."""
        lower = plus(self.origin, times(Decimal(code), self.width))
        return lower, plus(lower, self.width)

    def beginning_at(self, lower: Decimal) -> int:
        """Return the distance from the origin in widths."""
        return int(floor_ratio(minus(lower, self.origin), self.width))

    def count(self, lowest: float, highest: float) -> int:
        """Return the number of bins from one number to the other."""
        return int((Decimal(highest) - Decimal(lowest)) / self.width) + 1

    def are_exact(self, lowest: float, highest: float) -> bool:
        """Return whether `code` is exact in doubles for numbers between these."""
        scale, width, _ = self._integers()
        farthest = max(abs(Decimal(lowest)), abs(Decimal(highest))) * scale + width
        return scale <= 10**15 and max(farthest, abs(self.origin) * scale) < _EXACT

    def _integers(self) -> tuple[int, int, int]:
        """Return the power of ten that turns width and origin into integers, and these integers."""
        decimals = max(0, *(-int(each.as_tuple().exponent) for each in (self.width, self.origin)))
        scale = 10**decimals
        return scale, int(self.width * scale), int(self.origin * scale)


@dataclass(frozen=True)
class CutBins:
    """`[edges[i], edges[i + 1])`; the edges ascend, the first and last may be infinite."""

    edges: tuple[Decimal, ...]

    def code(self, number: Expression) -> Expression:
        """Return `i`, found by bisection."""
        inside = (number >= _double(self.edges[0])) & (number < _double(self.edges[-1]))
        return inside.ifelse(self._halved(number, 0, len(self.edges) - 2), None)

    def bounds(self, code: int) -> tuple[Decimal, Decimal]:
        """Return the edges on both sides."""
        return self.edges[code], self.edges[code + 1]

    def beginning_at(self, lower: Decimal) -> int:
        """Return the place of the edge."""
        return self.edges.index(lower)

    def _halved(self, number: Expression, first: int, last: int) -> Expression:
        if first == last:
            return ibis.literal(first, "int64")
        middle = (first + last + 1) // 2
        upper, lower = self._halved(number, middle, last), self._halved(number, first, middle - 1)
        return (number >= _double(self.edges[middle])).ifelse(upper, lower)


def _double(number: Decimal | int) -> Expression:
    """Return the double nearest to a number, by its text, which every engine reads alike."""
    return ibis.literal(repr(float(number))).cast("float64")


def number_of(value: Expression) -> Expression:
    """Return the value, a number or text, as a double; NULL if it is missing, not a number or not finite."""
    if value.type().is_string():
        return value.re_search(_NUMBER).ifelse(value, None).cast("float64")
    number = value.cast("float64")
    return (number.isnan() | number.isinf()).ifelse(None, number) if value.type().is_floating() else number


def plain_key(reading: Reading, value: Expression) -> Expression:
    """Return the plain form of a value: texts by their reading, other types unchanged."""
    return reading.key(value) if value.type().is_string() else value


def is_number(text: str) -> bool:
    """Return whether `number_of` reads a text as a number."""
    return re.fullmatch(_NUMBER, text) is not None


def not_a_number(value: Expression) -> Expression:
    """Return the value's text if the value is present but not a finite number, otherwise NULL."""
    if value.type().is_string():
        return ((value != MISSING) & ~value.re_search(_NUMBER)).ifelse(value, None)
    if value.type().is_floating():
        return value.isinf().ifelse(value.cast("string"), None)
    return value.isnull().ifelse(None, None).cast("string")


@dataclass(frozen=True, kw_only=True)
class Binned(Reading):
    """The reading of values as bins: the engine groups by the number of the bin, and never returns the values.

    Attributes:
        bins: The bins.
        of: The original reading of the values.
    """

    bins: Bins
    of: Reading = AS_TEXT
    type: str = "int64"

    def key(self, value: Expression) -> Expression:
        """Return the number of the bin, or NULL outside all bins."""
        return self.bins.code(number_of(plain_key(self.of, value)))

    def canonical(self, texts: pa.Array) -> pa.Array:
        """Return the bins as intervals, such as `[0.5,1.0)`."""
        return translated(texts, lambda text: interval_name(*self.bins.bounds(int(text))) if text else MISSING)

    def key_of(self, text: str) -> int:
        """Return the number of the bin with this name."""
        return self.bins.beginning_at(Decimal(text[1:].partition(",")[0]))

    def bounds_of(self, text: str) -> tuple[Decimal, Decimal]:
        """Return the ends of the bin with this name."""
        return self.bins.bounds(self.key_of(text))

    def ends(self, domain: Domain) -> tuple[Domain, Domain]:
        """Return the bins as two domains of numbers: the lowest number of each, and one just below its upper end."""
        bounds = [None if text == MISSING else self.bounds_of(text) for text in domain.texts]
        low = [None if bound is None else max(bound[0], -_HUGE) for bound in bounds]
        high = [None if bound is None else minus(min(bound[1], _HUGE), _TINY) for bound in bounds]
        lowest, highest = (Domain(ValueType.NUMBER, domain.texts, tuple(keys), domain.places) for keys in (low, high))
        return lowest, highest

    def _written(self, key: Expression) -> Expression:
        return key.cast("string")
