"""Other spellings of a table's values: dates, numbers, truth values and words of various programs and countries.

A column is read in one way, never cell by cell, since `01.02.2020` is in January or in February, and `1.234` above or
below 2. Of the ways that fit all its cells, the one that matches most of the table's values applies.
"""

import datetime as dt
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, partial
from itertools import product
from typing import Any, Final, TypeAlias

import numpy as np

from aegis_provider.records import NUMERIC
from aegis_provider.table.notation import MONTHS, ORDERS
from aegis_provider.table.values import Domain, ValueType, is_whole

Key: TypeAlias = Any
"""The common form of equal values in any spelling: a number, a moment, a truth value, or a plain word."""

Read: TypeAlias = Callable[[str], Key | None]
"""Returns the key of a text, or `None` if it has another spelling."""

_MISSING: Final = frozenset("na n/a #n/a <na> nan nat null none nil missing . - -- ? \\n".split())  # noqa: SIM905
_TRUE: Final = frozenset("true t yes y on 1 1.0 ja j oui o vrai wahr sí si s verdadero sim vero sì tak да".split())  # noqa: SIM905
_FALSE: Final = frozenset("false f no n off 0 0.0 nein non faux falsch falso não nie nee нет".split())  # noqa: SIM905
_EXCEPTIONS: Final = 0.1
"""The share of differently spelt values tolerated in dirty columns of the table."""

_POINT: Final = re.compile(
    r"([+-]?)(?:(\d{1,3}(?:,\d{3})+)|(\d+)|(?=\.\d))(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?", re.ASCII
)
_COMMA: Final = re.compile(
    r"([+-]?)(?:(\d{1,3}(?:\.\d{3})+)|(\d+)|(?=,\d))(?:,(\d*))?(?:[eE]([+-]?\d{1,3}))?", re.ASCII
)
_BETWEEN_DIGITS: Final = re.compile(r"(?<=\d)[\s'’_](?=\d{3})")  # noqa: RUF001 - Swiss thousands

_MONTHS: Final = {name: number for number, names in MONTHS.items() for name in names.split()}
_DATE: Final = re.compile(
    r"(?:[a-z]{3,9},?\s+)?(\d{1,4}|[a-z]{3,9})(?:st|nd|rd|th)?\.?[-/.\s]\s*(\d{1,2}|[a-z]{3,9})(?:st|nd|rd|th)?"
    r"\.?[-/.,\s]\s*(\d{4}|\d{1,2})(?:(?:\s*t\s*|,?\s+)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*([ap]\.?m\.?)?"
    r"\s*(z|utc|gmt|[+-]\d{2}(?::?\d{2})?)?(?:\[.*\])?)?",
    re.ASCII,
)
_COMPACT: Final = re.compile(r"(\d{4})(\d{2})(\d{2})", re.ASCII)
_DAY: Final = dt.timedelta(days=1)
_SPANS: Final = {  # units of counting from a day in programs: days, seconds, and fractions of a second
    "1899-12-30": ("86400",),
    "1970-01-01": ("86400", "1", "1e-3", "1e-6", "1e-9"),
}


@dataclass(frozen=True)
class Spelling:
    """The spelling of a released column.

    Attributes:
        places: The places of the table's values with each key.
        exact_first: Whether an exact match takes precedence, since several values may have one key.
    """

    read: Read
    places: Mapping[Key, Sequence[int]]
    exact_first: bool


@dataclass(frozen=True)
class _Way:
    """A way to read a release, and the part of the table's keys that it preserves, such as the day of a moment."""

    read: Read
    told: Callable[[Key], Key] | None = None


def named_alike(names: Sequence[str], others: Sequence[str]) -> Mapping[str, str]:
    """Match names with other names, ignoring case, accents and signs if only one name fits."""
    found = {name: name for name in names if name in others}
    left = [[each for each in side if each not in found] for side in (names, others)]
    of_letters: list[dict[str | None, list[str]]] = [{}, {}]
    for side, groups in zip(left, of_letters, strict=True):
        for each in side:
            groups.setdefault(letters(each), []).append(each)
    alike = {word: (mine, of_letters[1].get(word, [])) for word, mine in of_letters[0].items() if word}
    return found | {mine[0]: theirs[0] for mine, theirs in alike.values() if len(mine) == len(theirs) == 1}


def is_missing(text: str) -> bool:
    """Return whether a text is a usual word for a missing value."""
    return text.strip().lower() in _MISSING or not text.strip()


