"""DuckDB with bounded memory, column types, and error messages of one sentence."""

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any
from uuid import uuid4

import duckdb

from aegis_provider.errors import CONVERT, TableError, shortened
from aegis_provider.table.engine import Engine, Expression
from aegis_provider.table.late import ibis

_THREADS = 4
_LONGEST = 200
_MEMORY = re.compile(r"\s*(?=[\d.]*[1-9])\d*\.?\d+\s*(?:[KMGT]i?B|%)\s*", re.ASCII | re.IGNORECASE)


def duckdb_engine(
    name: str,
    connection: duckdb.DuckDBPyConnection,
    connected: Callable[[], Any] | None = None,
    *,
    several: bool = False,
) -> Engine:
    """Return the engine of an open DuckDB; with `several` files, error messages name the file.

    `connected` returns its Ibis backend, if any.
    """
    backend = connected or (lambda: ibis.duckdb.from_connection(connection))
    # Arrow wraps the errors of DuckDB in a stream.
    return Engine(name, backend, (duckdb.Error, OSError), partial(_explained, several=several), connection)


@contextmanager
def bounded(connection: duckdb.DuckDBPyConnection, memory_limit: str) -> Iterator[None]:
    """Limit DuckDB's memory, with a temporary directory for the rest. At the end, close DuckDB and remove the
    directory.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="aegis-") as spill:
            _bound(connection, memory_limit, spill)
            yield
            connection.close()
    finally:
        connection.close()


def _bound(connection: duckdb.DuckDBPyConnection, memory_limit: str, spill: str) -> None:
    _limit_memory(connection, memory_limit)
    connection.execute("SET temp_directory = $1", [spill])
    connection.execute(
        "SET python_enable_replacements = false"
    )  # names in SQL never refer to variables of this process
    connection.execute("SET TimeZone = 'UTC'")  # the same text everywhere for moments without a zone
    hide_progress(connection)
    # The minimum and maximum in a Parquet file omit NaN, and DuckDB 2.0 concludes that there is none.
    connection.execute("SET disabled_optimizers = 'statistics_propagation'")
    # Every thread of the CSV reader has its own buffers.
    connection.execute("SET threads = $1", [min(_THREADS, os.cpu_count() or 1)])


def hide_progress(connection: duckdb.DuckDBPyConnection) -> None:
    """Switch off the progress bar of Ibis, which would appear among the results on stdout."""
    with suppress(duckdb.InvalidInputException):  # a notebook without ipywidgets has none
        connection.execute("SET enable_progress_bar = false")


def _limit_memory(connection: duckdb.DuckDBPyConnection, memory_limit: str) -> None:
    complaint = TableError(f"{shortened(memory_limit)} is not a memory size; write 500MB or 2GB, for example")
    # DuckDB treats a negative size and "none" as no limit.
    if not _MEMORY.fullmatch(memory_limit):
        raise complaint
    try:
        connection.execute("SET memory_limit = $1", [memory_limit])
    except duckdb.Error as error:
        raise complaint from error


def schema_of(engine: Engine, query: str) -> dict[str, Any]:
    """Return the columns of a query of DuckDB with their Ibis types.

    Raises:
        duckdb.Error: DuckDB rejects the query.
    """
    # Ibis 12 uses a method that DuckDB 2 no longer has.
    described = engine.backend.con.execute(f"DESCRIBE {query}").fetchall()
    read = engine.backend.compiler.type_mapper.from_string
    types = {kind: read(kind) for kind in {kind for _, kind, *_ in described}}  # parse each type once, for wide tables
    return {name: types[kind] for name, kind, *_ in described}


def view_of(engine: Engine, query: str) -> "View":
    """Return a view of a query, so that DuckDB parses its text only once; it grows with the columns.

    Raises:
        TableError: DuckDB rejects the query.
    """
    view = View(engine, f"aegis_{uuid4().hex}")
    engine.execute(f"CREATE TEMP VIEW {view.name} AS {query}")
    return view


@dataclass(frozen=True, eq=False)
class View:
    """A view of DuckDB by its name; any other use turns it into its Ibis expression."""

    engine: Engine
    name: str

    @cached_property
    def expression(self) -> Expression:
        """The view in Ibis."""
        query = f"SELECT * FROM {self.name}"  # noqa: S608 - a name of our own
        with self.engine.complaining():
            return self.engine.sql(query, schema_of(self.engine, query))

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - Ibis has no types
        return getattr(self.expression, name)

    def __getitem__(self, name: str) -> Expression:
        return self.expression[name]


def quoted(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def _explained(error: Exception, *, several: bool) -> str:
    """Return DuckDB's error message as one sentence, without its settings and without the record."""
    text = str(error)
    line = re.search(r"CSV Error on Line: (\d+)", text)
    file = re.search(r"^\s*file\s*=\s*(.+)$", text, re.MULTILINE) if several else None
    where = (f"{file[1]}: " if file else "") + (f"line {line[1]}: " if line else "")
    if fields := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text):
        return f"{where}{fields[2]} fields where the header has {fields[1]}"
    for sign, meaning in _COMPLAINTS.items():
        if sign in text:
            return where + meaning
    return where + (_first_words(text) or f"cannot be read ({type(error).__name__})")


def _first_words(text: str) -> str:
    """Return the first line with content, without the kind of the error."""
    lines = (re.sub(r"^\W*(?:[\w ]+(?:Error|Exception):\s*)+", "", line).strip() for line in text.splitlines())
    return next(filter(None, lines), "")[:_LONGEST]


_COMPLAINTS = {
    "Invalid unicode": f"not UTF-8; {CONVERT}",
    "unterminated quote": "a quoted field ends in the wrong place",
    "invalid state": "not CSV as RFC 4180 defines it; do all lines end alike, and are all quotes closed?",
    "Maximum line size": "a line is longer than 2 MB; is a quote left open?",
    "not a valid DuckDB database": "is not a DuckDB database",
    "Cannot launch in-memory database": "is not a DuckDB database",
    "Out of Memory": "needs more memory than allowed; raise the memory limit (AEGIS_MEMORY_LIMIT)",
}
