"""CSV files as Python reads them: their headers, and the line on which a value stands."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TextIO

from aegis_provider.errors import TableError, shortened

#: What DuckDB reads of a line, in bytes; here in characters.
_LONGEST_LINE: Final = 2 << 20


class _LongLineError(csv.Error):
    """A line is too long to hold."""


def header_of(path: Path, delimiter: str) -> tuple[str, ...]:
    """The names in the first line, each once. Raises `TableError`."""
    # Decoding reads ahead of the header: what is wrong further down is for DuckDB to report, with its line.
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        try:
            columns = tuple(next(csv.reader(_lines(file), delimiter=delimiter, strict=True), ()))
            "".join(columns).encode()
        except _LongLineError as error:
            raise TableError(f"{path}: line 1: longer than 2 MB; is it a text with line ends?") from error
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
    """Raises `TableError` if two columns have one name."""
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
    """The lines of a file. Raises `_LongLineError`."""
    while line := file.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            raise _LongLineError
        yield line
