"""Arguments and options of commands that take a table, and functions that parse them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aegis_provider.report.model import Report
from aegis_sdk.cli.failures import InputError
from aegis_sdk.cli.options import fields_of

if TYPE_CHECKING:
    from aegis_provider.table import Source


def memory_limit() -> str:
    """The memory that reading a table may use, which the machine decides, not the command; the rest goes to disk."""
    return os.environ.get("AEGIS_MEMORY_LIMIT") or "1GB"


def delimiter_of(text: str) -> str:
    """Return the delimiter that the option's text stands for."""
    return {"tab": "\t", "\\t": "\t"}.get(text, text)


TableArgument = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="CSV with a header, or Parquet; a glob, 'part-*.csv'; or a database's URL with the table after it, "
        "'postgresql://user@host/db#schema.table'.",
    ),
]
PlanOption = Annotated[Path, typer.Option("--plan", help="The plan file (YAML).")]
OptionalPlanOption = Annotated[Path | None, typer.Option("--plan", help="The plan file (YAML).")]
MaskedTableOption = Annotated[
    Path, typer.Option("--output", help="The masked table: Parquet if it ends in .parquet, CSV otherwise.")
]
HtmlOption = Annotated[Path | None, typer.Option("--html", help="Also write the report to this HTML file.")]
DelimiterOption = Annotated[
    str | None,
    typer.Option(
        callback=lambda text: text and delimiter_of(text),
        help="Separates the fields of a CSV table; `tab` for a tab.  [found in the header]",
    ),
]
EscapeFormulasOption = Annotated[
    bool,
    typer.Option("--escape-formulas", help="Write ' before cells and headers of CSV that a spreadsheet would run."),
]
AcceptOption = Annotated[
    bool, typer.Option("--accept-identifiers", help="Share what identifies persons, too: you may, and you want to.")
]
IndexOption = Annotated[
    bool, typer.Option("--index", help="Draft the index of a data frame, in Parquet or without a name in CSV, too.")
]
OddOption = Annotated[
    bool,
    typer.Option(
        "--odd-as-missing",
        help="Take other texts among numbers or dates for missing, if they are in at most 1 % of a column's cells.",
    ),
]
FoldOption = Annotated[
    bool,
    typer.Option("--fold-case", help="Values that differ only in case, or in blanks around them, are one."),
]


ConfigurationOption = Annotated[str | None, typer.Option(help="The configuration of the plan that masked the release.")]
HoldoutOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=0.9,
        metavar="SHARE",
        help="The share of records that the release never saw.  [0 if masked, else 0.2]",
    ),
]


def refuse_contradictions(plan: Path | None, configuration: str | None, holdout: float | None, *, named: bool) -> None:
    """Refuse options about a release that contradict each other.

    Args:
        plan: The plan that the release was made by.
        configuration: The configuration that masked it.
        holdout: The share of the records that it never saw.
        named: Whether columns are named in options.

    Raises:
        InputError: The plan says already what columns are, a configuration is named without a plan, or records are said
            to be held out from a masked table.
    """
    if plan is not None and named:
        raise InputError("the plan says which columns are what: name them there, or omit --plan")
    if plan is None and configuration is not None:
        raise InputError("--configuration names a configuration of a plan; give --plan too")
    if configuration is not None and holdout:
        raise InputError("--configuration masks all records, so none can be held out; leave --holdout out")


def refuse_beside(reason: str, given: Mapping[str, bool]) -> None:
    """Refuse options that mean nothing beside another one.

    Args:
        reason: What they are about, and what the other does.
        given: Whether each is there.

    Raises:
        InputError: One of them is.
    """
    for name in (name for name, is_given in given.items() if is_given):
        raise InputError(f"{name} {reason}; omit one of them")


def names_of(option: str, text: str | None) -> list[str]:
    """Return the names between commas. A name that contains a comma stands in quotes.

    Raises:
        InputError: A name is missing beside a comma, or the text has several lines.
    """
    names = fields_of(option, text) if text else []
    if not all(names):
        raise InputError(f"--{option}: a name is missing beside a comma in {text!r}; write NAME,NAME")
    return names


def page_writer(path: Path | None, *inputs: Source) -> Callable[[Report], None]:
    """Return a function that writes a report as a page to the path, or does nothing if there is no path.

    Anything that would prevent writing is an error at once.

    Raises:
        OutputError: The path is that of an input, or cannot be written.
    """
    from aegis_provider.output import refuse_overwriting

    if path is None:
        return lambda _: None
    refuse_overwriting(path, *inputs)
    from aegis_provider.report.page import write_page

    return partial(write_page, path)
