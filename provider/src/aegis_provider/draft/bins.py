"""The bins in which a draft counts the numbers of a column."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final

import ibis

from aegis_provider.counting.counted_table import LEAST
from aegis_provider.counting.label_scores import middles, to_two_digits
from aegis_provider.errors import TableError, shortened
from aegis_provider.plan.model import Attribute
from aegis_provider.table import Table
from aegis_provider.table.arithmetic import is_round, plain
from aegis_provider.table.discretization import (
    INFINITE,
    Binned,
    CutBins,
    Edges,
    EqualFrequency,
    discretized,
    number_of,
    plain_key,
    roundest_above,
)
from aegis_provider.table.values import MISSING

#: Number of bins, with about equally many records each.
BINS: Final = 32


def bins_of(table: Table, names: Sequence[str]) -> dict[str, Edges]:
    """Return the edges of the bins of these columns of numbers, independent of the label.

    The table is read twice for each column: for quantiles, and for numbers that would fill a bin alone. Zero is often
    one, with another meaning than nearby numbers.

    Raises:
        TableError: A value is not a number.
    """
    binned = discretized(table, dict.fromkeys(names, EqualFrequency(BINS)))
    return {name: Edges(tuple(_edges(table, name, binned))) for name in names}


def _edges(table: Table, name: str, binned: Table) -> list[Decimal]:
    """Return the edges of a column's bins, except those that disclose a rare number, unless it is round."""
    counted = _counted(table, name)
    edges = {*_cuts(binned, name), *_around(_frequent(table, counted, BINS))}
    return _untelling(table, counted, edges)


def _cuts(binned: Table, name: str) -> tuple[Decimal, ...]:
    reading = binned.reading(name)
    edges = reading.bins.edges if isinstance(reading, Binned) and isinstance(reading.bins, CutBins) else ()
    return tuple(Decimal(plain(edge.normalize())) for edge in edges)


def _untelling(table: Table, counted: ibis.Table, edges: Collection[Decimal]) -> list[Decimal]:
    """Return these edges in order, without rare numbers that are not round."""
    telling = {float(edge) for edge in edges if edge.is_finite() and not is_round(edge)}
    rare = counted.filter(counted["x"].isin(sorted(telling)) & (counted["n"] < LEAST)) if telling else None
    told = set() if rare is None else {row["x"] for row in table.engine.fetch(rare).to_pylist()}
    return sorted(edge for edge in edges if float(edge) not in told)


def _counted(table: Table, name: str) -> ibis.Table:
    """Return the distinct numbers of a column, `x`, with the number of records of each, `n`."""
    [place] = table.positions([name])
    value = plain_key(table.readings[place], table.source[f"c{place}"])
    numbers = table.source.select(x=number_of(value)).filter(ibis._.x.notnull())
    return numbers.group_by("x").aggregate(n=ibis._.count())


def _frequent(table: Table, counted: ibis.Table, bins: int) -> list[Mapping[str, float | None]]:
    """Return the numbers that would each fill one of so many bins alone, `x`, with their neighbours."""
    total = counted["n"].sum().over()
    beside = counted.mutate(
        total=total, before=counted["x"].lag().over(order_by="x"), after=counted["x"].lead().over(order_by="x")
    )
    frequent = beside.filter(beside["n"] * bins >= beside["total"]).select("x", "before", "after")
    found: list[Mapping[str, float | None]] = table.engine.fetch(frequent).to_pylist()
    return found


def _around(frequent: Sequence[Mapping[str, float | None]]) -> Iterator[Decimal]:
    """Yield edges around each of these numbers: the roundest between it and its neighbours."""
    for each in frequent:
        for lower, upper in ((each["before"], each["x"]), (each["x"], each["after"])):
            if lower is not None and upper is not None:
                yield Decimal(plain(roundest_above(lower, upper).normalize()))


#: The most bins of a label: finer ones tell little more of a number, and identify people.
LABEL_BINS: Final = 20

_DOMINANT: Final = 0.1


