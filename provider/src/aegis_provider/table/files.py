"""CSV and Parquet files, read by DuckDB in bounded memory. Python reads CSV headers and locates lines of values."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from aegis_provider.errors import CONVERT, TableError, shortened
from aegis_provider.table.column_types import index_columns, orders_in_parquet, selected
from aegis_provider.table.engine import Engine, bounded, duckdb_engine, quoted, view_of
from aegis_provider.table.in_memory import memory_of
from aegis_provider.table.plain_csv import UNNAMED, CsvForm, LongLineError, lines_of, plain_files
from aegis_provider.table.reading import AS_TEXT
from aegis_provider.table.table import Table
from aegis_provider.table.values import MISSING

_NAMES: Final = 5
_PARQUET_MAGIC = b"PAR1"

#: Otherwise DuckDB would replace columns of the file by directories with names such as `age=7`.
_AS_IT_IS = "hive_partitioning = false"


@dataclass(frozen=True)
class _Files:
    """Files with the same columns, read by DuckDB: CSV with a delimiter and a form each, or Parquet with a schema.

    Messages name the files, and DuckDB reads their `plain` copies.
    """

    paths: tuple[Path, ...]
    plain: tuple[Path, ...]
    columns: tuple[str, ...]
    delimiter: str | None = None
    forms: tuple[CsvForm, ...] = ()
    schema: pa.Schema | None = None

    def table(self, engine: Engine) -> Table:
        """Return the records of all files, in order.

        SQL does not contain the column names, since two of them may differ only in case.
        """
        places = [f"c{place}" for place in range(len(self.columns))]
        values = "*" if self.schema is None else selected(self.schema, places, engine.name)
        query = f"SELECT {values} FROM {self._reader()} AS t({', '.join(places)})"  # noqa: S608 - quoted paths, places
        view = view_of(engine, query)
        if self.delimiter is None:
            table = replace(Table.of(engine, view, self.columns), orders=orders_in_parquet(self.paths))
        else:
            table = Table(engine.name, self.columns, engine, view, (AS_TEXT,) * len(self.columns))
        if self.schema is not None:
            index = index_columns(self.schema)
        else:  # in CSV the index of a frame has no name
            index = self.columns[:1] if self.columns[0] == UNNAMED else ()
        memory = memory_of(self.plain)
        table = replace(table, finder=self, delimiter=self.delimiter, index=index, memory=memory)
        return replace(table, written=self.forms[0].name) if self.forms else table

    def whereabouts(self, table: Table, place: int, text: str) -> str:
        """Return `line 17` of a CSV file or `row 16` of a Parquet file, after the file's name if there are several."""
        for number, (path, plain) in enumerate(zip(self.paths, self.plain, strict=True)):
            prefix = f"{path}: " if len(self.paths) > 1 else ""
            if self.delimiter and (line := first_line(path, self.delimiter, place, text, self.forms[number])):
                return f"{prefix}line {line}"
            table_of_file = replace(self, paths=(path,), plain=(plain,)).table(table.engine)
            if row := replace(table_of_file, readings=table.readings).first_row(place, text):
                return f"{prefix}row {row}"
        return ""

    def _reader(self) -> str:
        literal = [re.sub(r"([*?\[])", r"[\1]", str(path)) for path in self.plain]  # patterns that match only these
        paths = f"[{', '.join(map(quoted, literal))}]"
        if self.delimiter is None:
            return f"read_parquet({paths}, {_AS_IT_IS})"
        typed = ", ".join(f"c{place}: 'VARCHAR'" for place in range(len(self.columns)))
        options = (
            "auto_detect = false, header = true, strict_mode = true, compression = 'none', nullstr = '', "
            f"delim = {quoted(self.delimiter)}, quote = '\"', escape = '\"', columns = {{{typed}}}"
        )
        return f"read_csv({paths}, {_AS_IT_IS}, {options})"


@contextmanager
def open_files(
    name: str, paths: Sequence[Path], delimiter: str, memory_limit: str, most_columns: int | None = None
) -> Iterator[Table]:
    """Open these files as a table: as Parquet if the first file is Parquet, otherwise as CSV with a header.

    Args:
        name: The name of the table in messages.
        most_columns: The most columns of the files; DuckDB takes minutes to open 100,000.

    Raises:
        TableError: A file cannot be read, has too many columns, or the delimiter or a header is invalid.
    """
    is_parquet = _first_bytes(paths[0], len(_PARQUET_MAGIC)) == _PARQUET_MAGIC
    connection = duckdb.connect()
    with bounded(connection, memory_limit), _readable(paths, None if is_parquet else delimiter) as files:
        refuse_more_columns(name, files.columns, most_columns)
        yield files.table(duckdb_engine(name, connection, several=len(paths) > 1))


