"""The values that documents are made of: counts, names, texts and numbers.

Lists and tables of them can be long (millions of counts in an entry), so each is checked as a whole by a few
passes at the speed of the interpreter's built-ins, and item by item only once something is known to be wrong. Where
the parser makes arrays of int64 instead of such lists (the service's does, with NumPy), they are checked and kept as
they are.
"""

import math
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, cast

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, WrapValidator

from aegis_sdk.wire.faults import Fault, fault, refuse

COUNT_MAX = 2**53 - 1
"""The largest integer below which every JSON reader agrees on every integer (RFC 8259, section 6)."""

IDENTIFIER_LENGTH = 255

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_JSON_NAMES = {bool: "a boolean", float: "a fraction", str: "text", list: "a list", dict: "an object"}


def json_name(value: object) -> str:
    """What a reader of JSON would call a value's type."""
    return "null" if value is None else _JSON_NAMES.get(type(value), "an integer")


def count_fault(value: object) -> str | None:
    """Why a value is no count; None for a count."""
    if type(value) is not int:
        return f"A count is an integer, not {json_name(value)}"
    if value < 0:
        return "A count is not negative"
    return f"A count is at most {COUNT_MAX}" if value > COUNT_MAX else None


def identifier_fault(value: object) -> str | None:
    """Why a value is no name or id; None for one."""
    if type(value) is not str:
        return f"A name is text, not {json_name(value)}"
    if not 1 <= len(value) <= IDENTIFIER_LENGTH:
        return f"A name has 1 to {IDENTIFIER_LENGTH} characters, not {len(value)}"
    return "A name has no control characters" if _CONTROL.search(value) else None


def text_fault(value: object) -> str | None:
    """Why a value is no text; None for text. NUL is refused, since no database stores it."""
    if type(value) is not str:
        return f"A value is given as text, not as {json_name(value)}"
    return "Text has no NUL character" if "\0" in value else None


def repeats(values: list[str]) -> Iterator[Fault]:
    """A fault at each value that stood earlier in the list."""
    first: dict[str, int] = {}
    for index, value in enumerate(values):
        if first.setdefault(value, index) != index:
            yield (index,), f"Repeats item {first[value]}"


def item_faults(values: list[object], fault_of: Callable[[object], str | None]) -> Iterator[Fault]:
    """The faults of the items of a list."""
    for index, value in enumerate(values):
        if detail := fault_of(value):
            yield (index,), detail


def is_count_array(value: Any, dimensions: int, least: int = 0) -> bool:  # noqa: ANN401 -- any value
    """Whether a value is a NumPy array of int64, not empty, all of counts from `least` up. JSON holds no such thing."""
    if not hasattr(value, "dtype") or value.dtype.str[1:] != "i8" or value.ndim != dimensions or not value.size:
        return False
    return bool(value.min() >= least and value.max() <= COUNT_MAX)


def as_list(value: object) -> list[object]:
    """The value, if it is a list or an array of what was one."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, list):
        raise fault(f"A list is expected, not {json_name(value)}")
    return value


def all_counts(values: Callable[[], Iterator[object]], least: int = 0) -> bool:
    """Whether an iterator, asked for once per pass, gives counts only."""
    if not set(map(type, values())) <= {int}:
        return False
    counts = cast("Callable[[], Iterator[int]]", values)
    return min(counts(), default=0) >= least and max(counts(), default=0) <= COUNT_MAX


def _count_list(value: object) -> list[int]:
    """A list of counts, or a fault per item."""
    if is_count_array(value, 1):
        return cast("list[int]", value)
    values = as_list(value)
    if not all_counts(lambda: iter(values)):
        refuse("counts", item_faults(values, count_fault))
    return cast("list[int]", values)


def _text_list(value: object) -> list[str]:
    """A list of texts, or a fault per item."""
    values = as_list(value)
    if not set(map(type, values)) <= {str} or "\0" in "".join(cast("list[str]", values)):
        refuse("texts", item_faults(values, text_fault))
    return cast("list[str]", values)


def _identifier_list(value: object) -> list[str]:
    """A list of names, or a fault per item."""
    values = as_list(value)
    if not set(map(type, values)) <= {str} or not _all_identifiers(cast("list[str]", values)):
        refuse("names", item_faults(values, identifier_fault))
    return cast("list[str]", values)


def _all_identifiers(values: list[str]) -> bool:
    """Whether no text is empty, too long or has a control character."""
    lengths = {1, *map(len, values)}
    return min(lengths) > 0 and max(lengths) <= IDENTIFIER_LENGTH and not _CONTROL.search("".join(values))


def _distinct(values: list[str]) -> list[str]:
    """The texts, if there are any and none stands twice; otherwise a fault per repetition."""
    if not values:
        raise fault("The list is empty")
    if len(set(values)) < len(values):
        refuse("texts", repeats(values))
    return values


def _identifier(value: str) -> str:
    if detail := identifier_fault(value):
        raise fault(detail)
    return value


def _text(value: str) -> str:
    if detail := text_fault(value):
        raise fault(detail)
    return value


def _json_faults(value: object, location: tuple[str | int, ...] = ()) -> Iterator[Fault]:
    """What of a JSON value has no RFC 8785 form, hence no digest, or cannot be stored."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _json_faults(member, (*location, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _json_faults(item, (*location, index))
    elif isinstance(value, str) and "\0" in value:
        yield location, "Text has no NUL character"
    elif isinstance(value, float) and not math.isfinite(value):
        yield location, "A number is finite"
    elif isinstance(value, int) and abs(value) > COUNT_MAX:
        yield location, f"An integer lies between -{COUNT_MAX} and {COUNT_MAX}"