def spelling_of(counts: Mapping[str, int], domain: Domain, understood: int) -> Spelling | None:
    """Return the spelling of a released column, or `None` if it seems to equal the table's.

    Args:
        understood: The number of records that match a value of the table without respelling.
    """
    best: Spelling | None = None
    for own, ways in _families(domain):
        keys = [[way.read(text) for text in counts] for way in ways]
        is_read = [any(key is not None for key in of_text) for of_text in zip(*keys, strict=True)]
        for way, of_way in zip(ways, keys, strict=True):
            if all(key is not None for key, needed in zip(of_way, is_read, strict=True) if needed):
                spelling = Spelling(way.read, _places(own, way), way.told is not None)
                found = sum(n for n, key in zip(counts.values(), of_way, strict=True) if key in spelling.places)
                if found > understood:
                    best, understood = spelling, found
    return best


def _places(own: Sequence[Key | None], way: _Way) -> Mapping[Key, Sequence[int]]:
    places: dict[Key, list[int]] = {}
    for place, key in enumerate(own):
        if key is not None:
            places.setdefault(way.told(key) if way.told else key, []).append(place)
    return places


def _families(domain: Domain) -> Iterator[tuple[Sequence[Key | None], Sequence[_Way]]]:
    """Yield the keys of the table's values, and the possible spellings of a release with such values."""
    moments, numbers = list(_ways_of_dates()), list(_ways_of_numbers())
    units = [(dt.datetime.fromisoformat(first), unit) for first, seconds in _SPANS.items() for unit in seconds]
    spans = [_Way(_since(first, Decimal(unit))) for first, unit in units]
    readings: list[tuple[Sequence[Key | None], Sequence[_Way]]]
    if domain.value_type is ValueType.STRING:
        dates = [_date_in(order, zone) for order, zone in product(ORDERS, (_as_written, _in_utc))]
        readings = [(own, ways) for own in (_keys(domain, read) for read in dates) for ways in (moments, spans)]
        readings += [(_keys(domain, read), numbers) for read in (_with_point, _with_comma)]
    elif domain.value_type is ValueType.DATE:
        # Dates have no zone.
        dated = [None if day is None else dt.datetime(day.year, day.month, day.day) for day in domain.keys]  # noqa: DTZ001
        readings = [(dated, moments), (dated, spans)]
    else:
        readings = [(domain.keys, numbers)] if domain.value_type in NUMERIC else []
    readings.append((_keys(domain, _truth, 0.0), [_Way(_truth)]))
    if domain.value_type is ValueType.STRING:
        readings += [(domain.texts, [_Way(read, read)]) for read in (folded, letters)]
    yield from ((own, ways) for own, ways in readings if any(key is not None for key in own))


def _keys(domain: Domain, read: Read, exceptions: float = _EXCEPTIONS) -> Sequence[Key | None]:
    """Return the keys of a domain's values; empty if too many have another spelling."""
    keys: list[Key | None] = []
    left = exceptions * len(domain)
    for text in domain.texts:
        keys.append(None if is_missing(text) else read(text))
        left -= keys[-1] is None and not is_missing(text)
        if left < 0:
            return ()
    return keys


def _truth(text: str) -> bool | None:
    word = text.strip().lower()
    return True if word in _TRUE else False if word in _FALSE else None


def folded(text: str) -> str | None:
    """Return a text without case, quotes, and surplus blanks, which typists and programs change."""
    words = unicodedata.normalize("NFKC", text).casefold().split()
    return " ".join(words).strip("\ufeff\u200b\"'` ") or None


