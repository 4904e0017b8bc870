"""Delivered tables in Croissant, for loaders of training data."""

import csv
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from aegis_sdk._client import Client
from aegis_sdk._files import write_together
from aegis_sdk.cli.options import EntryIdArgument, JsonOption
from aegis_sdk.cli.terminal import InputError, print_result
from aegis_sdk.reading import (
    CroissantTable,
    TableColumn,
    TableFile,
    columns_of,
    croissant_of,
    package_name,
    promises_of,
    shown,
    some,
    title_of,
)
from aegis_sdk.reading.columns import written_names
from aegis_sdk.reading.packages import SUPPRESSED_CELL
from aegis_sdk.texts import MISSING, escaped
from aegis_sdk.wire import IDENTITY, DataPackage, EntryHead

_PARQUET = ".parquet"


def croissant(
    entry_id: EntryIdArgument,
    configuration: Annotated[str, typer.Option(metavar="ID", help="Masked configuration that the table has.")],
    table: Annotated[Path, typer.Option(metavar="FILE", help="Delivered table, CSV or Parquet.")],
    version: Annotated[int | None, typer.Option(min=1, help="Version of the entry; the latest by default.")] = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Describe a delivered table in Croissant.

    Writes a file beside the table, whose name ends in .croissant.json (Croissant 1.1): columns with their types,
    licence, size and SHA-256. Loaders of training data read the table by it, and refuse one that has changed.
    """
    with Client() as client:
        head = client.entry(entry_id, version)
        address = f"{client.url}/datasets/{head.id}"
    columns = columns_of(head.entry_schema, configuration)
    if not columns:
        raise InputError(f"{shown(head.name)} has no masked configuration {shown(configuration)}")
    _refuse_other(table, configuration)
    described = CroissantTable(configuration, _promised(head, configuration), columns, _file_of(table, columns))
    title = f"The table of {configuration} of {title_of(head.title, head.name)}"
    try:
        document = croissant_of(head, [described], url=address, description=title)
    except ValueError as error:
        raise InputError(str(error)) from error
    path = table.with_suffix(".croissant.json")
    try:
        write_together({path: f"{json.dumps(document, indent=2)}\n"})
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
    print_result({"file": str(path)}, [str(path)], as_json=as_json)


def _refuse_other(table: Path, configuration: str) -> None:
    """Compare the configuration with that of the package beside the table, if it has one.

    Raises:
        InputError: It is another one.
    """
    try:
        package = DataPackage.model_validate_json(table.with_name(package_name(table.name)).read_bytes())
    except (OSError, ValidationError):
        return
    if package.configuration != configuration:
        raise InputError(f"--configuration: by its package, {table} is {shown(package.configuration)}")


def _promised(head: EntryHead, configuration: str) -> str:
    """The promised privacy of a configuration, in words."""
    promises = promises_of(head.entry_schema, [configuration])
    stated = [f"{name} {number:g}" for name, [number] in promises.items() if number is not None]
    return f"Promises {', '.join(stated)}." if stated else "Promises no privacy."


def _file_of(path: Path, columns: Sequence[TableColumn]) -> TableFile:
    """A table with these columns.

    Raises:
        InputError: The file cannot be read, lacks one of them, or has a value that no table of the configuration has.
    """
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        known = path.name, path.stat().st_size, digest
        if path.suffix == _PARQUET:
            return TableFile(*known, media_type="application/x-parquet")
        names, texts = _read(path, columns)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: not a table in CSV: {error}") from error
    for column in columns:
        if (values := _values(column)) is not None and (others := texts[column.name] - values):
            first = shown(min(others))
            raise InputError(f"{path}: no table of this configuration has {first!r} in {shown(column.name)}")
    starred = frozenset(name for name, found in texts.items() if SUPPRESSED_CELL in found)
    return TableFile(*known, starred=starred, names=names)


def _read(path: Path, columns: Sequence[TableColumn]) -> tuple[dict[str, str], dict[str, set[str]]]:
    """The name of each column in the header of a CSV file, and its different texts.

    Raises:
        InputError: The file lacks one of the columns.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        header = next(rows, [])
        names = written_names(header, columns)
        if missing := [column.name for column in columns if column.name not in names]:
            raise InputError(f"{path} has no column {some(missing, 5)}")
        places = {column.name: header.index(names[column.name]) for column in columns}
        texts: dict[str, set[str]] = {name: set() for name in places}
        for row in rows:
            for name, place in places.items():
                texts[name].add(row[place] if place < len(row) else MISSING)
    return names, texts


def _values(column: TableColumn) -> frozenset[str] | None:
    """The texts of a masked column in a file; `None` if the entry does not list them one by one."""
    if column.masking == IDENTITY or column.together:
        return None
    return frozenset((MISSING, SUPPRESSED_CELL, *column.texts, *map(escaped, column.texts)))
