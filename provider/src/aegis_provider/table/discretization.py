"""Discretization of continuous attributes: the rules of a plan, and their bins for a table.

Bins are half-open intervals of numbers, numbered in order. Engines compute the bin of a number, and read columns as
bins. Numbers and edges are compared as doubles, each edge as the nearest double. So columns of decimals and of doubles
fall into the same bins, and a value that is written like an edge (0.3) begins its bin. Only values that differ from an
edge after its 15th digit may be confused with it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from itertools import pairwise
from math import ceil
from typing import Any, ClassVar, TypeAlias

import pyarrow as pa

from aegis_provider.errors import TableError, shortened
from aegis_provider.table import Table
from aegis_provider.table.arithmetic import floor_ratio, interval_name, json_number, minus, plus, times
from aegis_provider.table.engine import Expression, ibis
from aegis_provider.table.notation import Writing, odd_texts, plainly, recognised_in
from aegis_provider.table.reading import AS_TEXT, Reading, translated
from aegis_provider.table.values import MISSING, Domain, ValueType

_EXACT = 2**53

# What `decimal_of` accepts as a number, except for exponents beyond those of doubles.
_NUMBER = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-2]?[0-9]?[0-9])?$"

# Larger and smaller than every positive number that a plan can state.
_HUGE = Decimal("1e1500")
_TINY = Decimal("1e-1500")


@dataclass(frozen=True)
class EvenBins:
    """`[origin + i * width, origin + (i + 1) * width)`, for every integer `i`."""

    width: Decimal
    origin: Decimal = Decimal(0)

    def code(self, number: Expression) -> Expression:
        """Return `i`, estimated by a division and corrected by comparing the number with the ends of its bin.

        An edge is a quotient of two integers that are exact in doubles, so it becomes the nearest double (IEEE 754).
        """
        scale, width, origin = self.integers()
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

    def integers(self) -> tuple[int, int, int]:
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


Bins: TypeAlias = EvenBins | CutBins
"""The bins of one attribute, by their numbers."""


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

    def ends(self, domain: Domain) -> tuple[Domain, Domain]:
        """Return the bins as two domains of numbers: the lowest number of each, and one just below its upper end."""
        bounds = [None if text == MISSING else self.bins.bounds(self.key_of(text)) for text in domain.texts]
        low = [None if bound is None else max(bound[0], -_HUGE) for bound in bounds]
        high = [None if bound is None else minus(min(bound[1], _HUGE), _TINY) for bound in bounds]
        lowest, highest = (Domain(ValueType.NUMBER, domain.texts, tuple(keys), domain.places) for keys in (low, high))
        return lowest, highest

    def text(self, key: Expression) -> Expression:
        """Return the number of the bin as text, `""` if there is none."""
        return super().text(key.cast("string"))


INFINITE = Decimal("inf")

# The share of a bin's records by which a cut may move to a rounder number.
_LEEWAY = 0.05


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers of a column: their count, the smallest and the largest."""

    table: Table
    place: int
    count: int
    lowest: float
    highest: float

    def at(self, ranks: Sequence[int]) -> list[float]:
        """Return the exact numbers at these ranks on every engine, from the frequency of each number."""
        number = number_of(plain_key(self.table.readings[self.place], self.table.source[f"c{self.place}"]))
        each = self.table.source.select(x=number).filter(ibis._.x.notnull()).group_by("x").aggregate(n=ibis._.count())
        upto = each.mutate(upto=each["n"].sum().over(rows=(None, 0), order_by=each["x"]))
        wanted = sorted(set(ranks))
        smallest = upto.aggregate(**{f"r{rank}": upto["x"].min(where=upto["upto"] >= rank) for rank in wanted})
        numbers = self.table.engine.fetch(smallest).to_pylist()[0]
        return [float(numbers[f"r{rank}"]) for rank in ranks]


