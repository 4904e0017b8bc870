"""The engine of a table: runs Ibis expressions, counts many groupings at once, and reports errors in one line.

DuckDB has bounded memory. Ibis is loaded on first use: that takes a quarter of a second, and small CSV files are read
without it.
"""

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from typing import Any, TypeAlias
from uuid import uuid4

import duckdb
import pyarrow as pa

from aegis_provider.errors import CONVERT, TableError, shortened


class _Late:
    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - Ibis has no types
        return getattr(import_module("ibis"), name)


ibis: Any = _Late()


Expression: TypeAlias = Any
"""An Ibis expression: a table, a column or a value. Ibis has no type hints to check."""


@dataclass(frozen=True, eq=False)
class Engine:
    """An Ibis backend.

    Attributes:
        name: A readable name of the table, without secrets, which begins every error message.
        connected: Returns the backend, on first use.
        errors: The exceptions that its driver raises.
        explained: Describes such an exception in a sentence.
        connection: The connection of DuckDB in this process; `None` for other engines.
    """

    name: str
    connected: Callable[[], Any]
    errors: tuple[type[Exception], ...]
    explained: Callable[[Exception], str]
    connection: duckdb.DuckDBPyConnection | None = None

    @cached_property
    def backend(self) -> Any:  # noqa: ANN401 - Ibis has no types
        """The backend of Ibis."""
        return self.connected()

    def fetch(self, expression: Expression) -> pa.Table:
        """Return all rows.

        Raises:
            TableError: The engine fails.
        """
        with self.complaining():
            if self.connection is not None:
                return self.connection.sql(self._compiled(expression)).to_arrow_table()
            return expression.to_pyarrow()

    def stream(self, expression: Expression, records: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of an expression, or a query of DuckDB, in batches of at most `records`, in their order.

        Raises:
            TableError: The engine fails.
        """
        with self.complaining():
            if self.connection is not None:
                query = expression if isinstance(expression, str) else self._compiled(expression)
                yield from self.connection.sql(query).to_arrow_reader(records)
            else:
                yield from expression.to_pyarrow_batches(chunk_size=records)

    def execute(self, statement: str) -> None:
        """Run a statement of DuckDB.

        Raises:
            TableError: DuckDB rejects it.
        """
        if self.connection is None:
            raise TypeError("only DuckDB runs statements")
        with self.complaining():
            self.connection.execute(statement)

    def sql(self, query: str, schema: Mapping[str, Any]) -> Expression:
        """Return the rows of a query in the engine's own SQL."""
        return self.backend.sql(query, schema=schema)

    def keep(self, expression: Expression) -> Expression:
        """Store the rows in a temporary table, for the lifetime of the connection.

        Raises:
            TableError: The engine fails.
        """
        with self.complaining():
            name = f"aegis_{uuid4().hex}"
            if self.backend.name == "pyspark":
                self.register(expression)
                return expression.cache()  # Spark has no temporary tables
            if self.connection is None:
                return self.backend.create_table(name, expression, temp=True)
            self.connection.execute(f"CREATE TEMP TABLE {name} AS {self._compiled(expression)}")
            return self.sql(f"SELECT * FROM {name}", expression.schema())  # noqa: S608 - a name of our own

    def lookup(self, table: pa.Table) -> Expression:
        """Return an Arrow table as a table of the engine, for the lifetime of the connection."""
        if self.connection is None:
            return ibis.memtable(table)
        # Ibis would load pandas to check for its frames.
        name = f"aegis_{uuid4().hex}"
        self.connection.register(name, table)
        return self.sql(f"SELECT * FROM {name}", ibis.Schema.from_pyarrow(table.schema))  # noqa: S608 - see above

    def register(self, expression: Expression) -> None:
        """Register the in-memory tables of an expression with the backend."""
        self.backend._run_pre_execute_hooks(expression)  # noqa: SLF001 - Ibis itself calls this before a query

    @contextmanager
    def complaining(self) -> Iterator[None]:
        """Turn exceptions of the driver into a `TableError`."""
        try:
            yield
        except TableError:
            raise
        except self.errors as error:
            raise TableError(f"{self.name}: {self.explained(error)}") from error

    @property
    def is_duckdb(self) -> bool:
        """Whether it is DuckDB, in this process."""
        # Ibis 12 calls DuckDB by names that DuckDB 2 no longer has, for readers and for the columns of a table.
        return self.connection is not None

    def _compiled(self, expression: Expression) -> str:
        self.register(expression)
        return str(self.backend.compile(expression))


Two: TypeAlias = tuple[str, str]
Shown: TypeAlias = Callable[[str, Expression], Expression]
"""Returns the shown form of a key, given the column's name and the key."""


def counts_of_sets(engine: Engine, keys: Expression, sets: Sequence[Two], shown: Shown) -> Expression:
    """Return the number of records with each two keys of each two columns: `place`, `first`, `second`, `n`.

    Args:
        keys: A table expression with the columns.
        sets: The pairs of columns. In the result, `place` is the index of a pair in this list. Only combinations that
            occur are returned.
        shown: Returns the shown form of a key.
    """
    types = {name: kind.copy(nullable=True) for name, kind in keys.schema().items()}
    schema = {**types, **dict.fromkeys((f"{name}_absent" for name in keys.columns), "int64"), "n": "int64"}
    grouped = engine.sql(_query(engine, keys, sets), schema)
    conditions = [(grouped[f"{first}_absent"] == 0) & (grouped[f"{second}_absent"] == 0) for first, second in sets]
    columns = {name: shown(name, grouped[name]) for name in keys.columns}
    return grouped.select(
        place=ibis.cases(*((condition, place) for place, condition in enumerate(conditions))),
        first=ibis.cases(
            *((condition, columns[first]) for condition, (first, _) in zip(conditions, sets, strict=True))
        ),
        second=ibis.cases(
            *((condition, columns[second]) for condition, (_, second) in zip(conditions, sets, strict=True))
        ),
        n=grouped["n"],
    )


def _query(engine: Engine, keys: Expression, sets: Sequence[Two]) -> str:
    import sqlglot  # noqa: PLC0415 - slow to load, as Ibis is
    import sqlglot.expressions as sge  # noqa: PLC0415

    names = {name: sqlglot.column(name, quoted=True) for name in keys.columns}
    absent = [sqlglot.func("grouping", each).as_(f"{name}_absent", quoted=True) for name, each in names.items()]
    count = sge.Count(this=sge.Star()).as_("n", quoted=True)
    inner = engine.backend.compiler.to_sqlglot(keys)
    query = sqlglot.select(*names.values(), *absent, count).from_(inner.subquery("keys"))
    tuples = [sge.Tuple(expressions=[names[name] for name in each]) for each in sets]
    query.set("group", sge.Group(grouping_sets=[sge.GroupingSets(expressions=tuples)]))
    return query.sql(dialect=engine.backend.dialect)


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
    """Limit DuckDB's memory, with a temporary directory for the rest.

    At the end, close DuckDB and remove the directory.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="aegis-") as spill:
            _limit_memory(connection, memory_limit)
            connection.execute("SET temp_directory = $1", [spill])
            # Names in SQL never refer to variables of this process.
            connection.execute("SET python_enable_replacements = false")
            connection.execute("SET TimeZone = 'UTC'")  # the same text everywhere for moments without a zone
            hide_progress(connection)
            # The minimum and maximum in a Parquet file omit NaN, and DuckDB 2.0 concludes that there is none.
            connection.execute("SET disabled_optimizers = 'statistics_propagation'")
            # Every thread of the CSV reader has its own buffers.
            connection.execute("SET threads = $1", [min(_THREADS, os.cpu_count() or 1)])
            yield
            connection.close()
    finally:
        connection.close()


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
    # The first line with content, without the kind of the error.
    lines = (re.sub(r"^\W*(?:[\w ]+(?:Error|Exception):\s*)+", "", line).strip() for line in text.splitlines())
    sentence = next(filter(None, lines), "")[:_LONGEST]
    return where + (sentence or f"cannot be read ({type(error).__name__})")


_COMPLAINTS = {
    "Invalid unicode": f"not UTF-8; {CONVERT}",
    "unterminated quote": "a quoted field ends in the wrong place",
    "invalid state": "not CSV as RFC 4180 defines it; do all lines end alike, and are all quotes closed?",
    "Maximum line size": "a line is longer than 2 MB; is a quote left open?",
    "not a valid DuckDB database": "is not a DuckDB database",
    "Cannot launch in-memory database": "is not a DuckDB database",
    "Out of Memory": "needs more memory than allowed; raise the memory limit (AEGIS_MEMORY_LIMIT)",
}
