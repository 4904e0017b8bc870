"""The engine of a table: runs Ibis expressions, counts many groupings at once, and reports errors in one line."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias
from uuid import uuid4

import duckdb
import pyarrow as pa

from aegis_provider.errors import TableError
from aegis_provider.table.late import ibis

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
        engine: The engine to ask.
        keys: A table expression with the columns.
        sets: The pairs of columns. In the result, `place` is the index of a pair in this list. Only combinations that
            occur are returned.
        shown: Returns the shown form of a key.
    """
    grouped = engine.sql(_query(engine, keys, sets), _schema(keys))
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


def _schema(keys: Expression) -> dict[str, object]:
    absent = dict.fromkeys((f"{name}_absent" for name in keys.columns), "int64")
    types = {name: dtype.copy(nullable=True) for name, dtype in keys.schema().items()}
    return {**types, **absent, "n": "int64"}
