"""Opening of tables from any source."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeGuard, Union

from aegis_provider.errors import TableError
from aegis_provider.table.databases import Address, engine_of, is_url, open_database, with_orders, without_secrets
from aegis_provider.table.engine import duckdb_engine
from aegis_provider.table.engine import ibis as lazy_ibis
from aegis_provider.table.files import open_files
from aegis_provider.table.frames import ArrowTable, LazyFrame, frame_name, open_frame
from aegis_provider.table.plain_csv import fields_of_header
from aegis_provider.table.table import DELIMITERS, Table

if TYPE_CHECKING:
    import ibis

Source: TypeAlias = Union[str, Path, "ibis.Table", ArrowTable, LazyFrame]
"""Any source of a table; see `open_table`."""


def open_table(
    table: Source | Table, *, delimiter: str = ",", memory_limit: str = "1GB", most_columns: int | None = None
) -> AbstractContextManager[Table]:
    """Open a table, which is closed when the context ends.

    Args:
        table: One of these.

            * A path: Parquet if the content of the file says so, otherwise CSV in UTF-8 with a header.
            * A glob (`data/*.parquet`), unless a file has exactly this name: files of one kind with the same columns.
            * `URL#table` in any database that Ibis connects to, such as `postgresql://user@host/db#schema.table` or
              `duckdb://file.duckdb#table`.
            * An Ibis table, whose connection stays open.
            * A pandas or Polars DataFrame or an Arrow table, read as it would be from Parquet.
            * A table that is open; it stays so.
        memory_limit: The memory limit of DuckDB; the rest spills to a temporary directory, which is removed. Other
            databases manage their own memory.
        most_columns: The most columns that files may have.

    Raises:
        TableError: On entering, if there is no such table or it cannot be read.
    """
    if isinstance(table, Table):
        return nullcontext(table)
    if isinstance(table, str) and is_url(table):
        return open_database(table, memory_limit)
    if isinstance(table, str | Path):
        return _open_paths(table, delimiter, memory_limit, most_columns)
    if _is_expression(table):
        return _open_expression(table)
    return open_frame(table, memory_limit)


def table_name(table: Source) -> str:
    """Return the name of a table in messages: its path, its URL without secrets, or for example `the DataFrame`."""
    if isinstance(table, str) and is_url(table):
        return without_secrets(table)
    if isinstance(table, str | Path):
        return str(table)
    return _expression_name(table) if _is_expression(table) else frame_name(table)


def files_of(table: Source) -> list[Path]:
    """Return the files of a table: the path itself, or the files of a glob in the order of their names.

    A URL has one file if its database is a file. Ibis tables and tables in memory have none.
    """
    if isinstance(table, str) and is_url(table):
        file = Address.of(table).file
        return [file] if file is not None else []
    if not isinstance(table, str | Path):
        return []
    path = Path(table)
    if _is_there(path) or not has_magic(str(table)):
        return [path]
    return sorted(map(Path, glob(str(table), recursive=True))) or [path]  # noqa: PTH207 - the pattern may be absolute


def delimiter_in(table: Source, column: str) -> str:
    """Return the usual delimiter that yields this column in the header of a CSV table, and the most columns.

    If none yields it, the one with the most columns is returned. For other tables it is a comma.
    """
    if not isinstance(table, str | Path) or (isinstance(table, str) and is_url(table)):
        return ","
    headers, path = dict[str, tuple[str, ...]](), files_of(table)[0]
    for mark in DELIMITERS:
        with suppress(TableError, OSError):
            header = fields_of_header(path, mark) if path.is_file() else ()  # a pipe might never end
            if header:
                headers[mark] = header
    return max(headers, key=lambda mark: (column in headers[mark], len(headers[mark])), default=",")


def described(table: Table) -> str:
    """Return the name of a table and, if it is CSV, its form."""
    if table.delimiter is None:
        return table.name
    word = DELIMITERS[table.delimiter][0] if table.delimiter in DELIMITERS else repr(table.delimiter)
    return f"{table.name}, CSV in {table.written} separated by {word}"


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # too long to be a name
        return False


@contextmanager
def _open_paths(table: str | Path, delimiter: str, memory_limit: str, most_columns: int | None) -> Iterator[Table]:
    paths = files_of(table)
    if paths == [Path(table)] and not _is_there(paths[0]) and has_magic(str(table)):
        raise TableError(f"{table}: no file matches this pattern")
    with open_files(str(table), paths, delimiter, memory_limit, most_columns) as opened:
        yield opened


@contextmanager
def _open_expression(table: "ibis.Table") -> Iterator[Table]:
    backend, name = table.get_backend(), _expression_name(table)
    is_duckdb = backend.name == "duckdb"
    engine = duckdb_engine(name, backend.con, lambda: backend) if is_duckdb else engine_of(name, backend)
    engine.register(table)
    yield with_orders(engine, table)


def _is_expression(table: object) -> "TypeGuard[ibis.Table]":
    """Return whether this is a table of Ibis, without loading it."""
    return type(table).__module__.partition(".")[0] == "ibis" and isinstance(table, lazy_ibis.Table)


def _expression_name(table: "ibis.Table") -> str:
    return str(table.get_name()) if type(table.op()).__name__ == "DatabaseTable" else "the table"
