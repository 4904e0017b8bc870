"""Documents: requests are read strictly, answers tolerantly, and each fault of a document has its place.

The place is a JSON Pointer (RFC 6901). Pydantic keeps about a kilobyte for each fault, so the faults of a body of a few
megabytes could fill the memory. Long lists and objects are therefore validated in chunks, and validation stops after a
hundred faults.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, Self, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from aegis_sdk.wire.examples import EXAMPLE_PROBLEM

Uuid = Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})]
"""An id from the service, not validated: its format is for generated clients."""


class Request(BaseModel):
    """A part of a request body. Unknown fields and values of the wrong type are refused; nothing is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _has_few_fields(cls, value: object) -> object:
        # Each unknown field would be a fault of its own, and there could be a million.
        if isinstance(value, dict) and len(value) > FAULTS_SHOWN:
            raise fault(f"Has {len(value)} fields, but only {len(cls.model_fields)} are known")
        return value


class CheckedRequest(Request):
    """A part of a request body whose fields must fit together."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        refuse(type(self).__name__, self._faults())
        return self

    def _faults(self) -> "Iterator[Fault]":
        """The faults of fields that do not fit together."""
        raise NotImplementedError


class Answer(BaseModel):
    """A part of a response. New fields and values are accepted, so that old clients keep working."""

    model_config = ConfigDict(extra="allow", frozen=True)


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


def within(place: Location, faults: Iterable[Fault]) -> Iterator[Fault]:
    """The faults of a part, with their locations in the whole."""
    return (((*place, *location), detail) for location, detail in faults)


def refuse_unknown(part: str, names: Iterable[str], known: Collection[str], detail: str) -> None:
    """Refuse the names of members that are not known, with those that are."""
    refuse(part, (((name,), f"{detail}; use one of {', '.join(known)}") for name in names if name not in known))


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


_CHUNK = 1000


def _list_in_chunks(value: object, handler: ValidatorFunctionWrapHandler) -> list[Any]:
    if not isinstance(value, list) or len(value) <= _CHUNK:
        return cast("list[Any]", handler(value))
    valid: list[Any] = []
    faults: list[Fault] = []
    for start in range(0, len(value), _CHUNK):
        try:
            valid += handler(value[start : start + _CHUNK])
        except ValidationError as error:
            faults += (((int(index) + start, *rest), detail) for (index, *rest), detail in raised(error))
        if len(faults) >= FAULTS_SHOWN:
            break
    refuse("list", faults)
    return valid


def _dict_in_chunks(value: object, handler: ValidatorFunctionWrapHandler) -> dict[str, Any]:
    if not isinstance(value, dict) or len(value) <= _CHUNK:
        return cast("dict[str, Any]", handler(value))
    members = list(value.items())
    valid: dict[str, Any] = {}
    faults: list[Fault] = []
    for start in range(0, len(members), _CHUNK):
        try:
            valid |= handler(dict(members[start : start + _CHUNK]))
        except ValidationError as error:
            faults += raised(error)
        if len(faults) >= FAULTS_SHOWN:
            break
    refuse("object", faults)
    return valid


LONG_LIST = WrapValidator(_list_in_chunks)
"""Annotates a list whose length the document decides."""

LONG_OBJECT = WrapValidator(_dict_in_chunks)
"""Annotates an object whose members the document decides."""


_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"(:?)')  # possessive: other matchers keep a state for each character

_NO_STRINGS = b"0123456789 \t\r\n,[]"
"""Most of a long body, and irrelevant to the number of members."""


def refuse_repeated_members(body: bytes | str, document: object) -> None:
    """Refuse a JSON body with repeated members: it has more than the parsed document.

    Raises:
        ValidationError: an object names a member twice.
    """
    text = body.encode() if isinstance(body, str) else body
    if sum(map(len, _STRING.findall(text.translate(None, _NO_STRINGS)))) != _members(document):
        refuse("document", _repeats(text))


def _members(document: object) -> int:
    """The number of members of all objects."""
    members, parts = 0, [document]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            members += len(part)
            parts.extend(one for one in part.values() if isinstance(one, dict | list))
        elif isinstance(part, list):
            parts.extend(one for one in part if isinstance(one, dict | list))
    return members


def _repeats(text: bytes) -> Iterator[Fault]:
    """A fault for each repeated member."""
    repeated: list[str] = []

    def keep_repeated(members: list[tuple[str, object]]) -> None:
        given = Counter(name for name, _ in members)
        if len(given) < len(members):
            repeated.extend(name for name, times in given.items() if times > 1)

    json.loads(text, object_pairs_hook=keep_repeated)
    for name in dict.fromkeys(repeated):
        yield (), f"The member {name!r} is given more than once in the same object"


class ProblemFault(Answer):
    """One fault of the body."""

    pointer: str = Field(default="", description="JSON Pointer (RFC 6901) of the place; empty: the whole body")
    detail: str = Field(default="", description="The fault")


class Problem(Answer):
    """A problem, sent as `application/problem+json`."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_PROBLEM]})

    type: str = Field(default="about:blank", description="URI of the kind of problem")
    title: str = Field(default="", description="Title of the kind of problem")
    status: int | None = Field(default=None, description="HTTP status")
    detail: str = Field(default="", description="Details of this problem")
    instance: str | None = Field(default=None, description="Path of the HTTP request")
    code: str = Field(default="", description="Kind of problem, as a stable slug for programs")
    errors: list[ProblemFault] = Field(default_factory=list, description="The first hundred faults of the body")
    entry: Uuid | None = Field(default=None, description="In a conflict, the id of the entry with this name")
    possible: list[str] | None = Field(
        default=None, description="If a data request is in another state, the actions that the caller may take"
    )
    allowed: str | None = Field(
        default=None, description="With `not_composed`: a configuration that may be granted instead; null: none"
    )
    request_id: str | None = Field(default=None, description="If the service failed, the id of the HTTP request")
