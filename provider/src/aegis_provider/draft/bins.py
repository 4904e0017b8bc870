"""The bins in which a draft counts the numbers of a column."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

import ibis

from aegis_provider.counting.counted_table import LEAST
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
    reading = binned.reading(name)
    cuts = reading.bins.edges if isinstance(reading, Binned) and isinstance(reading.bins, CutBins) else ()
    counted = _counted(table, name)
    edges = {Decimal(plain(each.normalize())) for each in (*cuts, *_around_frequent(table, counted))}
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


def _around_frequent(table: Table, counted: ibis.Table) -> Iterator[Decimal]:
    """Yield edges around every number that would fill a bin alone: the roundest between it and its neighbours."""
    total = counted["n"].sum().over()
    beside = counted.mutate(
        total=total, before=counted["x"].lag().over(order_by="x"), after=counted["x"].lead().over(order_by="x")
    )
    for found in table.engine.fetch(beside.filter(beside["n"] * BINS >= beside["total"])).to_pylist():
        if found["before"] is not None:
            yield roundest_above(found["before"], found["x"])
        if found["after"] is not None:
            yield roundest_above(found["x"], found["after"])