@dataclass(frozen=True)
class EqualWidth:
    """Bins of equal width, from the origin in both directions."""

    name: ClassVar[str] = "equal_width"
    width: Decimal
    origin: Decimal = Decimal(0)

    def bins(self, numbers: Numbers) -> EvenBins:
        """Return the bins, which do not depend on the numbers."""
        del numbers
        return EvenBins(self.width, self.origin)


@dataclass(frozen=True)
class Edges:
    """Bins between edges from the plan; numbers outside the edges are treated like missing ones."""

    name: ClassVar[str] = "edges"
    edges: tuple[Decimal, ...]

    def bins(self, numbers: Numbers) -> CutBins:
        """Return the bins, which do not depend on the numbers."""
        del numbers
        return CutBins(self.edges)


@dataclass(frozen=True)
class EqualFrequency:
    """At most `number` bins with about the same number of records; the first and the last are open.

    Every cut is the roundest number that leaves each bin within a tenth of its share. Records with the same number stay
    together, so many such records make bins larger and fewer.
    """

    name: ClassVar[str] = "equal_frequency"
    number: int

    def bins(self, numbers: Numbers) -> CutBins:
        """Return the bins between the cuts of a column's numbers."""
        total, share = numbers.count, numbers.count / self.number
        middles = [round(place * share) for place in range(1, self.number)]
        leeway = int(_LEEWAY * share)
        ranks = [(max(rank - leeway, 1), min(rank + leeway + 1, total)) for rank in middles if 0 < rank < total]
        bounds = numbers.at([1, *(rank for both in ranks for rank in both)])
        cuts = {roundest_above(*both) for both in zip(bounds[1::2], bounds[2::2], strict=True)}
        edges = sorted(cut for cut in cuts if cut > Decimal(repr(bounds[0])))
        return CutBins((-INFINITE, *edges, INFINITE))


@dataclass(frozen=True)
class FreedmanDiaconis:
    """Bins of the width `2 IQR / n^(1/3)`, rounded to 1, 2 or 5 times a power of ten; the origin is 0.

    Freedman and Diaconis, On the histogram as a density estimator: L2 theory (1981).
    """

    name: ClassVar[str] = "freedman_diaconis"

    def bins(self, numbers: Numbers) -> EvenBins:
        """Return the bins for the quartiles of a column.

        Raises:
            ValueError: The quartiles are equal.
        """
        total = numbers.count
        lower, upper = numbers.at([ceil(total / 4), ceil(3 * total / 4)])
        if lower == upper:
            raise ValueError(
                f"half of its values are {lower!r}, so freedman_diaconis finds no width; choose another rule"
            )
        return EvenBins(_round_width(2 * (upper - lower) / total ** (1 / 3)))


Rule: TypeAlias = EqualWidth | Edges | EqualFrequency | FreedmanDiaconis
"""A rule of a plan for discretising an attribute. `bins` raises a `ValueError` if it has none for these numbers."""


def parameters_of(rule: Rule, bins: Bins) -> dict[str, object]:
    """Return the parameters of a rule and its result, for the entry, as JSON values; `inf` and `-inf` as text."""
    if isinstance(bins, EvenBins):
        return {"width": json_number(bins.width), "origin": json_number(bins.origin)}
    requested = {"bins": rule.number} if isinstance(rule, EqualFrequency) else {}
    return {**requested, "edges": [json_number(edge) for edge in bins.edges]}


def roundest_above(lower: float, upper: float) -> Decimal:
    """Return the roundest decimal above `lower` and at most `upper`, or `upper` itself if the two are equal.

    The roundest is the largest multiple of the highest power of ten that has a multiple there.
    """
    least, most = Decimal(repr(lower)), Decimal(repr(upper))
    last = int(most.as_tuple().exponent)
    for exponent in range(max(least.adjusted(), most.adjusted(), last - 1) + 1, last - 1, -1):
        multiple = _plain(most.quantize(Decimal(1).scaleb(exponent), rounding=ROUND_FLOOR))
        if multiple > least:
            return multiple
    return most


