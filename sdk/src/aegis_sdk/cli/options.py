"""Arguments and options that several commands have, and how their texts are read."""

import csv
import re
from pathlib import Path
from typing import Annotated

import typer

from aegis_sdk.cli.failures import InputError

TableArgument = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="CSV with a header, or Parquet; a glob, 'part-*.csv'; or a database's URL with the table after it, "
        "'postgresql://user@host/db#schema.table'.",
    ),
]
PlanOption = Annotated[Path, typer.Option("--plan", help="The plan file (YAML).")]
DelimiterOption = Annotated[str, typer.Option(help="Between the fields of a CSV table; `tab` for a tab.")]
MemoryOption = Annotated[str, typer.Option(help="What reading may hold in memory; the rest goes to disk.")]
RequireOption = Annotated[
    list[str] | None,
    typer.Option("--require", metavar="NAME=NUMBER", help="Privacy to hold, as k=5; repeatable."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
EntryArgument = Annotated[Path, typer.Argument(metavar="ENTRY", help="What `aegis summarize` wrote.")]


def delimiter_of(text: str) -> str:
    """The delimiter that the option's text means."""
    return {"tab": "\t", "\\t": "\t"}.get(text, text)


def names_of(option: str, text: str | None) -> list[str]:
    """The names between commas; one that holds a comma stands in quotes.

    Raises:
        InputError: A name is missing beside a comma.
    """
    names = next(csv.reader([text], skipinitialspace=True), []) if text else []
    if not all(names):
        raise InputError(f"--{option}: a name is missing beside a comma in {text!r}; say NAME,NAME")
    return names


def requirements_of(texts: list[str] | None) -> dict[str, float]:
    """Privacy by name.

    Raises:
        InputError: A text is not NAME=NUMBER, or a name has two numbers.
    """
    required: dict[str, float] = {}
    for name, number in map(_requirement, texts or []):
        if required.setdefault(name, number) != number:
            raise InputError(f"--require: {name} is to be {required[name]:g} and {number:g}; say one of them")
    return required


def _requirement(text: str) -> tuple[str, float]:
    match = re.fullmatch(r"(\w+)=(\d+\.?\d*|\.\d+)", text, re.ASCII)
    if not match:
        raise InputError(f"--require is NAME=NUMBER, as k=5, not {text!r}")
    return match[1], float(match[2])