def _json_object(value: dict[str, object]) -> dict[str, object]:
    refuse("object", _json_faults(value))
    return value


def _exact_integer(value: object) -> object:
    """An integer that not every JSON reader understands alike has no digest."""
    if type(value) is int and value > COUNT_MAX:
        raise fault(f"An integer is at most {COUNT_MAX}")
    return value


def _integer_one(value: object) -> object:
    """Python's 1, True and 1.0 are equal, JSON's are not."""
    if type(value) is not int:
        raise fault(f"The format is the integer 1, not {json_name(value)}")
    return value


def instead_of_pydantic(check: Callable[[object], object]) -> WrapValidator:
    """Have `check` validate a type, which pydantic goes on to describe and to write as ever."""
    return WrapValidator(lambda value, _: check(value))


_IDENTIFIER_SCHEMA = {
    "type": "string",
    "minLength": 1,
    "maxLength": IDENTIFIER_LENGTH,
    "pattern": r"^[^\u0000-\u001f\u007f-\u009f]*$",
}

Count = Annotated[int, Field(ge=0, le=COUNT_MAX)]
"""A number of records: an integer, 0 to 2^53-1."""

CountList = Annotated[list[Count], instead_of_pydantic(_count_list)]
"""Counts, or indices."""

EntryName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,99}$")]
"""An entry's name: 1 to 100 of `a-z 0-9 - _ .`, starting with a letter or digit."""

Identifier = Annotated[str, AfterValidator(_identifier), WithJsonSchema(_IDENTIFIER_SCHEMA)]
"""Any other name or id: 1 to 255 characters, no control characters."""

Identifiers = Annotated[list[Identifier], instead_of_pydantic(_identifier_list)]
"""Names, repeated or not."""

DistinctIdentifiers = Annotated[
    list[Identifier],
    Field(min_length=1, json_schema_extra={"uniqueItems": True}),
    instead_of_pydantic(lambda value: _distinct(_identifier_list(value))),
]
"""Names, at least one, none twice."""

Domain = Annotated[
    list[str],
    Field(min_length=1, json_schema_extra={"uniqueItems": True}),
    instead_of_pydantic(lambda value: _distinct(_text_list(value))),
]
"""Values as text, in order, at least one, none twice."""

Text = Annotated[str, AfterValidator(_text)]
"""Text for people."""

Number = Annotated[
    float,
    Field(ge=0, allow_inf_nan=False),
    BeforeValidator(_exact_integer),
    AfterValidator(lambda value: value + 0.0),
]
"""A finite number that is not negative; `-0` becomes `0`, so that equal questions are equal texts."""

PositiveNumber = Annotated[float, Field(gt=0, le=COUNT_MAX, allow_inf_nan=False), BeforeValidator(_exact_integer)]
"""A number above 0, and no larger than a count."""

JsonObject = Annotated[dict[str, object], AfterValidator(_json_object)]
"""Any JSON object whose numbers every JSON reader understands alike."""

FormatOne = Annotated[int, Field(ge=1, le=1), BeforeValidator(_integer_one)]
"""The version of the format of an entry: 1."""
