"""Faults of a document, each with the JSON Pointer (RFC 6901) of its place."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

FAULTS_SHOWN = 100

# Pydantic's own messages use Python's words, since the value was already parsed.
_JSON_WORDS = {
    "model_type": "An object is expected",
    "model_attributes_type": "An object is expected",
    "dict_type": "An object is expected",
    "list_type": "A list is expected",
    "extra_forbidden": "Unknown field",
    "missing": "This field is required",
}

Location = tuple[str | int, ...]
"""The member names and indices that lead from the root of a document to a place in it."""

Fault = tuple[Location, str]
"""A place, relative to the part that is being checked, and what is wrong there."""


@dataclass(frozen=True, slots=True)
class PointedFault:
    """What is wrong and where; `pointer` is empty for the document itself."""

    pointer: str
    detail: str


def pointer_of(location: Iterable[str | int]) -> str:
    """The JSON Pointer of a location, with `~` and `/` escaped (RFC 6901, section 3)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in location)


def raised(error: ValidationError) -> list[Fault]:
    """The first hundred faults that validation found, in the order of the document's fields."""
    lines = error.errors(include_url=False, include_context=False, include_input=False)[:FAULTS_SHOWN]
    return [(line["loc"], _JSON_WORDS.get(line["type"], line["msg"])) for line in lines]


def faults_of(error: ValidationError) -> list[PointedFault]:
    """The first hundred faults that validation found, in the order of the document's fields."""
    return [PointedFault(pointer_of(location), detail) for location, detail in raised(error)]


def fault(detail: str) -> PydanticCustomError:
    """The error that reports one fault of the value being validated."""
    return PydanticCustomError("contract", "{detail}", {"detail": detail})


def refuse(part: str, faults: Iterable[Fault]) -> None:
    """Report the faults, if any, as one `ValidationError` of the named part.

    If a validator lets this error pass, pydantic puts the part's own location before that of each fault. At most a
    hundred faults are taken from the iterable, so refusing millions of bad cells costs no more than that.
    """
    lines = [
        InitErrorDetails(type=fault(detail), loc=location, input=None)
        for location, detail in islice(faults, FAULTS_SHOWN)
    ]
    if lines:
        raise ValidationError.from_exception_data(part, lines)
