"""Texts that say how much or when, however they are written: these are attributes, even if no two are the same."""

import re
from typing import Final

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
    """Return whether a text says how much or when."""
    return QUANTITY.fullmatch(text.strip()) is not None
