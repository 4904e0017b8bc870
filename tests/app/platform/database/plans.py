"""What the service asks PostgreSQL, and by which plans it is answered."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import Connection, event
from sqlalchemy.engine import Engine

#: The tables that may be read from the beginning to the end, and why. All others grow with what is published, asked
#: and done.
SMALL = {
    "alembic_version": "one row",
    "audit_key": "one row for each key that has signed",
    "compatible_revision": "one row for each revision",
    "procrastinate_periodic_defers": "empty: no task is periodic",
    "procrastinate_workers": "a row for each lane of each worker",
    "saved_search": "at most 100 rows for each customer, which each publication compares",
    "server_key": "one row",
    "tenant": "one row for each customer",
    "webhook": "a few rows for each customer",
}
_KNOWS_GENERIC_PLANS = 160_000
_TABLES = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
_COST = re.compile(r"cost=[\d.]+\.\.([\d.]+)")
_EXPLAINED = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b")
_PARAMETER = re.compile(r"%\((\w+)\)s")
#: What the driver says of parameters that have no cast in the text.
_CASTS = {timedelta: "::interval", bytes: "::bytea"}


@dataclass(frozen=True)
class Statement:
    """A statement with its parameters, and whether it is planned anew each time that it is sent."""

    text: str
    parameters: dict[str, Any]
    is_planned_each_time: bool

    def plans(self, connection: psycopg.Connection[Any]) -> list[str]:
        """The plans by which PostgreSQL may answer it.

        One is for these parameters. Once it is prepared, PostgreSQL may keep one that is for any, unless that costs
        more.
        """
        own = _explained(connection, "EXPLAIN ", self.text, self.parameters)
        if self.is_planned_each_time or connection.info.server_version < _KNOWS_GENERIC_PLANS:
            return [own]
        numbers = {name: f"${place}" for place, name in enumerate(self.parameters, 1)}
        casts = {name: _CASTS.get(type(value), "") for name, value in self.parameters.items()}
        numbered = _PARAMETER.sub(lambda name: numbers[name[1]] + casts[name[1]], self.text).replace("%%", "%")
        for_any = _explained(connection, "EXPLAIN (GENERIC_PLAN) ", numbered)
        return [own, for_any] if _cost(for_any) <= _cost(own) else [own]


@contextmanager
def captured() -> Iterator[list[Statement]]:
    """The statements that are sent in the block, each once."""
    statements: dict[str, Statement] = {}
    planned_each_time: set[Connection] = set()

    def capture(sender: Connection, __: object, text: str, parameters: Any, *___: object) -> None:
        if "force_custom_plan" in text:
            planned_each_time.add(sender)
        if _EXPLAINED.match(text):
            first = parameters[0] if isinstance(parameters, list) else parameters
            statements.setdefault(text, Statement(text, dict(first or {}), sender in planned_each_time))

    noted: list[Statement] = []
    event.listen(Engine, "before_cursor_execute", capture)
    try:
        yield noted
    finally:
        event.remove(Engine, "before_cursor_execute", capture)
        noted.extend(statements.values())


def growing(connection: psycopg.Connection[Any]) -> set[str]:
    """The tables that grow with what is published, asked and done."""
    return {name for (name,) in connection.execute(_TABLES)} - SMALL.keys()


def scans(connection: psycopg.Connection[Any], statements: list[Statement]) -> list[str]:
    """The statements, with their plans, that read a growing table from its beginning to its end."""
    scan = re.compile(rf"Seq Scan on ({'|'.join(growing(connection))})\b")
    plans = ((one.text, plan) for one in statements for plan in one.plans(connection))
    return [f"{text}\n{plan}" for text, plan in plans if scan.search(plan)]


def _explained(connection: psycopg.Connection[Any], how: str, text: str, parameters: Any = None) -> str:
    rows = connection.execute(sql.SQL(how) + sql.SQL(text), parameters)
    return "\n".join(line for (line,) in rows)


def _cost(plan: str) -> float:
    cost = _COST.search(plan)
    assert cost
    return float(cost[1])
