"""Arguments and options of commands that take a table, and functions that parse them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aegis_sdk.cli.options import fields_of
from aegis_sdk.cli.terminal import InputError

if TYPE_CHECKING:
    from aegis_provider.report.model import Report
    from aegis_provider.table import Source


def memory_limit() -> str:
    """The memory limit for reading a table, set by the machine's memory; DuckDB spills the rest to disk."""
    return os.environ.get("AEGIS_MEMORY_LIMIT") or "1GB"


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
EffortOption = Annotated[
    str,
    typer.Option(help="The work of the search, in evaluations: small (8,000), normal (40,000) or thorough (400,000)."),
]
DelimiterOption = Annotated[
    str | None,
    typer.Option(
        callback=lambda text: text and {"tab": "\t", "\\t": "\t"}.get(text, text),
        help="Separates the fields of a CSV table; `tab` for a tab.  [found in the header]",
    ),
]
EscapeFormulasOption = Annotated[
    bool,
    typer.Option("--escape-formulas", help="Write ' before CSV cells and headers that a spreadsheet would run."),
]
AcceptOption = Annotated[
    bool, typer.Option("--accept-identifiers", help="Share values that identify persons, too; only if you may.")
]
NewRandomnessOption = Annotated[
    bool,
    typer.Option(
        "--new-randomness", help="Round afresh, not by your key: one more look at counts that were published before."
    ),
]
ConsumerOption = Annotated[
    str, typer.Option("--to", metavar="CONSUMER", help="Who gets the masked table, for the ledger of what left.")
]
AcceptCompositionOption = Annotated[
    bool,
    typer.Option(
        "--accept-composition", help="Continue although the promise is broken together with what left before."
    ),
]
StaysOption = Annotated[
    bool, typer.Option("--stays", help="The table stays on this machine: the ledger is neither asked nor told.")
]
ColludingOption = Annotated[
    bool, typer.Option("--colluding", help="Measure what all consumers together have, not only each one.")
]
IndexOption = Annotated[
    bool, typer.Option("--index", help="Also draft the index of a data frame, in Parquet or without a name in CSV.")
]
OddOption = Annotated[
    bool,
    typer.Option(
        "--odd-as-missing",
        help="Read texts among numbers or dates as missing if they are in at most 1 % of a column's cells.",
    ),
]
FoldOption = Annotated[
    bool,
    typer.Option("--fold-case", help="Treat values that differ only in case or surrounding blanks as one."),
]
KeepLeaksOption = Annotated[
    str | None,
    typer.Option("--keep-leaks", metavar="NAME[,NAME]", help="Draft these columns although they give the label away."),
]
KeepOption = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="NAME[=MASKING]",
        help="Never drop this attribute; with a masking (identity: as it is), share that or a finer one; repeatable.",
    ),
]

PersonOption = Annotated[
    str | None,
    typer.Option(
        "--person", metavar="COLUMN", help="Whose a record is: privacy then counts people. Never shared.  [the plan's]"
    ),
]
RowsPerPersonOption = Annotated[
    int | None,
    typer.Option(
        "--rows-per-person",
        min=1,
        help="Use at most this many records of each person.  [the fewest that keep 95 %, at most 10]",
    ),
]

ChosenOption = Annotated[
    str | None,
    typer.Option(
        "--configuration", metavar="ID", help="Share this one of the folder, as a refusal offers it.  [the best]"
    ),
]
ConfigurationOption = Annotated[str | None, typer.Option(help="The configuration of the plan that made the release.")]
HoldoutOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=0.9,
        metavar="SHARE",
        help="Share of records held out from the release.  [0 if masked, else 0.2]",
    ),
]


def of_release(release: Path, table: str, plan: Path, delimiter: str, *more: str) -> str:
    """Return the arguments with which commands examine a release beside its table: `RELEASE --against TABLE ...`."""
    files = [str(release), "--against", table, "--plan", str(plan)]
    return shlex.join([*files, *more, *(() if delimiter == "," else ("--delimiter", delimiter))])


@contextmanager
def offering(context: typer.Context) -> Iterator[None]:
    """Add to a refusal of the ledger the command that shares what it offers, to copy, without the secrets of a URL."""
    from aegis_provider.ledger.leaving import CompositionError
    from aegis_provider.table import table_name

    try:
        yield
    except CompositionError as error:
        if error.offered is not None:
            option = "--configuration"
            words = list(context.find_root().obj)
            given = {place for place, word in enumerate(words) if word.partition("=")[0] == option}
            given |= {place + 1 for place in given if words[place] == option}
            kept = [table_name(word) for place, word in enumerate(words) if place not in given]
            error.add_note(f"To share that one: {shlex.join(['aegis', *kept, option, error.offered])}")
        raise


def refuse_contradictions(plan: Path | None, configuration: str | None, holdout: float | None, *, named: bool) -> None:
    """Refuse conflicting options about a release.

    Args:
        plan: The plan of the release.
        configuration: The configuration that masked it.
        holdout: The share of the records held out from it.
        named: Whether columns are named in options.

    Raises:
        InputError: Columns are named although there is a plan, a configuration is named without a plan, or records are
            held out from a masked table.
    """
    if plan is not None and named:
        raise InputError("the plan names the columns: change them there, or omit --plan")
    if plan is None and configuration is not None:
        raise InputError("--configuration names a configuration of a plan; give --plan too")
    if configuration is not None and holdout:
        raise InputError("--configuration masks all records, so none can be held out; omit --holdout")


def refuse_beside(other: str, given: Mapping[str, bool]) -> None:
    """Refuse options that cannot be combined with another one.

    Args:
        other: The other option.
        given: For each option, whether it is given.

    Raises:
        InputError: One of them is given.
    """
    for name in (name for name, is_given in given.items() if is_given):
        raise InputError(f"{name} cannot be combined with {other}; omit one of them")


def names_of(option: str, text: str | None) -> list[str]:
    """Return the comma-separated names. A name that contains a comma is quoted.

    Raises:
        InputError: A name between commas is empty, or the text has several lines.
    """
    names = fields_of(option, text) if text else []
    if not all(names):
        raise InputError(f"--{option}: empty name in {text!r}; write NAME,NAME")
    return names


def kept_of(texts: Sequence[str] | None) -> dict[str, str | None]:
    """Parse the attributes to keep. A text may have several, separated by commas; a name with a comma needs quotes.

    Raises:
        InputError: A name is empty or named twice, or a masking is empty.
    """
    kept: dict[str, str | None] = {}
    for part in (part for text in texts or () for part in fields_of("keep", text) or [""]):
        name, has_masking, masking = part.partition("=")
        if not name or (has_masking and not masking) or name in kept:
            twice = f"{name!r} appears twice" if name in kept else f"expected NAME or NAME=MASKING, not {part!r}"
            raise InputError(f"--keep: {twice}")
        kept[name] = masking or None
    return kept


def page_writer(path: Path | None, *inputs: Source) -> Callable[[Report], None]:
    """Return a function that writes a report as a page to the path, or does nothing without a path. Whatever would
    prevent writing is an error at once.

    Raises:
        OutputError: The path is that of an input, or cannot be written.
    """
    from aegis_provider.files import refuse_overwriting

    if path is None:
        return lambda _: None
    refuse_overwriting(path, *inputs)
    from aegis_provider.report.rendering import write_page

    return partial(write_page, path)
