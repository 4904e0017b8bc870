"""The provider's table, read by DuckDB in bounded memory. Every value is text; a missing one is `""`."""

import csv
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from aegis_sdk.provider.errors import TableError
from aegis_sdk.provider.plan_element import nearest

_PARQUET_MAGIC = b"PAR1"
_DELIMITERS = ";,\t|:"
_SHOWN = 60
_THREADS = 4
_RECORDS_PER_BATCH = 1 << 16


#: DuckDB would take directories named like `age=7` for columns, in the place of those in the file.
_AS_IT_IS = "hive_partitioning = false"


@dataclass(frozen=True)
class Table:
    """
    A CSV or Parquet file, open for queries.

    `source` is the SQL of a table function whose columns are called `c0, c1, ...`, in the order of `columns`:
    names of people's columns never enter SQL unquoted, and those that differ in case stay apart.
    `delimiter` is `None` for Parquet.
    """

    path: Path
    columns: tuple[str, ...]
    delimiter: str | None
    source: str
    connection: duckdb.DuckDBPyConnection

    def positions(self, names: Sequence[str]) -> list[int]:
        """The places of these columns. Raises `TableError` for one that the table lacks."""
        if len(self.columns) == 1 < len(set(names)) and self.columns[0] not in names:
            raise TableError(self._one_column())
        for name in names:
            if name not in self.columns:
                raise TableError(f"{self.path}: no column {name!r}; {nearest(name, list(self.columns))}")
        return [self.columns.index(name) for name in names]

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> duckdb.DuckDBPyConnection:
        """Runs SQL. Raises `TableError` where the file turns out to be unreadable."""
        try:
            return self.connection.execute(sql, parameters)
        except duckdb.Error as error:
            raise TableError(f"{self.path}: {_explained(str(error))}") from error

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """
        The texts of these columns, some thousand records at a time, in the table's order; columns called `v0, v1, ...`.

        Raises `TableError` as `positions` and `execute` do.
        """
        columns = ", ".join(f"{as_text(place)} AS v{n}" for n, place in enumerate(self.positions(names)))
        query = f"SELECT {columns} FROM {self.source}"  # noqa: S608 - places and our own source, no names
        try:
            reader: Iterator[pa.RecordBatch] = self.connection.sql(query).to_arrow_reader(_RECORDS_PER_BATCH)
            yield from reader
        except duckdb.Error as error:
            raise TableError(f"{self.path}: {_explained(str(error))}") from error

    def combinations(self, names: Sequence[str]) -> pa.Table:
        """
        Every combination of the texts of these columns that occurs, and its number of records: `v0, v1, ..., n`.

        Raises `TableError` as `positions` and `execute` do.
        """
        columns = ", ".join(f"{as_text(place)} AS v{n}" for n, place in enumerate(self.positions(names)))
        query = f"SELECT {columns}, count(*) AS n FROM {self.source} GROUP BY ALL"  # noqa: S608 - see above
        try:
            return self.connection.sql(query).to_arrow_table()
        except duckdb.Error as error:
            raise TableError(f"{self.path}: {_explained(str(error))}") from error

    def store_lookup(self, name: str, texts: Sequence[str], values: Sequence[object], kind: str) -> None:
        """A temporary table `name` with a row for each text: `text`, and its `value` of the SQL type `kind`."""
        self.execute(
            f"CREATE TEMP TABLE {name} AS SELECT unnest($1::VARCHAR[]) AS text, unnest($2::{kind}[]) AS value",
            [list(texts), list(values)],
        )

    def whereabouts(self, column: str, text: str) -> str:
        """Where a value stands first: `line 17` of a CSV file, `row 16` of a Parquet file."""
        place = self.columns.index(column)
        if self.delimiter is not None and (line := _first_line(self.path, self.delimiter, place, text)):
            return f"line {line}"
        numbered = f"SELECT row_number() OVER () AS n, {as_text(place)} AS v FROM {self.source}"  # noqa: S608 - a place and our own source
        [(row,)] = self.execute(f"SELECT min(n) FROM ({numbered}) WHERE v = ?", [text]).fetchall()  # noqa: S608 - see above
        return f"row {row}"

    def _one_column(self) -> str:
        header = self.columns[0]
        guess = next((mark for mark in _DELIMITERS if mark in header and mark != self.delimiter), None)
        hint = f"try --delimiter {guess!r}" if guess else "say which --delimiter it has"
        return f"{self.path}: one column found ({header[:_SHOWN]!r}) with delimiter {self.delimiter!r}; {hint}"


def as_text(place: int) -> str:
    """SQL of the text of column `place`, `""` where it is missing."""
    return f"coalesce(c{place}::VARCHAR, '')"


