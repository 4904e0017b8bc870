"""Detects columns that identify persons: by their values, frequencies, and as further evidence, names."""

import datetime as dt
import re
from collections.abc import Sequence
from typing import Final

from aegis_provider.identifiers.contents import BY_CHANCE, CONTENTS, dates_within, has_check_digits
from aegis_provider.identifiers.names import are_names, is_made_of_names
from aegis_provider.identifiers.values import FULL_DATE, Values, is_quantity

_NEARLY_ALL: Final = 0.85
_MOST: Final = 0.6
_FEW_VALUES: Final = 20
_HARDLY_ANY_TWO: Final = 1.1

_ADDRESS: Final = re.compile(
    r"(?i)\b\d{1,5}[a-z]?,? (?:[^\W\d_.'-]+\.? ){0,4}(?:street|st|road|rd|avenue|ave|lane|ln|drive|dr|court|ct"
    r"|boulevard|blvd|way|place|pl|close|crescent|terrace|square|parkway|pkwy|circle|trail|highway|hwy)\b|(?:straße"
    r"|strasse|str\.|gasse|weg|platz|allee|ring|straat|laan|gracht|plein|gata|gatan|vägen|vej|gade|veien|katu|tie|utca"
    r"|út|caddesi|cad\.|sokak|sok\.) ?\d{1,4}\b|\b(?:rue|avenue|boulevard|chemin|place|impasse|allée|calle|c/|avenida"
    r"|av\.|paseo|plaza|via|viale|piazza|corso|rua|travessa|ulica|ul\.|aleja|al\.|ulice|strada|улица|ул\.|проспект|пр\."
    r"|οδός) ?[^\d]{2,40},? (?:nº|no\.?|n\.|д\.)? ?\d{1,5}\b|\b\d{1,4}(?: ?bis| ?ter)?,? (?:rue|avenue|boulevard|chemin"
    r"|place|impasse|allée|cours|quai) \w|\d+(?:丁目|番地|号)|(?:街|路|巷)\d+[号號]"
)
_HANDLE: Final = re.compile(r"@\w{2,}|[a-z]+[._][a-z]+\d{0,4}")
_WITHOUT_BLANKS: Final = re.compile("[\u3040-\u9fff]{6,}|[\u0e00-\u0e7f]{9,}")
_HOUSE: Final = re.compile(r"(?P<street>[^\W\d_][^\d]{2,40}),? \d{1,4}[a-zA-Z]?(?: ?[-/] ?\d{1,4}[a-z]?)?")
_USER: Final = re.compile(r"[a-z][a-z0-9._-]{2,30}")
# One word, or a few short ones without small letters, as on number plates.
_CODE: Final = re.compile(r"\S+|[^\W_a-z]{1,5}(?:[ -][^\W_a-z]{1,5}){1,3}")
_HASH: Final = re.compile(r"(?i)(?:[0-9a-f]{2}){8,64}|[0-9A-Za-z_-]{20,64}")
_PLACE: Final = re.compile(r"-?\d{1,3}\.\d{3,}\s*[,; ]\s*-?\d{1,3}\.\d{3,}")
_DIGIT: Final = re.compile(r"\d")
_VIN: Final = re.compile(r"[A-HJ-NPR-Z0-9]{17}")
_MIDNIGHT: Final = re.compile(r"[T ]00:00(:00(\.0+)?)?Z?$")
_YEAR: Final = re.compile(r"(?<!\d)(?:18|19|20)\d{2}(?!\d)")
# Contents that names and codes of places resemble.
_AS_PLACES: Final = frozenset({"name", "phone"})
_OLDEST, _SPAN = 65, 35


def identifies(values: Values) -> str | None:
    """Return why a column identifies persons, in one short sentence without numbers or values, or `None`."""
    judges = (_contents, _numbers, _birth_dates, _names, _addresses, _free_text, _codes, _named)
    return next((reason for judge in judges if (reason := judge(values))), None)


def _contents(values: Values) -> str | None:
    for kind, (cells, among_words) in values.contents.items():
        what = CONTENTS[kind].plural
        if cells >= _NEARLY_ALL * len(values.texts):
            return f"contains {what}"
        if among_words or (cells and kind not in BY_CHANCE and not (values.header.is_place and kind in _AS_PLACES)):
            return f"contains {what} in some records"
        if cells >= _MOST * len(values.texts):
            return f"contains {what} in most records"
    return None


def _numbers(values: Values) -> str | None:
    """Judge numbers with check digits or with dates in them."""
    bare = [re.sub(r"[ ./\-]", "", text) for text in values.texts]
    if values.kind not in {"integer", "string"} or not bare or values.distinct < 8:
        return None
    long = [text for text in bare if 8 <= len(text) <= 20 and sum(map(str.isdigit, text)) >= 5]
    if len(long) < _NEARLY_ALL * len(bare):
        return None
    if has_check_digits(long) or has_check_digits([text for text in values.texts if len(text) >= 8]):
        return "contains national identity or tax numbers, by their check digits"
    digits = [text for text in long if text.isdigit()]
    if len(digits) >= _NEARLY_ALL * len(bare) and not _are_times(digits) and dates_within(digits):
        return "contains numbers with dates in them, as national identity numbers have"
    return None


