"""Basic values of documents: counts, names, texts, numbers, and tables of numbers as lists of rows.

Lists and tables of them can be long: an entry may have millions of counts. Each is therefore checked as a whole, in a
few passes of fast built-in functions, and item by item only if something is wrong. The service's parser makes int64
arrays (NumPy) instead of lists; these are checked and kept as arrays.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import chain
from typing import Annotated, Any, Final, Literal, cast

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, WithJsonSchema, WrapValidator

from aegis_sdk.wire.documents import Fault, fault, refuse, within

COUNT_MAX = 2**53 - 1
"""The largest integer up to which all JSON readers agree on every integer (RFC 8259, section 6)."""

DEPTH = 32
"""The deepest nesting of objects and lists in a member of free form."""

IDENTIFIER_LENGTH = 255

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_JSON_NAMES = {bool: "a boolean", float: "a fraction", str: "text", list: "a list", dict: "an object"}


def json_name(value: object) -> str:
    """The type of a value, in JSON's words."""
    return "null" if value is None else _JSON_NAMES.get(type(value), "an integer")


def count_fault(value: object) -> str | None:
    """The fault of a value as a count; None if it is one."""
    if type(value) is not int:
        return f"A count is an integer, not {json_name(value)}"
    if value < 0:
        return "A count cannot be negative"
    return f"A count is at most {COUNT_MAX}" if value > COUNT_MAX else None


def identifier_fault(value: object) -> str | None:
    """The fault of a value as a name or id; None if it is one."""
    if type(value) is not str:
        return f"A name is text, not {json_name(value)}"
    if not 1 <= len(value) <= IDENTIFIER_LENGTH:
        return f"A name has 1 to {IDENTIFIER_LENGTH} characters, not {len(value)}"
    return "A name cannot contain control characters" if _CONTROL.search(value) else None


def text_fault(value: object) -> str | None:
    """The fault of a value as text; None if it is one. NUL is refused, since PostgreSQL cannot store it."""
    if type(value) is not str:
        return f"A value is text, not {json_name(value)}"
    return "Text cannot contain a NUL character" if "\0" in value else None


def repeats(values: list[str]) -> Iterator[Fault]:
    """A fault at each value that repeats an earlier one."""
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
    """Whether a value is a non-empty int64 array of counts from `least` up; only the service's parser makes one."""
    if not hasattr(value, "dtype") or value.dtype.str[1:] != "i8" or value.ndim != dimensions or not value.size:
        return False
    return bool(value.min() >= least and value.max() <= COUNT_MAX)


def as_list(value: object) -> list[object]:
    """Return the value if it is a list, or as a list if it is an array; else refuse it."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, list):
        raise fault(f"A list is expected, not {json_name(value)}")
    return value


def all_counts(values: Callable[[], Iterator[object]], least: int = 0) -> bool:
    """Whether all values are counts; `values` returns a new iterator for each pass."""
    if not set(map(type, values())) <= {int}:
        return False
    counts = cast("Callable[[], Iterator[int]]", values)
    return min(counts(), default=0) >= least and max(counts(), default=0) <= COUNT_MAX


def _count_list(value: object) -> list[int]:
    """Return the list if all items are counts; else refuse each other item."""
    if is_count_array(value, 1):
        return cast("list[int]", value)
    values = as_list(value)
    if not all_counts(lambda: iter(values)):
        refuse("counts", item_faults(values, count_fault))
    return cast("list[int]", values)


def _text_list(value: object) -> list[str]:
    """Return the list if all items are texts; else refuse each other item."""
    values = as_list(value)
    if not set(map(type, values)) <= {str} or "\0" in "".join(cast("list[str]", values)):
        refuse("texts", item_faults(values, text_fault))
    return cast("list[str]", values)


def _identifier_list(value: object) -> list[str]:
    """Return the list if all items are names; else refuse each other item."""
    values = as_list(value)
    if set(map(type, values)) <= {str}:
        names = cast("list[str]", values)
        lengths = {1, *map(len, names)}
        if min(lengths) > 0 and max(lengths) <= IDENTIFIER_LENGTH and not _CONTROL.search("".join(names)):
            return names
    refuse("names", item_faults(values, identifier_fault))
    return cast("list[str]", values)


def _distinct(values: list[str]) -> list[str]:
    """Return the texts if there is at least one and none repeats another; else refuse the list or each repetition."""
    if not values:
        raise fault("The list is empty")
    if len(set(values)) < len(values):
        refuse("texts", repeats(values))
    return values


def _without(fault_of: Callable[[object], str | None]) -> AfterValidator:
    def checked(value: str) -> str:
        if detail := fault_of(value):
            raise fault(detail)
        return value

    return AfterValidator(checked)


def _json_faults(value: object, location: tuple[str | int, ...] = ()) -> Iterator[Fault]:
    """The faults of a JSON value: parts that cannot be stored, or that RFC 8785 cannot represent in a digest."""
    if isinstance(value, dict):
        for name, member in value.items():
            if isinstance(name, str) and "\0" in name:
                yield location, "A name cannot contain a NUL character"
            yield from _json_faults(member, (*location, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _json_faults(item, (*location, index))
    elif isinstance(value, str) and "\0" in value:
        yield location, "Text cannot contain a NUL character"
    elif isinstance(value, float) and not math.isfinite(value):
        yield location, "A number must be finite"
    elif isinstance(value, int) and abs(value) > COUNT_MAX:
        yield location, f"An integer lies between -{COUNT_MAX} and {COUNT_MAX}"


def _json_object(value: dict[str, object]) -> dict[str, object]:
    refuse("object", _json_faults(value))
    return value


def exact_integer(value: object) -> object:
    """Refuse an integer on which JSON readers may disagree: it has no digest."""
    if type(value) is int and value > COUNT_MAX:
        raise fault(f"An integer is at most {COUNT_MAX}")
    return value


def _format_number(value: object) -> object:
    """Refuse True and 1.0, which equal 1 in Python but not in JSON."""
    if type(value) is not int:
        raise fault(f"The format must be an integer from 1 to {FORMAT_OF_OFFERS}, not {json_name(value)}")
    return value


def is_deeper(value: Any, levels: int) -> bool:  # noqa: ANN401 -- any JSON value
    """Whether objects and lists are nested deeper than this number of levels."""
    if not isinstance(value, dict | list):
        return False
    members = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(is_deeper(member, levels - 1) for member in members)


def json_size(value: object) -> int:
    """The size of a JSON value without spaces, in bytes."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass"))