def label_in_bins(table: Table, name: str, least: int, person: str | None) -> Attribute:
    """Return the bins of a label that is a number, with the score of each, and the number's variance.

    A number of over a twentieth of the records has a bin of its own; the others have about equally many records. Edges
    are round, the ends open, and bins have records of at least `least` people. The score of a bin is its middle, for
    whole numbers that of the first and the last. That of an open bin is its mean: its edge, and the mean distance from
    it to two digits, unless somebody has over a tenth of the sum of distances; then half the width of its neighbour
    away from its edge. The variance is the mean square of distances from the mean, likewise; if somebody has over a
    tenth of that sum, it is not stated.

    Args:
        person: The column that says whose a record is.

    Raises:
        TableError: A value is not a number, or there are fewer than two bins.
    """
    numbers = _numbers(table, name, person)
    edges = _label_edges(table, name)
    edges = _with_people(edges, _people_in(table, numbers, edges), least)
    if len(edges) <= 2:  # noqa: PLR2004 - the ends of a single bin
        raise TableError(
            f"{table.name}: the label {shortened(name)} has no two bins of {least} people or more; name another"
        )
    x = numbers["x"]
    [seen] = table.engine.fetch(numbers.aggregate(mean=x.mean(), parts=(x != x.floor()).sum())).to_pylist()
    scores = [middle - 0.5 * (not seen["parts"]) for middle in middles(edges)]
    for place, edge in ((0, edges[1]), (-1, edges[-2])):
        within = x < float(edge) if place == 0 else x >= float(edge)
        away = _mean(table, numbers.filter(within).mutate(x=ibis._.x - float(edge)))
        scores[place] = scores[place] if away is None else float(edge + Decimal(repr(away)))
    variance = _mean(table, numbers.mutate(x=(x - float(seen["mean"])) ** 2))
    return Attribute(name, None, (), Edges(tuple(edges)), scores=tuple(scores), variance=variance)


def _label_edges(table: Table, name: str) -> list[Decimal]:
    """Return the edges of a label's bins: around frequent numbers, and between quantiles of the others."""
    counted = _counted(table, name)
    frequent = _frequent(table, counted, LABEL_BINS)
    [place] = table.positions([name])
    number = number_of(plain_key(table.readings[place], table.source[f"c{place}"]))
    others = table.source.filter(number.notnull())
    others = others.filter(number.notin([each["x"] for each in frequent])) if frequent else others
    edges = {-INFINITE, INFINITE, *_around(frequent)}
    if len(frequent) < LABEL_BINS and table.engine.fetch(others.limit(1)).num_rows:
        rule = EqualFrequency(LABEL_BINS - len(frequent))
        edges |= {*_cuts(discretized(replace(table, source=others), {name: rule}), name)}
    return _untelling(table, counted, edges)


def _numbers(table: Table, name: str, person: str | None) -> ibis.Table:
    """Return the numbers of a column, `x`, and `who` has each; records without a person are one's."""
    [place] = table.positions([name])
    columns = {"x": number_of(plain_key(table.readings[place], table.source[f"c{place}"])).cast("float64")}
    if person is not None:
        [of] = table.positions([person])
        columns["who"] = table.readings[of].key(table.source[f"c{of}"]).cast("string").fill_null(MISSING)
    return table.source.select(**columns).filter(ibis._.x.notnull())


def _people_in(table: Table, numbers: ibis.Table, edges: Sequence[Decimal]) -> list[int]:
    """Return how many people have numbers in each bin."""
    coded = numbers.mutate(bin=CutBins(tuple(edges)).code(numbers["x"]))
    many = coded["who"].nunique() if "who" in numbers.columns else coded.count()
    seen = table.engine.fetch(coded.group_by("bin").aggregate(n=many)).to_pylist()
    people = {row["bin"]: int(row["n"]) for row in seen}
    return [people.get(code, 0) for code in range(len(edges) - 1)]


def _with_people(edges: Sequence[Decimal], people: Sequence[int], least: int) -> list[Decimal]:
    """Return the edges without those between bins to merge: each with too few people, and its smaller neighbour.

    While there are more than 20, the smallest is one, too.

    A person in both is counted twice, so a merged bin is merged again unless one of its parts has enough, or several.
    """
    edges, people = list(edges), list(people)
    while len(people) > 1 and (min(people) < least or len(people) > LABEL_BINS):
        place = people.index(min(people))
        beside = min((at for at in (place - 1, place + 1) if 0 <= at < len(people)), key=people.__getitem__)
        people[min(place, beside)] = people[place] + people[beside]
        del people[max(place, beside)], edges[max(place, beside)]
    return edges


def _mean(table: Table, numbers: ibis.Table) -> float | None:
    """Return the mean to two digits, unless somebody has over a tenth of the sum of absolute values."""
    each = numbers.mutate(size=numbers["x"].abs(), n=ibis.literal(1))
    if "who" in numbers.columns:
        each = each.group_by("who").aggregate(size=each["size"].sum(), x=each["x"].sum(), n=each["n"].sum())
    sums = each.aggregate(most=each["size"].max(), size=each["size"].sum(), x=each["x"].sum(), n=each["n"].sum())
    [seen] = table.engine.fetch(sums).to_pylist()
    size = float(seen["size"] or 0)
    if not seen["n"] or seen["most"] > _DOMINANT * size or not math.isfinite(size):
        return None
    return to_two_digits(float(seen["x"]) / int(seen["n"]), size / int(seen["n"]))
