"""CSV files as Python reads them: their headers, and the line on which a value stands."""

import csv
from pathlib import Path

from aegis_sdk.provider.errors import TableError


def header_of(path: Path, delimiter: str) -> tuple[str, ...]:
    """The names in the first line, each once. Raises `TableError`."""
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


def first_line(path: Path, delimiter: str, place: int, text: str) -> int | None:
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
