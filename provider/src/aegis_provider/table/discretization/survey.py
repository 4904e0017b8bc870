"""The bins of a table by the rules of a plan, from queries before the table is counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aegis_provider.errors import TableError, shortened
from aegis_provider.table import Table
from aegis_provider.table.discretization.bins import Binned, Bins, EvenBins, not_a_number, number_of, plain_key
from aegis_provider.table.discretization.rules import Rule
from aegis_provider.table.engine import Expression
from aegis_provider.table.late import ibis
from aegis_provider.table.recognition import odd_texts, recognised_in
from aegis_provider.table.values import ValueType
from aegis_provider.table.writing import Writing, plainly

_MOST_BINS = 1_000_000


@dataclass(frozen=True, eq=False)
class _Column:
    """The numbers of a column: their count, the smallest and the largest."""

    table: Table
    place: int
    count: int
    lowest: float
    highest: float

    def at(self, ranks: Sequence[int]) -> list[float]:
        """Return the exact numbers at these ranks on every engine, from the frequency of each number."""
        number = number_of(_values(self.table, self.place))
        each = self.table.source.select(x=number).filter(ibis._.x.notnull()).group_by("x").aggregate(n=ibis._.count())
        upto = each.mutate(upto=each["n"].sum().over(rows=(None, 0), order_by=each["x"]))
        wanted = sorted(set(ranks))
        smallest = upto.aggregate(**{f"r{rank}": upto["x"].min(where=upto["upto"] >= rank) for rank in wanted})
        numbers = self.table.engine.fetch(smallest).to_pylist()[0]
        return [float(numbers[f"r{rank}"]) for rank in ranks]


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
        _refuse_other_types(table, name, table.source[f"c{place}"].type())
    seen = table.engine.fetch(_survey(table, list(places.values()))).to_pylist()[0]
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


def _values(table: Table, place: int) -> Expression:
    return plain_key(table.readings[place], table.source[f"c{place}"])


def _survey(table: Table, places: Sequence[int]) -> Expression:
    asked: dict[str, Expression] = {}
    for place in places:
        value = _values(table, place)
        number = number_of(value)
        asked |= {f"n{place}": number.count(), f"low{place}": number.min(), f"high{place}": number.max()}
        asked |= {f"odd{place}": not_a_number(value).min()}
    return table.source.aggregate(**asked)


def _bins(table: Table, name: str, rule: Rule, seen: Mapping[str, Any]) -> Bins:
    place = table.columns.index(name)
    if (odd := seen[f"odd{place}"]) is not None:
        raise TableError(
            f"{table.located(name, odd)}: {name} {shortened(odd)} is not a number that {rule.name} can use"
        )
    if not seen[f"n{place}"]:
        raise TableError(f"{table.name}: {name} has no numbers, but {rule.name} needs some")
    column = _Column(table, place, int(seen[f"n{place}"]), float(seen[f"low{place}"]), float(seen[f"high{place}"]))
    try:
        bins = rule.bins(column)
    except ValueError as error:
        raise TableError(f"{table.name}: {name}: {error}") from error
    _refuse_too_many(column, name, bins)
    return bins


def _refuse_too_many(column: _Column, name: str, bins: Bins) -> None:
    if not isinstance(bins, EvenBins):
        return
    extent = (column.lowest, column.highest)
    if bins.count(*extent) > _MOST_BINS or not bins.are_exact(*extent):
        raise TableError(
            f"{column.table.name}: {name}: a width of {bins.width} makes too many bins of the values from "
            f"{extent[0]!r} to {extent[1]!r}; choose a larger one, or another rule"
        )


def _refuse_other_types(table: Table, name: str, dtype: Any) -> None:  # noqa: ANN401 - Ibis has no types
    if not (dtype.is_string() or dtype.is_numeric()) or dtype.is_boolean():
        raise TableError(f"{table.name}: {name} is a column of type {dtype}; only numbers are discretised")
