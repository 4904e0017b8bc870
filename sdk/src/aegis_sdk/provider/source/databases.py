"""Tables of databases, by `URL#table`: whatever Ibis connects to."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

import ibis

from aegis_sdk.provider.errors import TableError, nearest
from aegis_sdk.provider.source.duckdb_engine import bounded, duckdb_engine, quoted, schema_of
from aegis_sdk.provider.source.engine import Engine
from aegis_sdk.provider.source.table import Table

_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_EXTRAS = {"postgres": "'./sdk[postgres]'", "pyspark": "'./sdk[spark]'"}
_LONGEST = 200


def is_url(text: str) -> bool:
    """Whether the text names a database rather than a file."""
    return _URL.match(text) is not None


def shown(text: str) -> str:
    """A URL without what may be secret in it: password and options. Any other text as it is."""
    if not is_url(text):
        return text
    found = urlsplit(text)
    user, _, host = found.netloc.rpartition("@")
    account = f"{user.partition(':')[0]}@" if user else ""
    table = f"#{found.fragment}" if found.fragment else ""
    return f"{found.scheme}://{account}{host}{found.path}{table}"


@dataclass(frozen=True)
class Address:
    """Where a table is: the URL of a database, and the name of the table with the schemas that hold it."""

    url: str
    parents: tuple[str, ...]
    table: str

    @classmethod
    def of(cls, text: str) -> "Address":
        """Of `postgresql://user@host:5432/db#schema.table`. Raises `TableError`."""
        url, fragment = urldefrag(text)
        *parents, table = unquote(fragment).split(".")
        if not table or not all(parents) or len(parents) > 2:  # noqa: PLR2004 - a catalogue and a schema
            raise TableError(f"{shown(text)}: name the table after the URL: {shown(url)}#table, or #schema.table")
        return cls(url, tuple(parents), table)

    @property
    def kind(self) -> str:
        """What Ibis calls the engine."""
        return urlsplit(self.url).scheme.replace("postgresql", "postgres")

    @property
    def path(self) -> Path:
        """The file that the URL names, if it names one."""
        found = urlsplit(self.url)
        return Path(unquote(found.netloc + found.path))

    @property
    def name(self) -> str:
        """The URL and the table, without secrets."""
        return f"{shown(self.url)}#{'.'.join([*self.parents, self.table])}"

    @property
    def database(self) -> str | tuple[str, ...] | None:
        """The schema as Ibis wants it."""
        return self.parents if len(self.parents) > 1 else next(iter(self.parents), None)


@contextmanager
def open_database(text: str, memory_limit: str) -> Iterator[Table]:
    """The table at `URL#table`. Raises `TableError`."""
    address = Address.of(text)
    if address.kind == "duckdb":
        yield from _duckdb_table(address, memory_limit)
        return
    engine = replace(engine_of(address.name, _connected(address)), explained=partial(_explained, url=address.url))
    try:
        yield Table.of(engine, _table(engine, address))
    finally:
        engine.backend.disconnect()


def engine_of(name: str, backend: Any) -> Engine:  # noqa: ANN401 - Ibis has no types
    """Any backend but DuckDB's; their drivers have no error in common."""
    return Engine(name, backend, (Exception,), partial(_explained, url=""))


def _connected(address: Address) -> Any:  # noqa: ANN401 - see above
    _refuse_unknown(address)
    try:
        return ibis.connect(address.url)
    except ImportError as error:
        extra = _EXTRAS.get(address.kind, f"'ibis-framework[{address.kind}]'")
        raise TableError(
            f"{address.name}: {error.name or address.kind} is not installed: pip install {extra}"
        ) from error
    except Exception as error:
        raise TableError(f"{address.name}: cannot connect: {_explained(error, url=address.url)}") from error


def _refuse_unknown(address: Address) -> None:
    known = sorted(each.name for each in ibis.util.backend_entry_points())
    if address.kind not in known:
        raise TableError(f"{address.name}: no engine is called {address.kind!r}; {nearest(address.kind, known)}")


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
    return f"{address.name}: no table {address.table!r}; {nearest(address.table, list(known))}"


def _duckdb_table(address: Address, memory_limit: str) -> Iterator[Table]:
    if not address.path.is_file():
        raise TableError(f"{address.name}: cannot be read: no such file: {address.path}")
    engine = duckdb_engine(address.name, ibis.duckdb.connect())
    with bounded(engine.backend, memory_limit):
        yield Table.of(engine, _held_table(engine, address))


def _held_table(engine: Engine, address: Address) -> Any:  # noqa: ANN401 - see above
    """A table of a DuckDB file, which is opened beside the database in memory that takes what is temporary."""
    connection, schema = engine.backend.con, address.parents[-1] if address.parents else "main"
    with engine.complaining():
        connection.execute(f"ATTACH {quoted(str(address.path))} AS held (READ_ONLY)")
        held = "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'held' AND table_schema = $1"
        known = [name for (name,) in connection.execute(held, [schema]).fetchall()]
        if address.table not in known:
            raise TableError(_no_table(address, known))
        query = f"SELECT * FROM held.{_identifier(schema)}.{_identifier(address.table)}"  # noqa: S608 - quoted
        return engine.sql(query, schema_of(engine.backend, query))


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _explained(error: Exception, *, url: str) -> str:
    """The first line of a driver's complaint, without the password."""
    found = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    for secret in {urlsplit(url).password, unquote(urlsplit(url).password or "")} - {None, ""}:
        found = found.replace(str(secret), "***")
    return found[:_LONGEST]
