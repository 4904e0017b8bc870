"""Counts of many groupings of a table in one reading, by `GROUPING SETS`, which Ibis has no word for."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import ibis
import sqlglot.expressions as sge
from sqlglot import column, func, select

from aegis_provider.table.engine import Engine, Expression

Two: TypeAlias = tuple[str, str]
Shown: TypeAlias = Callable[[str, Expression], Expression]
"""Of a column's name and its key: what is shown of the key."""


def counts_of_sets(engine: Engine, keys: Expression, sets: Sequence[Two], shown: Shown) -> Expression:
    """How many records have each two keys of each two columns: `place`, `first`, `second`, `n`.

    `place`: which of the `sets`; of each the combinations that occur. `keys`: a table expression that has the columns.
    """
    grouped = engine.sql(_query(engine, keys, sets), _schema(keys))
    here = [(grouped[f"{first}_absent"] == 0) & (grouped[f"{second}_absent"] == 0) for first, second in sets]
    columns = {name: shown(name, grouped[name]) for name in keys.columns}
    return grouped.select(
        place=ibis.cases(*((found, place) for place, found in enumerate(here))),
        first=ibis.cases(*((found, columns[first]) for found, (first, _) in zip(here, sets, strict=True))),
        second=ibis.cases(*((found, columns[second]) for found, (_, second) in zip(here, sets, strict=True))),
        n=grouped["n"],
    )


def _query(engine: Engine, keys: Expression, sets: Sequence[Two]) -> str:
    names = {name: column(name, quoted=True) for name in keys.columns}
    absent = [func("grouping", each).as_(f"{name}_absent", quoted=True) for name, each in names.items()]
    count = sge.Count(this=sge.Star()).as_("n", quoted=True)
    inner = engine.backend.compiler.to_sqlglot(keys)
    query = select(*names.values(), *absent, count).from_(inner.subquery("keys"))
    tuples = [sge.Tuple(expressions=[names[name] for name in each]) for each in sets]
    query.set("group", sge.Group(grouping_sets=[sge.GroupingSets(expressions=tuples)]))
    return query.sql(dialect=engine.backend.dialect)


def _schema(keys: Expression) -> dict[str, object]:
    absent = dict.fromkeys((f"{name}_absent" for name in keys.columns), "int64")
    types = {name: dtype.copy(nullable=True) for name, dtype in keys.schema().items()}
    return {**types, **absent, "n": "int64"}
