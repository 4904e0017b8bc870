"""CSV and Parquet files, read by DuckDB in bounded memory; headers of CSV, and the line of a value, by Python."""

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TextIO

import ibis
import pyarrow as pa
import pyarrow.parquet as pq

from aegis_provider.errors import TableError, shortened
from aegis_provider.table.duckdb_engine import bounded, duckdb_engine, quoted, view_of
from aegis_provider.table.engine import Engine
from aegis_provider.table.table import Table

_PARQUET_MAGIC = b"PAR1"

#: DuckDB would take directories named like `age=7` for columns, in the place of those in the file.
_AS_IT_IS = "hive_partitioning = false"


@dataclass(frozen=True)
class _Files:
    """Files with the same columns, and how DuckDB reads them. `delimiter`: of CSV, `None` for Parquet."""

    paths: tuple[Path, ...]
    columns: tuple[str, ...]
    delimiter: str | None

    def table(self, engine: Engine) -> Table:
        """Their records, one file after the other. Column names stay outside of SQL: two may differ in case only."""
        aliases = ", ".join(f"c{place}" for place in range(len(self.columns)))
        query = f"SELECT * FROM {self._reader()} AS t({aliases})"  # noqa: S608 - quoted paths and places
        table = Table.of(engine, view_of(engine, query), self.columns)
        return replace(table, finder=self, delimiter=self.delimiter)

    def whereabouts(self, table: Table, place: int, text: str) -> str:
        """`line 17` of a CSV file, `row 16` of a Parquet file; its name before that where there are several."""
        for path in self.paths:
            prefix = f"{path}: " if len(self.paths) > 1 else ""
            if self.delimiter is not None and (line := first_line(path, self.delimiter, place, text)):
                return f"{prefix}line {line}"
            table_of_file = replace(self, paths=(path,)).table(table.engine)
            if row := replace(table_of_file, readings=table.readings).first_row(place, text):
                return f"{prefix}row {row}"
        return ""

    def _reader(self) -> str:
        paths = f"[{', '.join(quoted(_literal_glob(path)) for path in self.paths)}]"
        if self.delimiter is None:
            return f"read_parquet({paths}, {_AS_IT_IS})"
        typed = ", ".join(f"c{place}: 'VARCHAR'" for place in range(len(self.columns)))
        options = (
            "auto_detect = false, header = true, strict_mode = true, compression = 'none', nullstr = '', "
            f"delim = {quoted(self.delimiter)}, quote = '\"', escape = '\"', columns = {{{typed}}}"
        )
        return f"read_csv({paths}, {_AS_IT_IS}, {options})"


@contextmanager
def open_files(name: str, paths: Sequence[Path], delimiter: str, memory_limit: str) -> Iterator[Table]:
    """The records of these files: Parquet where the first says so itself, CSV in UTF-8 with a header otherwise.

    `name`: what the table is called in messages.

    Raises:
        TableError: A file cannot be read, or the delimiter or a header is not one.
    """
    is_parquet = _first_bytes(paths[0], len(_PARQUET_MAGIC)) == _PARQUET_MAGIC
    backend = ibis.duckdb.connect()
    with bounded(backend, memory_limit):
        files = _parquet_files(paths) if is_parquet else _csv_files(paths, delimiter)
        yield files.table(duckdb_engine(name, backend, several=len(paths) > 1))


def _csv_files(paths: Sequence[Path], delimiter: str) -> _Files:
    if len(delimiter) != 1 or delimiter in '"\r\n\0':
        raise TableError(f"a delimiter must be one character other than a quote or line end, not {delimiter!r}")
    for path in paths:
        if _first_bytes(path, len(_PARQUET_MAGIC)) == _PARQUET_MAGIC:
            raise TableError(f"{path}: is Parquet, but {paths[0]} is not; name files of one kind")
    headers = [header_of(path, delimiter) for path in paths]
    _refuse_other_columns(paths, headers)
    return _Files(tuple(paths), headers[0], delimiter)


def _parquet_files(paths: Sequence[Path]) -> _Files:
    headers = [_parquet_columns(path) for path in paths]
    _refuse_other_columns(paths, headers)
    return _Files(tuple(paths), headers[0], None)


def _parquet_columns(path: Path) -> tuple[str, ...]:
    """The names as the file has them; DuckDB would rename those that differ in case only."""
    try:
        with path.open("rb") as file:
            columns = tuple(pq.read_schema(file).names)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableError(f"{path}: not a readable Parquet file; was it written to its end?") from error
    refuse_repeated(columns, str(path))
    return columns


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


def _literal_glob(path: Path) -> str:
    """The path as a pattern that matches nothing else."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))


#: What DuckDB reads of a line, in bytes; here in characters.
_LONGEST_LINE: Final = 2 << 20


class _LongLineError(csv.Error):
    """A line is too long to hold."""


def header_of(path: Path, delimiter: str) -> tuple[str, ...]:
    """The names in the first line, each once.

    Raises:
        TableError: The line is blank, too long or not CSV in UTF-8, or a column has no name or that of another.
    """
    # Decoding reads ahead of the header: what is wrong further down is for DuckDB to report, with its line.
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        try:
            columns = tuple(next(csv.reader(_lines(file), delimiter=delimiter, strict=True), ()))
            "".join(columns).encode()
        except _LongLineError as error:
            raise TableError(f"{path}: line 1: longer than 2 MB; is it a text file with line breaks?") from error
        except (csv.Error, UnicodeEncodeError) as error:
            raise TableError(f"{path}: line 1: not a CSV header in UTF-8") from error
    for place, name in enumerate(columns):
        if not name:
            raise TableError(f"{path}: line 1: column {place + 1} has no name")
    refuse_repeated(columns, f"{path}: line 1")
    if not columns:
        raise TableError(f"{path}: line 1 is blank; a header is needed")
    return columns


def refuse_repeated(columns: Sequence[str], where: str) -> None:
    """Refuses a name that stands twice.

    Raises:
        TableError: Two columns have one name.
    """
    seen: set[str] = set()
    for name in columns:
        if name in seen:
            raise TableError(f"{where}: two columns are called {shortened(name)}")
        seen.add(name)


def first_line(path: Path, delimiter: str, place: int, text: str) -> int | None:
    """The line on which the first record with that text begins; `None` if a field is too long for `csv`."""
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        reader = csv.reader(_lines(file), delimiter=delimiter)
        try:
            next(reader)
            begins = reader.line_num + 1
            for record in reader:
                if len(record) > place and record[place] == text:
                    return begins
                begins = reader.line_num + 1
        except csv.Error:
            return None
    return None


def _lines(file: TextIO) -> Iterator[str]:
    """The lines of a file.

    Raises:
        _LongLineError: A line is too long to hold.
    """
    while line := file.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            raise _LongLineError
        yield line