def _are_times(digits: Sequence[str]) -> bool:
    """Return whether these are seconds or milliseconds since 1970, or dates with times: 20240131081530."""
    seconds = all(len(text) in {10, 13} and "09" <= text[:2] <= "19" for text in digits)
    written = all(len(text) in {12, 14} and text[:2] in {"19", "20"} and text[8:10] < "24" for text in digits)
    return seconds or written


def _birth_dates(values: Values) -> str | None:
    if values.header.is_day or not are_days(values):
        return None
    if values.header.is_birth:
        return "contains dates of birth"
    texts = [f"{text[:4]}-" if text.isdigit() else text for text in values.texts]
    years = sorted(filter(None, map(_year_of, texts)))
    if len(years) < _NEARLY_ALL * len(texts):
        return None
    today, oldest, newest = dt.date.today().year, years[0], years[-1]  # noqa: DTZ011 - a day more changes nothing
    is_old = today - oldest >= _OLDEST and newest - oldest >= _SPAN and newest <= today
    return "contains dates over as many years as people are old, so perhaps dates of birth" if is_old else None


def _year_of(text: str) -> int | None:
    """Return the year of a date; two digits above 30 are of the last century."""
    if year := _YEAR.search(text):
        return int(year[0])
    short = re.search(r"\d\d$", text)
    return None if short is None else int(short[0]) + (1900 if int(short[0]) > 30 else 2000)


def are_days(values: Values) -> bool:
    """Return whether nearly all values are dates with a day, however they are written."""
    return values.share(lambda text: FULL_DATE.fullmatch(_MIDNIGHT.sub("", text)) or _is_day(text)) >= _NEARLY_ALL


def _is_day(text: str) -> bool:
    """Return whether a text is a date such as 19800131."""
    return (
        len(text) == 8
        and text.isdigit()
        and text[:2] in {"19", "20"}
        and "01" <= text[4:6] <= "12"
        and text[6:] <= "31"
    )


def _names(values: Values) -> str | None:
    if values.kind != "string" or values.header.is_place or values.header.is_thing:
        return None
    if are_names(values.texts, is_named_so=values.header.is_name, records_per_value=values.records_per_value):
        return "contains names of persons"
    return None


def _addresses(values: Values) -> str | None:
    if values.kind != "string":
        return None
    for pattern, what in ((_ADDRESS, "contains postal addresses"), (_PLACE, "contains places on the map")):
        if values.share(pattern.search) >= _MOST:
            return what
    # Many different words followed by numbers, like street addresses.
    houses = [match for text in values.texts if (match := _HOUSE.fullmatch(text))]
    streets = {match["street"] for match in houses}
    is_own = values.records_per_value < 6 and values.distinct >= 50
    are_houses = is_own and len(houses) >= _NEARLY_ALL * len(values.texts) and len(streets) >= 0.3 * len(houses)
    return "contains postal addresses" if are_houses else None


def _free_text(values: Values) -> str | None:
    """Judge whether values are texts of several words, mostly unique ones."""
    if values.kind != "string" or values.distinct <= _FEW_VALUES:
        return None
    if _are_quantities(values):
        return None
    words = sum(len(text.split()) for text in values.texts) / len(values.texts)
    length = sum(map(len, values.texts)) / len(values.texts)
    if values.records_per_value < 4 and length >= 10 and values.share(_WITHOUT_BLANKS.search) >= _MOST:
        return "free text"
    is_long = words >= 5 or (length > 40 and words > 1)
    is_tail = values.records_per_value < 4 and words >= 2.5
    return "free text" if (is_long and values.records_per_value < 10) or is_tail else None


def _codes(values: Values) -> str | None:
    """Judge codes that few records share, such as one person's: `P0317` and 7731904."""
    if values.distinct <= _FEW_VALUES or values.kind not in {"string", "integer"}:
        return None
    if values.kind == "integer":
        return _integer_codes(values)
    header = values.header
    is_shared = values.records_per_value > 2
    if header.is_place or header.is_day or (header.is_thing and is_shared) or _are_quantities(values):
        return None
    is_own = values.records_per_value < 1.5 and values.share(_USER.fullmatch) >= _NEARLY_ALL
    if is_own and values.share(is_made_of_names) >= 0.4:
        return "contains names of users"
    if values.share(_HASH.fullmatch) >= _NEARLY_ALL and values.share(_DIGIT.search) >= _MOST:
        return "contains long random codes"
    is_word = values.share(_CODE.fullmatch) >= _NEARLY_ALL
    has_digits = values.share(re.compile(r"\d.*\d").search) >= _NEARLY_ALL
    return _word_codes(values) if is_word and has_digits else None


