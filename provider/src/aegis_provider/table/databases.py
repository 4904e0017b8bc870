"""Tables at `URL#table`, in any database that Ibis connects to."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import duckdb

from aegis_provider.errors import TableError, nearest, shortened
from aegis_provider.table.address import Address
from aegis_provider.table.duckdb_engine import bounded, duckdb_engine, quoted, schema_of
from aegis_provider.table.engine import Engine
from aegis_provider.table.late import ibis
from aegis_provider.table.orders import orders_in_duckdb, orders_in_postgres
from aegis_provider.table.table import Table

_EXTRAS = {"postgres": "'./provider[postgres]'", "pyspark": "'./provider[spark]'"}
_ORDERS = {"duckdb": orders_in_duckdb, "postgres": orders_in_postgres}
_LONGEST = 200


@contextmanager
def open_database(text: str, memory_limit: str) -> Iterator[Table]:
    """Open the table at `URL#table`.

    Raises:
        TableError: The address is wrong, the engine is not installed, or the table cannot be read.
    """
    address = Address.of(text)
    if address.file is not None and not address.file.is_file():
        raise TableError(f"{address.name}: cannot be read: no such file: {address.file}")
    if address.kind == "duckdb":
        yield from _duckdb_table(address, memory_limit)
        return
    engine = replace(engine_of(address.name, _connected(address)), explained=partial(_explained, address=address))
    try:
        yield with_orders(engine, _table(engine, address))
    finally:
        engine.backend.disconnect()


def engine_of(name: str, backend: Any) -> Engine:  # noqa: ANN401 - Ibis has no types
    """Return the engine of any backend except DuckDB; these drivers share no error class."""
    return Engine(name, lambda: backend, (Exception,), _explained)


def _connected(address: Address) -> Any:  # noqa: ANN401 - see above
    _refuse_unknown(address)
    try:
        # Connect by path, since Ibis does not decode the path of a URL.
        return ibis.sqlite.connect(address.file) if address.kind == "sqlite" else ibis.connect(address.url)
    except ImportError as error:
        extra = _EXTRAS.get(address.kind, f"'ibis-framework[{address.kind}]'")
        raise TableError(
            f"{address.name}: {error.name or address.kind} is not installed: pip install {extra}"
        ) from error
    except Exception as error:
        raise TableError(f"{address.name}: cannot connect: {_explained(error, address=address)}") from error


def _refuse_unknown(address: Address) -> None:
    known = sorted(backend_entry_point.name for backend_entry_point in ibis.util.backend_entry_points())
    if address.kind not in known:
        raise TableError(
            f"{address.name}: no engine is called {shortened(address.kind)}; {nearest(address.kind, known)}"
        )


def _table(engine: Engine, address: Address) -> Any:  # noqa: ANN401 - see above
    with engine.complaining():
        try:
            return engine.backend.table(address.table, database=address.database)
        except Exception as error:
            known = engine.backend.list_tables(database=address.database)
            if address.table in known:
                raise
            raise TableError(_no_table(address, known)) from error


def _no_table(address: Address, known: Sequence[str]) -> str:
    return f"{address.name}: no table {shortened(address.table)}; {nearest(address.table, list(known))}"


def _duckdb_table(address: Address, memory_limit: str) -> Iterator[Table]:
    connection = duckdb.connect()
    engine = duckdb_engine(address.name, connection)
    with bounded(connection, memory_limit):
        yield with_orders(engine, _held_table(engine, connection, address))


def with_orders(engine: Engine, source: Any) -> Table:  # noqa: ANN401 - see above
    """Return the table of an Ibis expression; enums of DuckDB and PostgreSQL have an order."""
    table, orders_in = Table.of(engine, source), _ORDERS.get(engine.backend.name)
    if orders_in is None:
        return table
    with engine.complaining():
        return replace(table, orders=orders_in(engine.backend, engine.backend.compile(source)))


def _held_table(engine: Engine, connection: duckdb.DuckDBPyConnection, address: Address) -> Any:  # noqa: ANN401 - see above
    """Return a table of a DuckDB file, attached to a database in memory, which holds temporary tables."""
    schema = address.parents[-1] if address.parents else "main"
    with engine.complaining():
        connection.execute(f"ATTACH {quoted(str(address.file))} AS held (TYPE duckdb, READ_ONLY)")
        # The file's views are other people's SQL, and may name any file on this machine.
        connection.execute("SET enable_external_access = false")
        held = "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'held' AND table_schema = $1"
        known = [name for (name,) in connection.execute(held, [schema]).fetchall()]
        if address.table not in known:
            raise TableError(_no_table(address, known))
        query = f"SELECT * FROM held.{_identifier(schema)}.{_identifier(address.table)}"  # noqa: S608 - quoted
        return engine.sql(query, schema_of(engine, query))


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _explained(error: Exception, *, address: Address | None = None) -> str:
    """Return the first line of a driver's error message, without secrets."""
    sentence = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return (address.without_secrets(sentence) if address else sentence)[:_LONGEST]
