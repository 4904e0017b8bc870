"""Values that are written as text: their type, the numbers or dates that a masked value stands for, and formulas."""

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final

MISSING: Final = ""
"""The text of a missing value, which comes first in every domain that has one."""


class ValueType(StrEnum):
    """The types of the contract; an ordered domain is in numeric, chronological or text order."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"


# At most 400 digits, and three in the exponent: any binary float fits, and exact arithmetic stays small.
_NUMBER = re.compile(r"[+-]?(?=\.?\d)\d{0,400}(?:\.\d{0,400})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)

# A leading zero marks an identifier (a postal code, say): "01234" is not the number 1234.
_PLAIN_INTEGER = re.compile(r"[+-]?(?:0|[1-9]\d{0,399})", re.ASCII)
_LEADING_ZERO = re.compile(r"[+-]?0\d", re.ASCII)

# Programs that write an exponent also write a point or a sign: 2.5E3, 1e-05, 1e+20.
_POINT_OR_SIGN = re.compile(r"\.|[eE][+-]")


def number_in(text: str) -> Decimal | None:
    """The exact number that a text is; `None` if it is not a finite number."""
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def date_in(text: str) -> dt.date | None:
    """The date that a text is (YYYY-MM-DD); `None` if it is none."""
    try:
        return dt.date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


def is_written_as(text: str, kind: ValueType) -> bool:
    """Whether a text is written as a value of this type."""
    match kind:
        case ValueType.BOOLEAN:
            return text.lower() in {"true", "false"}
        case ValueType.INTEGER:
            return _PLAIN_INTEGER.fullmatch(text) is not None
        case ValueType.NUMBER:
            return number_in(text) is not None and not _LEADING_ZERO.match(text)
        case _:
            return date_in(text) is not None


def infer_type(texts: Iterable[str]) -> ValueType:
    """The narrowest type that fits all texts: boolean (true, false), integer, number, date, or else string.

    Missing values are ignored. Texts with a leading zero ("01234") are identifiers, so the type is string. So are whole
    numbers with a bare exponent ("1E1", a ward): an exponent counts only if some text has a decimal point or a signed
    exponent. Yes and no, or 1 and 0, are boolean only if the plan says so.
    """
    present = [text for text in texts if text != MISSING]
    if not present:
        return ValueType.STRING
    kinds = (ValueType.BOOLEAN, ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE)
    kind = next((kind for kind in kinds if all(is_written_as(text, kind) for text in present)), ValueType.STRING)
    can_be_codes = kind is ValueType.NUMBER and not any(map(_POINT_OR_SIGN.search, present))
    return ValueType.STRING if can_be_codes else kind


INTERVAL: Final = re.compile(r"[\[(](?P<low>[^,]+),(?P<high>[^,]+)\)(?P<missing> or missing)?")
TOGETHER: Final = re.compile(r"(.* or )?(others|rare values)( \(\d+\))?|.* or .*|.* to .*", re.DOTALL)
"""Names of values that an entry lists together."""
_RANGE = re.compile(r"(?P<low>-?[\d.]+)-(?P<high>-?[\d.]+)", re.ASCII)
_OPEN = re.compile(r"(?P<low>-?[\d.]+)\+|<(?P<high>-?[\d.]+)", re.ASCII)
_INFINITE: Final = ("-inf", "inf")


@dataclass(frozen=True)
class Span:
    """The numbers from `low` to `high`, without `high` itself if the span is `open`; dates are their day numbers."""

    low: Decimal
    high: Decimal
    open: bool = False

    def overlaps(self, other: "Span") -> bool:
        """Whether some number is in both."""
        first, second = (self, other) if self.low <= other.low else (other, self)
        return first.high > second.low or (first.high == second.low and not first.open)


def span_of(text: str) -> Span | None:
    """The span of a masked text; `None` if it has none."""
    if interval := INTERVAL.fullmatch(text):
        low, high = _end(interval["low"]), _end(interval["high"])
        return None if low is None or high is None else Span(low, high, open=True)
    if both := _RANGE.fullmatch(text):
        low, high = _end(both["low"]), _end(both["high"])
        return None if low is None or high is None else Span(low, high)
    if (one := _OPEN.fullmatch(text)) is not None:
        end = _end(one["low"] or one["high"])
        if end is None:
            return None
        return Span(end, Decimal("Infinity")) if one["low"] else Span(Decimal("-Infinity"), end, open=True)
    number = _end(text)
    return None if number is None or not number.is_finite() else Span(number, number)


def is_of_days(text: str) -> bool:
    """Whether a text is a day, or an interval of days with at least one limit."""
    interval = INTERVAL.fullmatch(text)
    ends = [text] if interval is None else [end for end in interval.group("low", "high") if end not in _INFINITE]
    return bool(ends) and all(date_in(end) is not None for end in ends)


def _end(text: str) -> Decimal | None:
    """A number, or a date as its day number; `None` if the text is neither, or too long."""
    if text in _INFINITE:
        return Decimal(text)
    day = date_in(text)
    return number_in(text) if day is None else Decimal(day.toordinal())


_MARKS: Final = ("=", "+", "-", "@", "\t", "\r")
_SIGNED: Final = re.compile(r"[+-][\d.,]*\d[\d.,]*(?:[eE][+-]?\d+)?", re.ASCII)
_APOSTROPHE: Final = "'"


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would interpret a cell as a formula; `-5` and `+3` are numbers."""
    return text.startswith(_MARKS) and _SIGNED.fullmatch(text) is None


def escaped(text: str) -> str:
    """The text with an apostrophe before a formula, so that it is text."""
    return _APOSTROPHE + text if is_formula(text.lstrip(_APOSTROPHE)) else text


def unescaped(text: str) -> str:
    """The original of an `escaped` text; other texts do not change."""
    is_escaped = text.startswith(_APOSTROPHE) and is_formula(text.lstrip(_APOSTROPHE))
    return text[1:] if is_escaped else text