def _word_codes(values: Values) -> str | None:
    if values.records_per_value < 2 and values.share(lambda text: len(text) >= 5) >= _NEARLY_ALL:
        shared = "hardly any two" if values.records_per_value < _HARDLY_ANY_TWO else "few"
        return f"contains codes that {shared} records share"
    shapes = {re.sub(r"[^\W\d_]", "A", re.sub(r"\d", "9", text)) for text in values.texts}
    is_random = len(shapes) > 0.3 * len(values.texts) and min(map(len, values.texts)) >= 8
    if is_random and values.records_per_value <= 50:
        return "contains random codes"
    if values.records_per_value > 12 or values.distinct < 50 or len(shapes) > 3:
        return None
    numbers = sorted({int(digits) for text in values.texts if (digits := "".join(filter(str.isdigit, text)))})
    is_dense = len(numbers) >= _MOST * (numbers[-1] - numbers[0] + 1)
    is_numbered = is_dense or min(sum(map(str.isdigit, text)) for text in values.texts) >= 6
    return "contains numbered codes that few records share" if is_numbered else None


def _are_quantities(values: Values) -> bool:
    """Return whether the values are amounts or times; unlike codes, numbers do not begin with 0."""
    has_zeros = values.share(re.compile(r"0\d+").fullmatch) > 0.02
    return values.share(is_quantity) >= _NEARLY_ALL and not has_zeros


def _integer_codes(values: Values) -> str | None:
    if values.distinct == values.known and values.extent == values.distinct - 1 and values.distinct > _FEW_VALUES:
        return "numbers the records"
    digits = [text.lstrip("-") for text in values.texts]
    widths = {len(text) for text in digits}
    shortest, longest = min(widths), max(widths)
    header = values.header
    if header.is_measure or longest - shortest > 2 or are_days(values) or _are_times(digits):
        return None
    is_own = (
        values.distinct >= max(100, 0.95 * values.known) and longest >= 5 and not (header.is_place or header.is_thing)
    )
    if is_own and shortest == longest and _is_even(values, digits):
        return "contains numbers that hardly any two records share"
    round_ones = sum(text.endswith("00") for text in digits) / len(digits)
    if shortest < 7 or values.records_per_value > 20 or round_ones > 0.05:
        return None
    is_long = longest >= 9 and shortest == longest
    return "contains long numbers that few records share" if is_long or _is_even(values, digits) else None


def _is_even(values: Values, digits: Sequence[str]) -> bool:
    """Return whether the numbers are spread evenly over their range, unlike most measures."""
    numbers = sorted(map(int, digits))
    low, high = numbers[0], numbers[-1]
    half = len(numbers) // 2
    if len(numbers) < values.distinct:  # the first and the last ones of many
        expected = half * (high - low) / values.distinct
        spans = (numbers[half - 1] - low, high - numbers[half])
        return expected > 0 and all(0.7 <= span / expected <= 1.4 for span in spans)
    quarters = [(numbers[len(numbers) * each // 4] - low) / max(1, high - low) for each in (1, 2, 3)]
    return all(abs(quarter - each / 4) <= 0.08 for each, quarter in enumerate(quarters, start=1))


def _named(values: Values) -> str | None:
    """Judge columns named like identifiers, if few records share a value, or like customer numbers, however many do."""
    header, is_integer = values.header, values.kind == "integer"
    if values.distinct <= _FEW_VALUES:
        return None
    is_shared = values.records_per_value > 20 or (is_integer and values.records_per_value > 8 and not _is_dense(values))
    is_other = header.is_measure or header.is_thing or values.kind in {"boolean", "date", "number"}
    is_identifier = header.is_identifier and not is_shared and not is_other
    if not is_identifier and header.is_number_of_people:
        is_identifier = is_integer or (values.kind == "string" and values.share(_DIGIT.search) >= _NEARLY_ALL)
    return "its name and its values say that it identifies people" if is_identifier else None


def _is_dense(values: Values) -> bool:
    return values.extent is not None and values.distinct >= _MOST * (values.extent + 1)


def is_code_like(values: Values) -> bool:
    """Return whether the values could stand for people: dates, dense or long numbers, and words with digits."""
    if values.kind == "integer":
        return not values.header.is_measure and (_is_dense(values) or min(map(len, values.texts)) >= 5)
    if values.kind == "string":
        return not values.header.is_place and values.share(_DIGIT.search) >= _NEARLY_ALL
    return values.kind == "date"


def may_stand_for_people(values: Values) -> bool:
    """Return whether the values could be names or numbers assigned to people, not measures or places."""
    if values.header.is_measure:
        return False
    return values.kind in {"integer", "date"} or (values.kind == "string" and not values.header.is_place)