@contextmanager
def _readable(paths: Sequence[Path], delimiter: str | None) -> Iterator[_Files]:
    """Yield Parquet files, or CSV files with a delimiter, in a form that DuckDB reads."""
    if delimiter is None:
        schemas = list(map(_parquet_schema, paths))
        names = [tuple(schema.names) for schema in schemas]
        _refuse_other_columns(paths, names)
        yield _Files(tuple(paths), tuple(paths), names[0], schema=schemas[0])
        return
    if len(delimiter) != 1 or delimiter in '"\r\n\0':
        raise TableError(f"a delimiter must be one character other than a quote or line end, not {delimiter!r}")
    for path in paths:
        if _first_bytes(path, len(_PARQUET_MAGIC)) == _PARQUET_MAGIC:
            raise TableError(f"{path}: is Parquet, but {paths[0]} is not; name files of one kind")
    with plain_files(paths, delimiter) as (plain, forms):
        read = zip(paths, plain, forms, strict=True)
        headers = [header_of(copy, delimiter, f"{path}: line {form.above + 1}") for path, copy, form in read]
        _refuse_other_columns(paths, headers)
        yield _Files(tuple(paths), tuple(plain), headers[0], delimiter, tuple(forms))


def _parquet_schema(path: Path) -> pa.Schema:
    """Return the columns with the names in the file; DuckDB would rename those that differ only in case."""
    try:
        with path.open("rb") as file:
            schema = pq.read_schema(file)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableError(f"{path}: not a readable Parquet file; was it written to its end?") from error
    refuse_repeated(schema.names, str(path))
    return schema


def _refuse_other_columns(paths: Sequence[Path], headers: Sequence[tuple[str, ...]]) -> None:
    for path, header in zip(paths, headers, strict=True):
        if header != headers[0]:
            here, there = ", ".join(header), ", ".join(headers[0])
            raise TableError(
                f"{path}: has the columns {here}, but {paths[0]} has {there}; all files need the same columns"
            )


def _first_bytes(path: Path, size: int) -> bytes:
    try:
        if path.exists() and not path.is_file():
            kind = "a directory" if path.is_dir() else "not a regular file"
            raise TableError(f"{path}: cannot be read: is {kind}")
        with path.open("rb") as file:
            first = file.read(size)
    except OSError as error:
        raise TableError(f"{path}: cannot be read: {error.strerror}") from error
    if not first:
        raise TableError(f"{path}: the file is empty")
    return first


def header_of(path: Path, delimiter: str, where: str) -> tuple[str, ...]:
    """Return the names in the header, which must be unique. The first may be missing, as for the index of pandas.

    Args:
        where: The file and the line, for messages.

    Raises:
        TableError: The header is blank, too long or not CSV in UTF-8, or a column has no name or the name of another.
    """
    columns = _first_record(path, delimiter, where)
    if len(columns) > 1 and not columns[0]:
        columns = (UNNAMED, *columns[1:])
    for place, name in enumerate(columns):
        if not name:
            raise TableError(f"{where}: column {place + 1} has no name")
    refuse_repeated(columns, where)
    if not columns:
        raise TableError(f"{where}: is blank; a header is needed")
    return columns


def _first_record(path: Path, delimiter: str, where: str) -> tuple[str, ...]:
    # Decoding reads beyond the header, but DuckDB reports faults further down, with their line.
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        try:
            columns = tuple(next(csv.reader(lines_of(file), delimiter=delimiter, strict=True), ()))
            "".join(columns).encode()
        except LongLineError as error:
            raise TableError(f"{where}: longer than 2 MB; is it a text file with line breaks?") from error
        except (csv.Error, UnicodeEncodeError) as error:
            raise TableError(f"{where}: not a CSV header in UTF-8; {CONVERT}") from error
    return columns


def refuse_more_columns(table: str, columns: Sequence[str], most: int | None) -> None:
    """Reject a table with more columns than `most`, if that is given.

    Raises:
        TableError: The table has more.
    """
    if most is not None and len(columns) > most:
        raise TableError(
            f"{table}: has {len(columns):,} columns, more than {most:,}; keep those that you want to share in a table "
            "of their own"
        )


def refuse_repeated(columns: Sequence[str], where: str) -> None:
    """Reject repeated column names.

    Raises:
        TableError: Two columns have the same name.
    """
    repeated = [name for name, times in Counter(columns).items() if times > 1]
    if repeated:
        more = f", and {len(repeated) - _NAMES:,} more names" if len(repeated) > _NAMES else ""
        named = ", two ".join(map(shortened, repeated[:_NAMES]))
        raise TableError(f"{where}: two columns are called {named}{more}; rename one")


def first_line(path: Path, delimiter: str, place: int, text: str, form: CsvForm) -> int | None:
    """Return the line of a file where the first record with this text begins; `None` without one.

    The original file is searched: a plain copy lacks lines above the header, and blank ones.

    Args:
        place: The place of the column among those that have a name.
    """
    with path.open(encoding=form.encoding, errors="replace", newline="") as file, suppress(csv.Error):
        reader, begins = csv.reader(lines_of(file), delimiter=delimiter), 1
        for number, record in enumerate(reader):
            named = [field for at, field in enumerate(record or [""]) if at not in form.spare]
            cell = named[place] if len(named) > place else None
            if number > form.above and cell is not None and text == (cell if cell.strip(" ") else MISSING):
                return begins
            begins = reader.line_num + 1
    return None
