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
"""A path of member names and indices from the root of a document."""

Fault = tuple[Location, str]
"""A location, relative to the part being checked, and the fault there."""


@dataclass(frozen=True, slots=True)
class PointedFault:
    """A fault and its place; `pointer` is empty for the document itself."""

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

    Raised from a validator, pydantic prefixes the location of each fault with that of the part. At most a hundred
    faults are taken from the iterable, so millions of bad cells cost no more.
    """
    lines = [
        InitErrorDetails(type=fault(detail), loc=location, input=None)
        for location, detail in islice(faults, FAULTS_SHOWN)
    ]
    if lines:
        raise ValidationError.from_exception_data(part, lines)
