"""Bins of numbers with many values: quantiles at round edges, and every frequent number in a bin of its own."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

import ibis

from aegis_provider.table import Table
from aegis_provider.table.arithmetic import plain
from aegis_provider.table.discretization import (
    Binned,
    CutBins,
    Edges,
    EqualFrequency,
    discretized,
    number_of,
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
    reading = binned.reading(name)
    cuts = reading.bins.edges if isinstance(reading, Binned) and isinstance(reading.bins, CutBins) else ()
    return sorted({Decimal(plain(each.normalize())) for each in (*cuts, *_around_frequent(table, name))})


def _around_frequent(table: Table, name: str) -> Iterator[Decimal]:
    """Yield every number that alone would fill a bin, unless it is the first, and the roundest before the next."""
    [place] = table.positions([name])
    numbers = table.source.select(x=number_of(table.source[f"c{place}"])).filter(ibis._.x.notnull())
    each = numbers.group_by("x").aggregate(n=ibis._.count())
    total = each["n"].sum().over()
    beside = each.mutate(
        total=total, before=each["x"].lag().over(order_by="x"), after=each["x"].lead().over(order_by="x")
    )
    for found in table.engine.fetch(beside.filter(beside["n"] * BINS >= beside["total"])).to_pylist():
        if found["before"] is not None:
            yield roundest_above(found["before"], found["x"])
        if found["after"] is not None:
            yield roundest_above(found["x"], found["after"])
