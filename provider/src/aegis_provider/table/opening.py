"""Opens a table, whatever it is named by."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from glob import glob, has_magic
from pathlib import Path
from typing import TypeAlias

import ibis

from aegis_provider.errors import TableError
from aegis_provider.table.address import Address, is_url, without_secrets
from aegis_provider.table.databases import engine_of, open_database
from aegis_provider.table.duckdb_engine import duckdb_engine
from aegis_provider.table.files import open_files
from aegis_provider.table.frames import ArrowTable, LazyFrame, frame_name, open_frame
from aegis_provider.table.table import Table

Source: TypeAlias = str | Path | ibis.Table | ArrowTable | LazyFrame
"""What is taken for a table, wherever one is: see `open_table`."""


def open_table(table: Source, *, delimiter: str = ",", memory_limit: str = "1GB") -> AbstractContextManager[Table]:
    """A table, to be closed at the end, which is one of these.

    A path: Parquet where the file says so itself, CSV in UTF-8 with a header otherwise. A glob (`data/*.parquet`), if
    nothing has that very name: files of one kind with the same columns. `URL#table` of whatever Ibis connects to,
    such as `postgresql://user@host/db#schema.table` or `duckdb://file.duckdb#table`. An Ibis table, whose connection
    stays open. A DataFrame of pandas or Polars, or an Arrow table, read as it would be from Parquet.

    Args:
        memory_limit: bounds what DuckDB holds; the rest spills to a temporary directory, which is removed. Databases
            count by themselves.

    Raises:
        TableError: on entering, if there is no such table, or it cannot be read.
    """
    if isinstance(table, str) and is_url(table):
        return open_database(table, memory_limit)
    if isinstance(table, str | Path):
        return _open_paths(table, delimiter, memory_limit)
    if isinstance(table, ibis.Table):
        return _open_expression(table)
    return open_frame(table, memory_limit)


def table_name(table: Source) -> str:
    """What a table is called in messages: the path; the URL, without what may be secret in it; `the DataFrame`."""
    if isinstance(table, str) and is_url(table):
        return without_secrets(table)
    if isinstance(table, str | Path):
        return str(table)
    return _expression_name(table) if isinstance(table, ibis.Table) else frame_name(table)


def files_of(table: Source) -> list[Path]:
    """The files that a table is read from: those of a glob in the order of their names, the path itself if it is none.

    Of a URL the file of the database, if it is one; none of an Ibis table, nor of one in memory.
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


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # too long to be a name
        return False


@contextmanager
def _open_paths(table: str | Path, delimiter: str, memory_limit: str) -> Iterator[Table]:
    paths = files_of(table)
    if paths == [Path(table)] and not _is_there(paths[0]) and has_magic(str(table)):
        raise TableError(f"{table}: no file matches this pattern")
    with open_files(str(table), paths, delimiter, memory_limit) as opened:
        yield opened


@contextmanager
def _open_expression(table: ibis.Table) -> Iterator[Table]:
    backend, name = table.get_backend(), _expression_name(table)
    engine = duckdb_engine(name, backend) if backend.name == "duckdb" else engine_of(name, backend)
    engine.register(table)
    yield Table.of(engine, table)


def _expression_name(table: ibis.Table) -> str:
    return str(table.get_name()) if type(table.op()).__name__ == "DatabaseTable" else "the table"