def _round_width(width: float) -> Decimal:
    """Return the nearest number, by ratio, that is 1, 2 or 5 times a power of ten."""
    exact = Decimal(repr(width))
    unit = Decimal(1).scaleb(exact.adjusted())
    steps = [_plain(step * unit) for step in (Decimal(1), Decimal(2), Decimal(5), Decimal(10))]
    for lower, upper in pairwise(steps):
        if exact * exact <= lower * upper:
            return lower
    return steps[-1]


def _plain(number: Decimal) -> Decimal:
    """Return the number without a positive exponent, so that its text has none either."""
    return Decimal(f"{number:f}")


_MOST_BINS = 1_000_000


def discretized(table: Table, rules: Mapping[str, Rule]) -> Table:
    """Return the table with these columns read as bins.

    This reads the table once for all columns, and once more for each column whose rule needs quantiles.

    Raises:
        TableError: A value is not a number, or a rule has no bins for a column.
    """
    if not rules:
        return table
    places = dict(zip(rules, table.positions(list(rules)), strict=True))
    for name, place in places.items():
        kind = table.source[f"c{place}"].type()
        if not (kind.is_string() or kind.is_numeric()) or kind.is_boolean():
            raise TableError(f"{table.name}: {name} is a column of type {kind}; only numbers are discretised")
    asked: dict[str, Expression] = {}
    for place in places.values():
        value = plain_key(table.readings[place], table.source[f"c{place}"])
        number = number_of(value)
        asked |= {f"n{place}": number.count(), f"low{place}": number.min(), f"high{place}": number.max()}
        asked |= {f"odd{place}": not_a_number(value).min()}
    seen = table.engine.fetch(table.source.aggregate(**asked)).to_pylist()[0]
    odd = [name for name, place in places.items() if seen[f"odd{place}"] is not None]
    if forms := {name: recognised_in(table, name, ValueType.NUMBER) for name in odd}:
        writings = {name: Writing(form.form) for name, form in forms.items() if form is not None and form.example}
        for name, each in forms.items():
            if each is not None and each.odd:
                raise odd_texts(table, name, each)
        if (again := plainly(table, writings)) is not table:
            return discretized(again, rules)
    readings = dict(zip(table.columns, table.readings, strict=True))
    return table.read_as(
        {name: Binned(bins=_bins(table, name, rules[name], seen), of=readings[name]) for name in rules}
    )


def undiscretized(table: Table) -> Table:
    """Return the table with the original values of columns that are read as bins."""
    pairs = zip(table.columns, table.readings, strict=True)
    return table.read_as({name: reading.of for name, reading in pairs if isinstance(reading, Binned)})


def _bins(table: Table, name: str, rule: Rule, seen: Mapping[str, Any]) -> Bins:
    place = table.columns.index(name)
    if (odd := seen[f"odd{place}"]) is not None:
        raise TableError(
            f"{table.located(name, odd)}: {name} {shortened(odd)} is not a number that {rule.name} can use"
        )
    if not seen[f"n{place}"]:
        raise TableError(f"{table.name}: {name} has no numbers, but {rule.name} needs some")
    column = Numbers(table, place, int(seen[f"n{place}"]), float(seen[f"low{place}"]), float(seen[f"high{place}"]))
    try:
        bins = rule.bins(column)
    except ValueError as error:
        raise TableError(f"{table.name}: {name}: {error}") from error
    if isinstance(bins, EvenBins):
        lowest, highest = Decimal(column.lowest), Decimal(column.highest)
        number = int((highest - lowest) / bins.width) + 1
        scale, width, origin = bins.integers()
        farthest = max(abs(lowest), abs(highest)) * scale + width
        is_exact = scale <= 10**15 and max(farthest, Decimal(abs(origin))) < _EXACT  # each bin, in doubles
        if number > _MOST_BINS or not is_exact:
            raise TableError(
                f"{table.name}: {name}: a width of {bins.width} makes too many bins of the values from "
                f"{column.lowest!r} to {column.highest!r}; choose a larger one, or another rule"
            )
    return bins