@contextmanager
def open_table(path: Path, *, delimiter: str = ",", memory_limit: str = "1GB") -> Iterator[Table]:
    """
    The table at `path`: Parquet where the file says so itself, CSV in UTF-8 with a header otherwise.

    `memory_limit` bounds what DuckDB holds; the rest spills to a temporary directory, which is removed.
    Raises `TableError`.
    """
    magic = _first_bytes(path, len(_PARQUET_MAGIC))
    with tempfile.TemporaryDirectory(prefix="aegis-") as spill, duckdb.connect() as connection:
        _bound(connection, memory_limit, spill)
        if magic == _PARQUET_MAGIC:
            yield _parquet_table(path, connection)
        else:
            yield _csv_table(path, delimiter, connection)


def _bound(connection: duckdb.DuckDBPyConnection, memory_limit: str, spill: str) -> None:
    try:
        connection.execute("SET memory_limit = $1", [memory_limit])
    except duckdb.Error as error:
        raise TableError(f"{memory_limit!r} is no size of memory; say 500MB or 2GB") from error
    connection.execute("SET temp_directory = $1", [spill])
    # Every thread of the CSV reader holds buffers of its own.
    connection.execute("SET threads = $1", [min(_THREADS, os.cpu_count() or 1)])


def _first_bytes(path: Path, size: int) -> bytes:
    try:
        with path.open("rb") as file:
            found = file.read(size)
    except OSError as error:
        raise TableError(f"{path}: cannot be read: {error.strerror}") from error
    if not found:
        raise TableError(f"{path}: the file is empty")
    return found


def _csv_table(path: Path, delimiter: str, connection: duckdb.DuckDBPyConnection) -> Table:
    if len(delimiter) != 1 or delimiter in '"\r\n\0':
        raise TableError(f"a delimiter is one character other than a quote or a line end, not {delimiter!r}")
    columns = _header(path, delimiter)
    typed = ", ".join(f"c{place}: 'VARCHAR'" for place in range(len(columns)))
    options = (
        "auto_detect = false, header = true, strict_mode = true, compression = 'none', nullstr = '', "
        f"delim = {quoted(delimiter)}, quote = '\"', escape = '\"', columns = {{{typed}}}"
    )
    source = f"read_csv({quoted(_literal_glob(path))}, {_AS_IT_IS}, {options})"
    return Table(path, columns, delimiter, source, connection)


def _header(path: Path, delimiter: str) -> tuple[str, ...]:
    # Decoding reads ahead of the header: what is wrong further down is for DuckDB to report, with its line.
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        try:
            columns = tuple(next(csv.reader(file, delimiter=delimiter, strict=True), ()))
            "".join(columns).encode()
        except (csv.Error, UnicodeEncodeError) as error:
            raise TableError(f"{path}: line 1: not a CSV header in UTF-8") from error
    for place, name in enumerate(columns):
        if not name:
            raise TableError(f"{path}: line 1: column {place + 1} has no name")
        if name in columns[:place]:
            raise TableError(f"{path}: line 1: two columns are called {name!r}")
    if not columns:
        raise TableError(f"{path}: line 1 is blank; a header is needed")
    return columns


def _parquet_table(path: Path, connection: duckdb.DuckDBPyConnection) -> Table:
    raw = f"read_parquet({quoted(_literal_glob(path))}, {_AS_IT_IS})"
    try:
        described = connection.execute(f"DESCRIBE SELECT * FROM {raw}").fetchall()  # noqa: S608 - quoted
    except duckdb.Error as error:
        raise TableError(f"{path}: not a readable Parquet file: {_explained(str(error))}") from error
    columns = tuple(name for name, *_ in described)
    aliases = ", ".join(f"c{place}" for place in range(len(columns)))
    return Table(path, columns, None, f"{raw} AS t({aliases})", connection)


def quoted(text: str) -> str:
    """SQL of a text."""
    return "'" + text.replace("'", "''") + "'"


def _literal_glob(path: Path) -> str:
    """The path as a pattern that matches nothing else."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))


def _explained(error: str) -> str:
    """DuckDB's complaint in one sentence, without its settings and without the record."""
    line = re.search(r"CSV Error on Line: (\d+)", error)
    where = f"line {line[1]}: " if line else ""
    if fields := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", error):
        return f"{where}{fields[2]} fields where the header has {fields[1]}"
    for sign, meaning in _COMPLAINTS.items():
        if sign in error:
            return where + meaning
    return where + error.partition("\n")[0].partition("Error: ")[2][:200]


_COMPLAINTS = {
    "Invalid unicode": "not UTF-8; convert the file first",
    "unterminated quote": "a quoted field does not end where it should",
    "invalid state": "not CSV as RFC 4180 has it; do all lines end alike, and are all quotes closed?",
    "Maximum line size": "a line is longer than 2 MB; is a quote left open?",
    "Out of Memory": "needs more memory than allowed; raise the memory limit",
}


def _first_line(path: Path, delimiter: str, place: int, text: str) -> int | None:
    """The line on which the first record with that text begins; `None` if a field is too long for `csv`."""
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter)
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
