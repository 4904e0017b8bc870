"""Bins of numbers with many values: quantiles at round edges, and every frequent number in a bin of its own."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

import ibis

from aegis_provider.counting.published_domain import LEAST
from aegis_provider.table import Table
from aegis_provider.table.arithmetic import is_round, plain
from aegis_provider.table.discretization import (
    Binned,
    CutBins,
    Edges,
    EqualFrequency,
    discretized,
    number_of,
    plain_key,
    roundest_above,
)

#: The bins, with about equally many records each.
BINS: Final = 32


def bins_of(table: Table, names: Sequence[str]) -> dict[str, Edges]:
    """Return the edges of the bins of these columns of numbers. They do not depend on the label.

    The table is read twice for each column: for quantiles, and for the numbers that alone would fill a bin. Zero often
    is one, and tells something else than the numbers beside it.

    Raises:
        TableError: A value is not a number.
    """
    binned = discretized(table, dict.fromkeys(names, EqualFrequency(BINS)))
    return {name: Edges(tuple(_edges(table, name, binned))) for name in names}


def _edges(table: Table, name: str, binned: Table) -> list[Decimal]:
    """Return the edges of a column's bins without those that tell a number of few records, unless it is round."""
    reading = binned.reading(name)
    cuts = reading.bins.edges if isinstance(reading, Binned) and isinstance(reading.bins, CutBins) else ()
    counted = _counted(table, name)
    edges = {Decimal(plain(each.normalize())) for each in (*cuts, *_around_frequent(table, counted))}
    telling = {float(each) for each in edges if each.is_finite() and not is_round(each)}
    rare = counted.filter(counted["x"].isin(sorted(telling)) & (counted["n"] < LEAST)) if telling else None
    told = set() if rare is None else {row["x"] for row in table.engine.fetch(rare).to_pylist()}
    return sorted(each for each in edges if float(each) not in told)


def _counted(table: Table, name: str) -> ibis.Table:
    """Return the different numbers of a column, `x`, with the records of each, `n`."""
    [place] = table.positions([name])
    value = plain_key(table.readings[place], table.source[f"c{place}"])
    numbers = table.source.select(x=number_of(value)).filter(ibis._.x.notnull())
    return numbers.group_by("x").aggregate(n=ibis._.count())


def _around_frequent(table: Table, counted: ibis.Table) -> Iterator[Decimal]:
    """Yield every number that alone would fill a bin, unless it is the first, and the roundest before the next."""
    total = counted["n"].sum().over()
    beside = counted.mutate(
        total=total, before=counted["x"].lag().over(order_by="x"), after=counted["x"].lead().over(order_by="x")
    )
    for found in table.engine.fetch(beside.filter(beside["n"] * BINS >= beside["total"])).to_pylist():
        if found["before"] is not None:
            yield roundest_above(found["before"], found["x"])
        if found["after"] is not None:
            yield roundest_above(found["x"], found["after"])
