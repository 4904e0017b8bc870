"""Arguments, options and entry files that several commands share, and the parsing of their texts."""

import csv
import math
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Final

import typer
from pydantic import ValidationError

from aegis_sdk.cli.terminal import InputError
from aegis_sdk.wire import AXES, KINDS, EntryDocument, NotJsonError, faults_of, read_json

RequireOption = Annotated[
    list[str] | None,
    typer.Option("--require", metavar="NAME=NUMBER", help="Required privacy, for example k=5; repeatable."),
]
RequireOfPeopleOption = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="NAME=NUMBER",
        help="Required privacy, for example k=5; repeatable. With unit=person, it must count people.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
AcceptUniqueOption = Annotated[
    bool,
    typer.Option(
        "--accept-unique",
        help="Continue although too many records are alone, or too few show a value, on the shared columns.",
    ),
]
AttributeOption = Annotated[list[str] | None, typer.Option(help="Show only this attribute, in full; repeatable.")]
WeightsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--weights",
        metavar="NAME=NUMBER",
        help="Weights of attributes, for example age=2,zip=0.5; others weigh 1; repeatable.",
    ),
]
KindsOption = Annotated[
    str | None,
    typer.Option(
        "--kinds",
        metavar="KIND,KIND",
        help="Kinds of configurations to rank: masked, generated, or both. With generated, all are ranked by their "
        "declared utility on held-out records.  [masked]",
        show_default=False,
    ),
]
MeasureOption = Annotated[
    str | None,
    typer.Option(
        help="joint, joint_interactions, mutual_information, chi_square, g3, joint_scores, or a classical one: "
        "GET /v1/measures lists all. By default joint, or mutual_information if the entry lacks the counts of pairs.",
        show_default=False,
    ),
]
AskedLabelOption = Annotated[
    str | None,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="Label to predict: one that the entry lists, or a column of its pairs.  [the entry's first label]",
        show_default=False,
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="MASKING",
        help="Masking of the label: how well is this coarser label predicted?  [each configuration's own label]",
        show_default=False,
    ),
]
FrontierOption = Annotated[
    str | None,
    typer.Option(
        "--frontier",
        metavar="AXIS,AXIS",
        help="Two or three axes, such as k,price: print the configurations that no other beats on these and in "
        f"utility. They are {', '.join(AXES)}.",
        show_default=False,
    ),
]
EntryIdArgument = Annotated[str, typer.Argument(metavar="ENTRY_ID", help="Id of an entry, from `aegis publish`.")]
RequestIdArgument = Annotated[
    str, typer.Argument(metavar="REQUEST_ID", help="Id of a request, from `aegis requests new`.")
]
EntryArgument = Annotated[Path, typer.Argument(metavar="ENTRY", help="Entry file of `aegis summarize`.")]


_NUMBER = r"(\d+\.?\d*|\.\d+)"


def requirements_of(texts: list[str] | None) -> dict[str, float]:
    """Parse required numbers by privacy criterion.

    Raises:
        InputError: A text is not NAME=NUMBER, or a name has two numbers.
    """
    return _numbers_by_name("--require", "k=5", texts or [], r"\w+")


def requirements_in(texts: list[str] | None) -> tuple[dict[str, float], str | None]:
    """Parse required numbers by privacy criterion, and their unit (`unit=person`), None for records.

    Raises:
        InputError: As in `requirements_of`, or there is only a unit.
    """
    of_people = "unit=person" in (texts or [])
    numbers = requirements_of([text for text in texts or [] if text != "unit=person"])
    if of_people and not numbers:
        raise InputError("--require unit=person says what limits count; add one, for example --require k=5")
    return numbers, "person" if of_people else None


def weights_of(texts: list[str] | None) -> dict[str, float]:
    """Parse weights by attribute. A text may have several, separated by commas; a name with a comma needs quotes.

    Raises:
        InputError: A text is not NAME=NUMBER, or a name has two numbers.
    """
    parts = [part for text in texts or [] for part in fields_of("weights", text) or [""]]
    return _numbers_by_name("--weights", "age=2", parts, r".+")


def kinds_of(text: str | None) -> list[str] | None:
    """Parse the comma-separated kinds of configurations; None without a text.

    Raises:
        InputError: A kind is unknown, or named twice.
    """
    if text is None:
        return None
    named = fields_of("kinds", text)
    if not named or set(named) - set(KINDS) or len(set(named)) < len(named):
        raise InputError(f"--kinds must be {' or '.join(KINDS)}, or both separated by a comma, not {text!r}")
    return named


def axes_of(text: str | None) -> list[str] | None:
    """Parse the comma-separated axes of a frontier; None without a text.

    Raises:
        InputError: These are not two or three different axes.
    """
    if text is None:
        return None
    named = fields_of("frontier", text)
    if not 1 < len(set(named)) == len(named) < 4 or set(named) - set(AXES):  # noqa: PLR2004 - two or three
        raise InputError(f"--frontier must be two or three of {', '.join(AXES)}, not {text!r}")
    return named


def fields_of(option: str, text: str) -> list[str]:
    """Split a text at commas; a name with a comma needs quotes.

    Raises:
        InputError: The text has several lines.
    """
    try:
        return next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        raise InputError(f"--{option} must be one line of parts separated by commas, not {text!r}") from error


def _numbers_by_name(option: str, example: str, texts: Iterable[str], name: str) -> dict[str, float]:
    """Parse texts of the form NAME=NUMBER into numbers by name; `name` is the pattern of a name."""
    numbers: dict[str, float] = {}
    for text in texts:
        match = re.fullmatch(f"({name})={_NUMBER}", text, re.ASCII)
        if not match:
            again = f"; repeat {option} for another" if "," in text else ""
            raise InputError(f"{option} must be NAME=NUMBER, for example {example}, not {text!r}{again}")
        number = float(match[2])
        if not math.isfinite(number):
            raise InputError(f"{option}: the number of {match[1]} is too large")
        if numbers.setdefault(match[1], number) != number:
            raise InputError(f"{option}: {match[1]} has two values, {numbers[match[1]]:g} and {number:g}; give one")
    return numbers


_CARD: Final = {"configuration", "privacy_verdict"}
"""Members that only release cards have."""

_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def read(path: Path) -> bytes:
    """The content of a file.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        hint = "; this command takes an entry file, not the id of an entry" if _ID.fullmatch(str(path)) else ""
        raise InputError(f"{path}: cannot be read: {error.strerror}{hint}") from error


def document_of(
    path: Path, content: bytes, validate: Callable[[object], EntryDocument] = EntryDocument.model_validate
) -> EntryDocument:
    """The entry in a file with this content, validated by the service's rules for its structure.

    Args:
        path: The file, for messages.
        content: Its content.
        validate: `publishable` also checks the size. A published entry may be larger than one that can be published.

    Raises:
        InputError: The content is not JSON, or not a valid entry; the message has the file and the first fault.
    """
    try:
        document = read_json(content)
        _refuse_card(path, document)
        return validate(document)
    except NotJsonError as error:
        raise InputError(f"{path}: not JSON: {error}") from error
    except ValidationError as error:
        fault = faults_of(error)[0]
        raise InputError(f"{path}: {fault.pointer or 'the entry'}: {fault.detail}") from error


def _refuse_card(path: Path, document: object) -> None:
    """Refuse a release card, which lies beside its entry.

    Raises:
        InputError: The document is a release card.
    """
    if isinstance(document, dict) and document.keys() >= _CARD:
        raise InputError(f"{path}: is a release card, not an entry; the entry of its release is entry.json beside it")
