"""Arguments and options that several commands have, and how their texts are read."""

import csv
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from aegis_sdk.cli.failures import InputError

RequireOption = Annotated[
    list[str] | None,
    typer.Option("--require", metavar="NAME=NUMBER", help="Privacy to hold, as k=5; repeatable."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
AttributeOption = Annotated[list[str] | None, typer.Option(help="This attribute only, in full; repeatable.")]
WeightsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--weights",
        metavar="NAME=NUMBER",
        help="How much attributes count, as age=2,zip=0.5; 1 where nothing is said; repeatable.",
    ),
]
EntryIdArgument = Annotated[str, typer.Argument(metavar="ENTRY_ID", help="What `aegis publish` printed.")]
EntryArgument = Annotated[Path, typer.Argument(metavar="ENTRY", help="What `aegis summarize` wrote.")]


_NUMBER = r"(\d+\.?\d*|\.\d+)"


def requirements_of(texts: list[str] | None) -> dict[str, float]:
    """Privacy by name.

    Raises:
        InputError: A text is not NAME=NUMBER, or a name has two numbers.
    """
    return _numbers_by_name("--require", "k=5", texts or [], r"\w+")


def weights_of(texts: list[str] | None) -> dict[str, float]:
    """Weights by attribute; between commas there may be several, and a name that holds a comma stands in quotes.

    Raises:
        InputError: A text is not NAME=NUMBER, or a name has two numbers.
    """
    parts = [part for text in texts or [] for part in fields_of("weights", text) or [""]]
    return _numbers_by_name("--weights", "age=2", parts, r".+")


def fields_of(option: str, text: str) -> list[str]:
    """What stands between commas; a name that holds a comma stands in quotes.

    Raises:
        InputError: The text has several lines.
    """
    try:
        return next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        raise InputError(f"--{option} is one line, with commas between its parts, not {text!r}") from error


def _numbers_by_name(option: str, example: str, texts: Iterable[str], name: str) -> dict[str, float]:
    """Numbers by what stands before the last `=` of each text, of which `name` is the pattern."""
    numbers: dict[str, float] = {}
    for text in texts:
        match = re.fullmatch(f"({name})={_NUMBER}", text, re.ASCII)
        if not match:
            raise InputError(f"{option} is NAME=NUMBER, as {example}, not {text!r}")
        number = float(match[2])
        if not math.isfinite(number):
            raise InputError(f"{option}: the number of {match[1]} is too large")
        if numbers.setdefault(match[1], number) != number:
            raise InputError(f"{option}: {match[1]} is to be {numbers[match[1]]:g} and {number:g}; say one of them")
    return numbers
