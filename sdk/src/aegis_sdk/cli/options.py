"""Arguments and options that several commands have, and how their texts are read."""

import re
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
EntryArgument = Annotated[Path, typer.Argument(metavar="ENTRY", help="What `aegis summarize` wrote.")]


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