def letters(text: str) -> str | None:
    """Return the letters and digits of a text, without accents, as in names of columns and files."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(each for each in plain if each.isalnum()) or None


def _ways_of_numbers() -> Iterator[_Way]:
    for read in (_with_point, _with_comma):
        yield _Way(read)
        yield _Way(partial(_hundredth, read))
        yield _Way(partial(_single_in, read), _single)


def _with_point(text: str) -> Decimal | None:
    return _number(text, _POINT)


def _with_comma(text: str) -> Decimal | None:
    return _number(text, _COMMA)


@lru_cache(maxsize=1 << 16)
def _number(text: str, pattern: re.Pattern[str]) -> Decimal | None:
    plain = _BETWEEN_DIGITS.sub("", text.strip(" \t\u00a0\u202f%€$£¥").replace("\u2212", "-"))
    if not (found := pattern.fullmatch(plain)):
        return None
    sign, grouped, whole, part, exponent = found.groups()
    digits = whole or re.sub(r"\D", "", grouped or "") or "0"
    return Decimal(f"{sign}{digits}.{part or 0}e{exponent or 0}") if len(digits) + len(part or "") <= _LONGEST else None


_LONGEST: Final = 400


def _hundredth(read: Read, text: str) -> Decimal | None:
    """Return a percentage as a number; other numbers unchanged."""
    key = read(text)
    return key / 100 if isinstance(key, Decimal) and text.rstrip().endswith("%") else key


def _single_in(read: Read, text: str) -> float | None:
    return _single(read(text))


def _single(key: Decimal | None) -> float | None:
    """Return the 32-bit float nearest to a fraction, with seven digits; integers unchanged."""
    if key is not None and is_whole(key):
        return float(key)
    with np.errstate(over="ignore"):
        return None if key is None else float(np.float32(float(key)))


def _ways_of_dates() -> Iterator[_Way]:
    for order in ORDERS:
        yield _Way(_date_in(order, _as_written))
        yield _Way(_date_in(order, _in_utc))
        yield _Way(_date_in(order, _nearest_day))
        yield _Way(_date_in(order, _midnight))
        yield _Way(_date_in(order, _without_time), _midnight)
        yield _Way(_date_in(order, _as_written, digits=2), _in_one_century)


def _as_written(moment: dt.datetime) -> dt.datetime:
    return moment.replace(tzinfo=None)


def _in_utc(moment: dt.datetime) -> dt.datetime:
    return _as_written(moment.astimezone(dt.UTC) if moment.tzinfo else moment)


def _midnight(moment: dt.datetime) -> dt.datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)


def _without_time(moment: dt.datetime) -> dt.datetime | None:
    day = _midnight(moment)
    return day if day == _as_written(moment) else None


def _nearest_day(moment: dt.datetime) -> dt.datetime:
    """Return the nearest midnight, to undo the conversion to another time zone."""
    return _midnight(moment + _DAY / 2)


def _in_one_century(moment: dt.datetime) -> tuple[int, dt.timedelta]:
    first = dt.datetime(moment.year, 1, 1, tzinfo=moment.tzinfo)
    return moment.year % 100, moment - first


def _date_in(order: str, finish: Callable[[dt.datetime], Key], digits: int = 4) -> Read:
    """Return a reader of dates with this order of parts and this many digits of years."""

    def read(text: str) -> Key | None:
        year, moment = _moment(text, order)
        if moment is None or year != digits:
            return None
        try:
            return _in_one_century(_as_written(moment)) if digits != 4 else finish(moment)  # noqa: PLR2004
        except OverflowError:
            return None

    return read


@lru_cache(maxsize=1 << 16)
def _parts_of(text: str) -> tuple[str | None, ...] | None:
    """Return the three parts of a date in a text, and those of its time; `None` if it is not a date."""
    plain = " ".join(unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode().split())
    found = _DATE.fullmatch(plain)
    if found is None and (compact := _COMPACT.fullmatch(plain)):
        return (*compact.groups(), *[None] * 6)
    return None if found is None else found.groups()


def _moment(text: str, order: str) -> tuple[int, dt.datetime | None]:
    """Return the number of digits of a text's year, and its moment if its date has this order."""
    parts = _parts_of(text)
    if parts is None:
        return 0, None
    date, time = parts[:3], parts[3:]
    if any(part and part.isalpha() for part in date):  # a month with a name tells the order
        order = "mdy" if str(date[0]).isalpha() else "dmy"
    of = dict(zip(order, map(str, date), strict=True))
    named = _MONTHS.get(of["m"][:4], _MONTHS.get(of["m"][:3], 0))
    month = named if of["m"].isalpha() else int(of["m"])
    if not (of["d"].isdigit() and of["y"].isdigit() and len(of["d"]) <= 2):  # noqa: PLR2004
        return 0, None
    try:
        day = dt.datetime(int(of["y"]) + 2000 * (len(of["y"]) < 3), month, int(of["d"]))  # noqa: DTZ001, PLR2004
        return len(of["y"]), _at(day, *time)
    except (ValueError, OverflowError):
        return 0, None


def _at(
    day: dt.datetime,
    hour: str | None,
    minute: str | None,
    second: str | None,
    part: str | None,
    half: str | None,
    zone: str | None,
) -> dt.datetime:
    hours = int(hour or 0)
    if half:
        hours = hours % 12 + 12 * half.startswith("p")
    moment = day.replace(
        hour=hours, minute=int(minute or 0), second=int(second or 0), microsecond=int(f"{part or 0:0<6}"[:6])
    )
    if not zone:
        return moment
    digits = re.sub(r"\D", "", zone).ljust(4, "0")
    offset = dt.timedelta(hours=int(digits[:2]), minutes=int(digits[2:4])) * (-1 if zone.startswith("-") else 1)
    return moment.replace(tzinfo=dt.timezone(offset))


def _since(first: dt.datetime, seconds: Decimal) -> Read:
    """Return a reader of the number of days, seconds or fractions of a second since a day."""

    def read(text: str) -> Key | None:
        number = _with_point(text)
        try:
            return None if number is None else first + dt.timedelta(seconds=float(number * seconds))
        except OverflowError:
            return None

    return read
