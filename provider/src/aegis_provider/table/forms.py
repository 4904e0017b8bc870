"""The notation of numbers and dates: decimal marks, thousands, and orders of dates."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from aegis_provider.table.engine import Expression

_BLANKS: Final = " \t\u00a0\u202f"
BETWEEN_THOUSANDS: Final = " \u00a0\u202f'\u2019"
MARKS: Final = {".": ",", ",": "."}
ORDERS: Final = ("ymd", "dmy", "mdy")

MONTHS: Final = {  # by their first letters in some languages, without accents
    1: "jan ene gen",
    2: "feb fev",
    3: "mar mrt",
    4: "apr avr abr",
    5: "may mai mei mag",
    6: "jun juin giu",
    7: "jul juil lug",
    8: "aug aou ago",
    9: "sep set",
    10: "oct okt ott",
    11: "nov",
    12: "dec dez dic",
}
_ACCENTS: Final = {"ä": "a", "é": "e", "û": "u", "ç": "c"}

_BETWEEN: Final = "[-/., ]+"
_DAY, _MONTH, _YEAR = "([0-9]{1,2})(?:st|nd|rd|th)?", "([0-9]{1,2}|[a-z]{3,10})", "([0-9]{4})"
_MIDNIGHT: Final = "(?:[ t]+00:00(?::00(?:[.]0+)?)?(?:z|[-+][0-9]{2}(?::?[0-9]{2})?)?)?"
_PARTS: Final = {"y": _YEAR, "m": _MONTH, "d": _DAY}

_LEAP: Final = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29"
_SOME_YEAR: Final = "([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_CALENDAR: Final = (
    f"^({_LEAP}|{_SOME_YEAR}-(((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01]))|((0[469]|11)-(0[1-9]|[12][0-9]|30))"
    "|(02-(0[1-9]|1[0-9]|2[0-8]))))$"
)
_WHOLE: Final = "(0|[1-9][0-9]*)"  # a leading zero marks a code
_PLAIN: Final = {
    # A bare exponent, as in 1E1, may be a code.
    "numbers": (f"^[-+]?({_WHOLE}([eE][-+][0-9]{{1,3}})?|({_WHOLE}[.][0-9]*|[.][0-9]+)([eE][-+]?[0-9]{{1,3}})?)$"),
    "dates": _CALENDAR,
}


class Form(Protocol):
    """A notation of numbers or dates."""

    @property
    def values(self) -> str:
        """The kind of values: `numbers` or `dates`."""
        ...

    @property
    def field(self) -> str:
        """The field of an attribute in a plan that states it: `decimal: ","`."""
        ...

    def plain(self, text: str) -> str | None:
        """Return the plain text of a value; `None` if it is not in this notation."""
        ...

    def key(self, value: Expression) -> Expression:
        """Return the same in the engine, NULL for `None`."""
        ...


@dataclass(frozen=True)
class Plain:
    """Plain decimals, or plain dates: every value is its own plain text."""

    values: str

    @property
    def field(self) -> str:
        """The type."""
        return f"type: {self.values.removesuffix('s')}"

    def plain(self, text: str) -> str | None:
        """Return the text."""
        return text if re.fullmatch(_PLAIN[self.values], text) else None

    def key(self, value: Expression) -> Expression:
        """Return the same in the engine."""
        return value.re_search(_PLAIN[self.values]).ifelse(value, None)


def _numbers(decimal: str) -> re.Pattern[str]:
    mark, between = f"[{decimal}]", f"[{MARKS[decimal]}{BETWEEN_THOUSANDS}]"
    whole = f"([1-9][0-9]{{0,2}}({between}[0-9]{{3}})+|{_WHOLE})"
    number = f"({whole}({mark}[0-9]*)?|{mark}[0-9]+)([eE][+-]?[0-9]{{1,3}})?"
    return re.compile(f"^[{_BLANKS}]*[-+\u2212]?{number}[{_BLANKS}]*$")


_NUMBERS: Final = {mark: _numbers(mark) for mark in MARKS}
_TO_PLAIN: Final = {
    mark: str.maketrans({**dict.fromkeys(other + BETWEEN_THOUSANDS + _BLANKS, ""), mark: ".", "\u2212": "-"})
    for mark, other in MARKS.items()
}


@dataclass(frozen=True)
class Numbers:
    """Numbers with this decimal mark; thousands may be separated by the other mark, blanks or apostrophes."""

    decimal: str = "."

    @property
    def values(self) -> str:
        """Numbers."""
        return "numbers"

    @property
    def field(self) -> str:
        """The decimal mark."""
        return f'decimal: "{self.decimal}"'

    def plain(self, text: str) -> str | None:
        """Return the number with a decimal point and no thousands separators."""
        return text.translate(_TO_PLAIN[self.decimal]) if _NUMBERS[self.decimal].fullmatch(text) else None

    def key(self, value: Expression) -> Expression:
        """Return the same in the engine."""
        between = f"[{MARKS[self.decimal]}{BETWEEN_THOUSANDS}{_BLANKS}]"
        digits = value.re_replace(between, "").replace(self.decimal, ".").replace("\u2212", "-")
        return value.re_search(_NUMBERS[self.decimal].pattern).ifelse(digits, None)


def _steps(order: str) -> Sequence[tuple[str, str]]:
    """Return the replacements that turn dates in this order into YYYY-MM-DD, in sequence."""
    date = f"^[ \t]*{_BETWEEN.join(_PARTS[part] for part in order)}{_MIDNIGHT}[ \t]*$"
    in_order = "-".join(rf"\{order.index(part) + 1}" for part in "ymd")
    named = [(f"-({'|'.join(names.split())})[a-z]*-", f"-{number:02}-") for number, names in MONTHS.items()]
    return (*_ACCENTS.items(), (date, in_order), *named, ("-([0-9])-", r"-0\1-"), ("-([0-9])$", r"-0\1"))


@dataclass(frozen=True)
class Dates:
    """Dates with parts in this order, possibly with the name of the month, and midnight as the time.

    Dates in the form YYYY-MM-DD count, too, since they are unambiguous.
    """

    order: str = "ymd"

    @property
    def values(self) -> str:
        """Dates."""
        return "dates"

    @property
    def field(self) -> str:
        """The order."""
        return f"dates: {self.order}"

    def plain(self, text: str) -> str | None:
        """Return the date as YYYY-MM-DD."""
        if not _MAY_BE_DATE.search(text):
            return None
        word = text.lower()
        for pattern, by in _STEPS[self.order]:
            word = re.sub(pattern, by, word)
        return word if re.fullmatch(_CALENDAR, word) else None

    def key(self, value: Expression) -> Expression:
        """Return the same in the engine."""
        word = value.lower()
        for pattern, by in _STEPS[self.order]:
            word = word.re_replace(pattern, by)
        return word.re_search(_CALENDAR).ifelse(word, None)


# A fast check, since most texts are not dates.
_MAY_BE_DATE: Final = re.compile("[0-9]{4}.*[-/., ]|[-/., ].*[0-9]{4}", re.DOTALL)
_STEPS: Final = {order: _steps(order) for order in ORDERS}
FORMS: Final[Sequence[Form]] = (*map(Plain, _PLAIN), *map(Numbers, MARKS), *map(Dates, ORDERS))