def instead_of_pydantic(check: Callable[[object], object]) -> WrapValidator:
    """Replace pydantic's validation of a type by `check`; pydantic still makes its schema and serialises it."""
    return WrapValidator(lambda value, _: check(value))


_IDENTIFIER_SCHEMA = {
    "type": "string",
    "minLength": 1,
    "maxLength": IDENTIFIER_LENGTH,
    "pattern": r"^[^\u0000-\u001f\u007f-\u009f]*$",
}

Unit = Literal["person"]
"""What numbers of privacy count, where it is not records."""

ROWS_PER_PERSON: Final = 1_000
"""The most records of one person that an entry may count."""

Count = Annotated[int, Field(ge=0, le=COUNT_MAX)]
"""A number of records: an integer from 0 to 2^53-1."""

CountList = Annotated[list[Count], instead_of_pydantic(_count_list)]
"""A list of counts or indices."""

EntryName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,99}$")]
"""An entry's name: 1 to 100 of the characters `a-z 0-9 - _ .`, starting with a letter or digit."""

Identifier = Annotated[str, _without(identifier_fault), WithJsonSchema(_IDENTIFIER_SCHEMA)]
"""Any other name or id: 1 to 255 characters, without control characters."""

Identifiers = Annotated[list[Identifier], instead_of_pydantic(_identifier_list)]
"""A list of names, which may repeat."""

DistinctIdentifiers = Annotated[
    list[Identifier],
    Field(min_length=1, json_schema_extra={"uniqueItems": True}),
    instead_of_pydantic(lambda value: _distinct(_identifier_list(value))),
]
"""A list of at least one name, without repetition."""

Domain = Annotated[
    list[str],
    Field(min_length=1, json_schema_extra={"uniqueItems": True}),
    instead_of_pydantic(lambda value: _distinct(_text_list(value))),
]
"""An ordered list of at least one value as text, without repetition."""

UtcTime = Annotated[datetime, AfterValidator(lambda at: at.astimezone(UTC) if at.tzinfo else at)]
"""A point in time from the service, converted to UTC. One without a time zone stays as it is."""

Text = Annotated[str, _without(text_fault)]
"""Text for people."""

Number = Annotated[
    float,
    Field(ge=0, allow_inf_nan=False),
    BeforeValidator(exact_integer),
    AfterValidator(lambda value: value + 0.0),
]
"""A finite, non-negative number; `-0` becomes `0`, so that equal questions have equal JSON."""

PositiveNumber = Annotated[float, Field(gt=0, le=COUNT_MAX, allow_inf_nan=False), BeforeValidator(exact_integer)]
"""A number above 0 and at most the largest count."""

ClassScore = Annotated[
    float,
    Field(ge=-COUNT_MAX, le=COUNT_MAX, allow_inf_nan=False),
    BeforeValidator(exact_integer),
    AfterValidator(lambda value: value + 0.0),
]
"""A number of any sign that is at most the largest count."""

JsonObject = Annotated[dict[str, object], AfterValidator(_json_object)]
"""Any JSON object whose numbers all JSON readers read alike."""

