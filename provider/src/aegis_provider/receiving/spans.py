"""The numbers that a masked text stands for, where the text says so: a number, a date or an interval."""

import datetime as dt
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from aegis_provider.errors import UnmaskableValueError
from aegis_provider.table.values import decimal_of

_INTERVAL = re.compile(r"[\[(](?P<low>[^,]+),(?P<high>[^,]+)\)(?P<missing> or missing)?")
_RANGE = re.compile(r"(?P<low>-?[\d.]+)-(?P<high>-?[\d.]+)", re.ASCII)
_OPEN = re.compile(r"(?P<low>-?[\d.]+)\+|<(?P<high>-?[\d.]+)", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_INFINITE: Final = ("-inf", "inf")


@dataclass(frozen=True)
class Span:
    """The numbers from `low` to `high`, without `high` itself if the span is `open`."""

    low: Decimal
    high: Decimal
    open: bool = False

    def overlaps(self, other: "Span") -> bool:
        """Return whether some number is in both."""
        first, second = (self, other) if self.low <= other.low else (other, self)
        return first.high > second.low or (first.high == second.low and not first.open)

    def widened(self, by: Decimal) -> "Span":
        """Return the span with so much more on either side, both ends included."""
        return Span(self.low - by, self.high + by)


def span_of(text: str) -> Span | None:
    """Return what a masked text stands for; `None` if it does not say."""
    if interval := _INTERVAL.fullmatch(text):
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


def is_interval(text: str) -> bool:
    """Return whether a text is written as an interval, as entries name groups of numbers."""
    return _INTERVAL.fullmatch(text) is not None


def _end(text: str) -> Decimal | None:
    """Return the number or the date, as the number of its day; `None` if it is neither, or longer than numbers are."""
    if text in _INFINITE:
        return Decimal(text)
    try:
        if _DATE.fullmatch(text):
            return Decimal(dt.date.fromisoformat(text).toordinal())
        return decimal_of(text)
    except (UnmaskableValueError, ValueError):
        return None
