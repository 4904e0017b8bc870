"""The values of a column, as used in the search for identifiers."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from aegis_provider.identifiers.headers import Header, header_of
from aegis_provider.table.values import ValueType, infer_type

_NUMBER: Final = (
    r"[(+\-]?(?:\d{1,3}(?:[.,' \u00a0\u202f]\d{3})+|0|[1-9]\d{0,14}|(?=[.,]))(?:[.,]\d+)?(?:[eE][+-]?\d+)?\)?"
)
_MONEY: Final = (
    r"[€$£¥₹₽₺₩]|R\$|US\$|Kč|zł|Ft|Fr\.|kr\.?|Rs\.?|EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|HUF|INR|CNY|BRL|CAD"
    r"|AUD|NZD|TRY|RUB|MXN|ZAR"
)
_UNIT: Final = rf"{_MONEY}|[%‰°]|[KMGT]B|[KMB]|°[CF]|kWh|mmHg|[a-zµμ]{{1,4}}(?:/[a-z²³\d]{{1,4}})?"
_AMOUNT: Final = rf"[+\-]?(?:(?:{_MONEY}) ?)?{_NUMBER}(?: ?(?:{_UNIT}))?"

_DAY: Final = r"\d{1,2}(?:st|nd|rd|th|\.)?"
_MONTH: Final = r"[^\W\d_][^\WA-Z\d_]{2,11}\.?"
_TIME: Final = (
    r"(?:klo |um |à |at )?\d{1,2}[:.h]\d{2}(?:[:.]\d{2}(?:[.,]\d{1,9})?)?(?: ?[AaPp]\.?[Mm]\.?)?(?: ?Uhr| h)?(?:Z"
    r"| ?[+-]\d{2}:?\d{2}| ?UTC| ?[A-Z]{3,4})?"
)
_DATE: Final = (
    r"(?:1[89]|20)\d{2}[-./ ]\d{1,2}(?:[-./ ]\d{1,2})?|\d{1,2}[-./ ]{1,2}\d{1,2}[-./ ]{1,2}(?:\d{2}|\d{4})\.?"
    r"|\d{1,2}[-./](?:19|20)\d{2}|(?:19|20)\d{2}(?:0[1-9]|1[0-2])[0-3]\d"
    rf"|{_DAY}[ \-./]{{0,2}}(?:de )?{_MONTH}[ \-.,/]{{0,2}}(?:de )?(?:\d{{4}}|\d{{2}})|{_MONTH} {_DAY},? \d{{4}}"
    rf"|{_MONTH}[ \-](?:\d{{2}}|(?:19|20)\d{{2}})"
    r"|\d{4}[-/ ]?[WwQq]\d{1,2}(?:-\d)?|[WwQqKk][Ww]? ?\d{1,2}[-/ ]\d{2,4}|\d{4}年\d{1,2}月(?:\d{1,2}日)?"
    r"|(?:19|20)\d{2}[-/](?:\d{2}|(?:19|20)\d{2})"
)
_WHEN: Final = rf"(?:[^\W\d_]{{2,10}},? )?(?:{_DATE})(?:[T ,]{{1,2}}(?:{_TIME}))?|{_TIME}"
_SHORT: Final = r"[+\-]?\d{1,3}(?:[.,]\d{1,3})?"
_SPAN: Final = (
    rf"{_SHORT} ?(?:[-–/x:]|to|bis|à) ?{_SHORT}(?: ?(?:{_UNIT}))?|(?:\d+ ?[a-z]{{1,7}}[ ,]*){{2,4}}"
    rf"|\d{{1,3}}(?::\d{{2}}){{1,3}}"
)
_VERSION: Final = r"v?\d{1,3}(?:\.\d{1,5}){2,4}(?:[-+.]?[a-z]+\.?\d*)?"

#: An amount, perhaps with a unit or a currency; a span or a ratio of two; a time; a date, perhaps with its time.
QUANTITY: Final = re.compile(rf"(?:{_AMOUNT}|{_SPAN}|{_WHEN}|{_VERSION})")
#: A date with its day, without its time.
FULL_DATE: Final = re.compile(
    r"\d{4}[-./ ]{1,2}\d{1,2}[-./ ]{1,2}\d{1,2}\.?|\d{1,2}[-./ ]{1,2}\d{1,2}[-./ ]{1,2}(?:\d{2}|\d{4})\.?"
    r"|\d{4}年\d{1,2}月\d{1,2}日"
    rf"|(?:[^\W\d_]{{2,10}},? )?{_DAY}[ \-./]{{0,2}}(?:de |of )?{_MONTH}[ \-.,/]{{0,2}}(?:de )?(?:\d{{4}}"
    rf"|\d{{2}})|{_MONTH} {_DAY},? \d{{4}}"
)


def is_quantity(text: str) -> bool:
    """Return whether a text is an amount or a time."""
    return QUANTITY.fullmatch(text.strip()) is not None


_WHOLE: Final = re.compile(r"[+-]?\d+\.0+")
#: Usual codes of a missing value, in lower case.
MISSING_CODES: Final = frozenset(
    {"?", "-", ".", "na", "n/a", "nan", "null", "none", "unknown", "missing", "not available"}
)


@dataclass(frozen=True)
class Values:
    """The values of a column.

    Attributes:
        name: The name of the column.
        records: The records of the table.
        known: The number of records in which it is not missing.
        distinct: The number of distinct values, without missing ones.
        numbers: The number of records in which it is a finite number.
        extent: The largest of these numbers minus the smallest; `None` if there are none.
        sample: Its values; of very many, the first and the last in text order.
        contents: For each kind of content, the number of sampled values that contain it, and the number that do so
            among other words.
    """

    name: str
    records: int
    known: int
    distinct: int
    numbers: int
    extent: float | None
    sample: tuple[str, ...] = field(repr=False)  # a notebook shows what `start` returns
    contents: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def missing_codes(self) -> tuple[str, ...]:
        """The sampled values that are usual codes of a missing one, such as `?` and `NA`."""
        return tuple(text for text in self.sample if text.strip().lower() in MISSING_CODES)

    @cached_property
    def texts(self) -> Sequence[str]:
        """The sampled values that are not codes of a missing one; integers without decimals: 4711.0 is 4711."""
        codes = set(self.missing_codes)
        texts = [text for text in self.sample if text not in codes]
        return [text.split(".")[0] for text in texts] if texts and all(map(_WHOLE.fullmatch, texts)) else texts

    @cached_property
    def type(self) -> ValueType:
        """The type of the sampled values."""
        return infer_type(self.sample)

    @cached_property
    def kind(self) -> ValueType:
        """The type of the sampled values that are not codes of a missing one."""
        return infer_type(self.texts)

    @property
    def records_per_value(self) -> float:
        """The mean number of records per value."""
        return self.known / max(1, self.distinct)

    @cached_property
    def header(self) -> Header:
        """The meaning of the column's name."""
        return header_of(self.name)

    def share(self, matches: Callable[[str], object]) -> float:
        """Return the share of the sampled values that match."""
        return sum(bool(matches(text)) for text in self.texts) / max(1, len(self.texts))