FORMAT_OF_MASKS, FORMAT_WITH_GENERATED, FORMAT_OF_PEOPLE, FORMAT_OF_LABELS, FORMAT_OF_OFFERS = 1, 2, 3, 4, 5
"""The versions of the entry format: the second has generated configurations and transfer utilities, the third counts
people, the fourth has several labels, the fifth says what columns are about and what tables cost."""

EntryFormat = Annotated[int, Field(ge=FORMAT_OF_MASKS, le=FORMAT_OF_OFFERS), BeforeValidator(_format_number)]
"""The version of the entry format."""


FaultOf = Callable[[object], str | None]
"""Returns the fault of a value as a cell, or None."""


def _masked_count_fault(value: object) -> str | None:
    """The fault of a value as a count without noise; None if it is one."""
    negative = type(value) is int and value < 0
    return "A count cannot be negative unless the masking declares `noise`" if negative else count_fault(value)


def _noisy_count_fault(value: object) -> str | None:
    """The fault of a value as a count with noise, which may be negative; None if it is one."""
    if type(value) is int and value < 0:
        return None if value >= -COUNT_MAX else f"A noisy count is at least -{COUNT_MAX}"
    return count_fault(value)


def _probability_fault(value: object) -> str | None:
    """The fault of a value as a probability; None if it is one."""
    if type(value) not in (int, float):
        return f"A probability is a number, not {json_name(value)}"
    return None if 0 <= cast("float", value) <= 1 else "A probability lies between 0 and 1"


def _checked(value: object, fault_of: FaultOf, *, least: int = 0) -> list[list[int]]:
    """Return the table if its cells are integers from `least` up and its rows are of equal length; else refuse it."""
    if is_count_array(value, 2, least):
        return cast("list[list[int]]", value)
    table = _as_table(value)
    if not all_counts(lambda: chain.from_iterable(table), least):
        refuse("table", _cell_faults(table, fault_of))
    return cast("list[list[int]]", _rectangular(table))


def _masked_counts(value: object, _: object, info: ValidationInfo) -> list[list[int]]:
    """A table of counts; negative ones need a `noise` field before the table, whether it is valid or not."""
    if info.data.get("noise", ...) is None:
        return _checked(value, _masked_count_fault)
    return _checked(value, _noisy_count_fault, least=-COUNT_MAX)


def _probability_table(value: object) -> list[list[float]]:
    """Return the table if its cells are probabilities and its rows are of equal length; else refuse it."""
    table = _as_table(value)
    numbers = cast("list[list[float]]", table)
    are_numbers = set(map(type, chain.from_iterable(table))) <= {int, float}
    # The sum finds NaN, which the comparisons of min and max may miss.
    if not are_numbers or not all(min(row) >= 0 and max(row) <= 1 and sum(row) >= 0 for row in numbers if row):
        refuse("table", _cell_faults(table, _probability_fault))
    return cast("list[list[float]]", _rectangular(table))


def _as_table(value: object) -> list[list[object]]:
    """Return the value if it is a list of lists; else refuse it, or each row that is not a list."""
    rows = as_list(value)
    if not set(map(type, rows)) <= {list}:
        wrong = ((index, row) for index, row in enumerate(rows) if type(row) is not list)
        refuse("table", (((index,), f"A row is a list of numbers, not {json_name(row)}") for index, row in wrong))
    return cast("list[list[object]]", rows)


def _cell_faults(table: list[list[object]], fault_of: FaultOf) -> Iterator[Fault]:
    for index, row in enumerate(table):
        yield from within((index,), item_faults(row, fault_of))


def _rectangular(table: list[list[object]]) -> list[list[object]]:
    """Return the table if its rows are of equal length; else refuse each row that is not as long as the first."""
    lengths = list(map(len, table))
    if len(set(lengths)) > 1:
        ragged = ((index, length) for index, length in enumerate(lengths) if length != lengths[0])
        detail = f"but the first row has {lengths[0]}"
        refuse("table", (((index,), f"The row has {length} items, {detail}") for index, length in ragged))
    return table


CountTable = Annotated[list[list[Count]], instead_of_pydantic(lambda value: _checked(value, count_fault))]
"""A rectangular table of counts, as a list of rows."""

NoisyCount = Annotated[int, Field(ge=-COUNT_MAX, le=COUNT_MAX)]
"""A count that may have noise: an integer from -(2^53-1) to 2^53-1."""

Probability = Annotated[float, Field(ge=0, le=1)]

ProbabilityTable = Annotated[list[list[Probability]], instead_of_pydantic(_probability_table)]
"""A rectangular table of probabilities, as a list of rows."""

MaskedCounts = Annotated[list[list[NoisyCount]], WrapValidator(_masked_counts)]
"""The joint counts of a masking, as a list of rows; the model's field `noise` must stand before this one."""
