"""Tables at `URL#table`, in any database that Ibis connects to, and addresses without their secrets."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, unquote_plus, urlsplit

import duckdb

from aegis_provider.errors import TableError, nearest, shortened
from aegis_provider.table.column_types import orders_in_duckdb, orders_in_postgres
from aegis_provider.table.engine import Engine, bounded, duckdb_engine, ibis, quoted, schema_of
from aegis_provider.table.table import Table
from aegis_sdk.programs import how_to_install

_URL = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_SECRET_OPTION = re.compile(r"pass|pwd|token|secret|key|cred", re.IGNORECASE)
_FILES = frozenset({"duckdb", "sqlite"})

# The characters of an account that are not encoded: existing encodings, and those that a URL allows there.
_ACCOUNT = "%:!$&'()*+,;=~"
_MOST_PARTS = 3


def is_url(text: str) -> bool:
    """Return whether the text names a database rather than a file."""
    return _URL.match(text) is not None


def without_secrets(url: str) -> str:
    """Return the URL without the parts that may be secret: password and options."""
    return _Parts.of(url).shown


@dataclass(frozen=True)
class _Parts:
    """The parts of `scheme://account@place?options#table`, split so that a password cannot end up in another part.

    Everything up to the last `@` is the account, since the password may contain any characters. A file has no account.
    """

    scheme: str
    account: str
    place: str
    options: str
    table: str

    @classmethod
    def of(cls, text: str) -> "_Parts":
        scheme, _, rest = text.partition("://")
        scheme = scheme.lower()
        account, _, rest = ("", "", rest) if scheme in _FILES else rest.rpartition("@")
        rest, _, table = rest.rpartition("#") if "#" in rest else (rest, "", "")
        place, _, options = rest.partition("?")
        return cls(scheme, account, place, options, table)

    @property
    def url(self) -> str:
        """Everything but the table, with the special characters of the account encoded."""
        account = f"{quote(self.account, safe=_ACCOUNT)}@" if self.account else ""
        options = f"?{self.options}" if self.options else ""
        return f"{self.scheme}://{account}{self.place}{options}"

    @property
    def shown(self) -> str:
        if "?" in self.account:  # the "@" may belong to an option
            return f"{self.scheme}://***"
        user = self.account.partition(":")[0]
        account = f"{user}@" if user.isprintable() and user and not set(user) & set("/#@") else ""
        table = f"#{self.table}" if self.table else ""
        return f"{self.scheme}://{account}{self.place}{table}"

    @property
    def secrets(self) -> set[str]:
        """The texts that no message may contain."""
        password = self.account.partition(":")[2]
        options = parse_qsl(self.options) if _SECRET_OPTION.search(self.options) else []
        values = {value for name, value in options if _SECRET_OPTION.search(name)}
        spelt = {self.account, password, quote(password), quote(password, safe=_ACCOUNT)} if password else set()
        return {*spelt, unquote(password), unquote_plus(password), *values} - {""}


@dataclass(frozen=True)
class Address:
    """The address of a table: its database, the schemas that contain it, and its name."""

    parts: _Parts
    parents: tuple[str, ...]
    table: str

    @classmethod
    def of(cls, text: str) -> "Address":
        """Parse an address such as `postgresql://user@host:5432/db#schema.table`.

        Raises:
            TableError: The text is not a database URL with the name of a table.
        """
        parts = _Parts.of(text)
        if "?" in parts.account:
            raise TableError(f"{parts.shown}: write a '?' in a password as %3F, and a '@' in an option as %40")
        try:
            _ = urlsplit(parts.url).port
        except ValueError as error:  # its message contains the password
            form = "engine://user:password@host:port/database#table"
            raise TableError(f"{parts.shown}: not a valid URL; write {form}") from error
        *parents, table = unquote(parts.table).split(".")
        if not table or not all(parents) or len(parents) >= _MOST_PARTS:
            url = replace(parts, table="").shown
            raise TableError(f"{parts.shown}: name the table after the URL: {url}#table, or #schema.table")
        return cls(parts, tuple(parents), table)

    @property
    def url(self) -> str:
        """The URL of the database."""
        return self.parts.url

    @property
    def kind(self) -> str:
        """The name of the engine in Ibis."""
        return self.parts.scheme.replace("postgresql", "postgres")

    @property
    def file(self) -> Path | None:
        """The file that the URL names, if the databases of its engine are files."""
        return Path(unquote(self.parts.place)) if self.kind in _FILES else None

    @property
    def name(self) -> str:
        """The URL with the table, without secrets."""
        return replace(self.parts, table=".".join([*self.parents, self.table])).shown

    @property
    def database(self) -> str | tuple[str, ...] | None:
        """The schema as Ibis expects it."""
        return self.parents if len(self.parents) > 1 else next(iter(self.parents), None)

    def without_secrets(self, text: str) -> str:
        """Return the text with `***` in place of every secret of the URL."""
        for secret in sorted(self.parts.secrets, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text


_EXTRAS = {"postgres": "postgres", "pyspark": "spark"}
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
        connection = duckdb.connect()
        held = duckdb_engine(address.name, connection)
        with bounded(connection, memory_limit):
            yield with_orders(held, _held_table(held, connection, address))
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
    known = sorted(backend_entry_point.name for backend_entry_point in ibis.util.backend_entry_points())
    if address.kind not in known:
        raise TableError(
            f"{address.name}: no engine is called {shortened(address.kind)}; {nearest(address.kind, known)}"
        )
    try:
        # Connect by path, since Ibis does not decode the path of a URL.
        return ibis.sqlite.connect(address.file) if address.kind == "sqlite" else ibis.connect(address.url)
    except ImportError as error:
        extra = _EXTRAS.get(address.kind)
        of_ibis = f"pip install 'ibis-framework[{address.kind}]'"
        how = how_to_install(f"aegis-masking-provider[{extra}]") if extra else of_ibis
        raise TableError(f"{address.name}: {error.name or address.kind} is not installed: {how}") from error
    except Exception as error:
        raise TableError(f"{address.name}: cannot connect: {_explained(error, address=address)}") from error


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
        escaped = [name.replace('"', '""') for name in (schema, address.table)]
        query = f'SELECT * FROM held."{escaped[0]}"."{escaped[1]}"'  # noqa: S608 - quoted
        return engine.sql(query, schema_of(engine, query))


def _explained(error: Exception, *, address: Address | None = None) -> str:
    """Return the first line of a driver's error message, without secrets."""
    sentence = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return (address.without_secrets(sentence) if address else sentence)[:_LONGEST]
