"""Finds identifying contents anywhere in a text: addresses, numbers, names."""

import ipaddress
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import accumulate, islice
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from aegis_provider.identifiers.names import MAY_BE_NAMED, names_in

#: Modules of python-stdnum for personal numbers with check digits or a fixed form.
_MODULES: Final = (
    "at.vnr", "at.tin", "de.idnr", "ch.ssn", "fr.nir", "fr.nif", "es.dni", "es.nie", "es.nif", "it.codicefiscale",
    "gb.nhs", "gb.upn", "gb.utr", "pl.pesel", "pl.nip", "se.personnummer", "nl.bsn", "be.nn", "br.cpf",
    "in_.aadhaar", "in_.pan", "in_.epic", "kr.rrn", "za.idnr", "tr.tckimlik", "fi.hetu",
    "no.fodselsnummer", "cz.rc", "pt.cc", "pt.nif", "ca.sin", "mx.curp", "mx.rfc", "cl.rut", "ro.cnp", "bg.egn",
    "bg.pnf", "hr.oib", "ie.pps", "lt.asmens", "ee.ik", "gr.amka", "gr.vat", "il.idnr", "th.pin", "my.nric",
    "si.emso", "is_.kennitala", "cn.ric", "ru.inn", "ua.rntrc", "hu.anum", "au.tfn", "id.nik", "nz.ird",
    "do.cedula", "ec.ci", "co.nit", "uy.rut", "imei",
)  # fmt: skip
#: Forms without check digits count only with their punctuation.
_FORMS: Final = ("us.ssn",)
_MATCHING: Final = 0.85
_DATES: Final = (
    r"(?P<y>\d{2})(?P<m>\d{2})(?P<d>\d{2})",
    r"(?P<d>\d{2})(?P<m>\d{2})(?P<y>\d{2})",
    r"(?P<y>(?:19|20)\d{2})(?P<m>\d{2})(?P<d>\d{2})",
)


def has_luhn(text: str) -> bool:
    """Return whether the digits have a valid Luhn check digit, as in card numbers."""
    digits = [int(digit) for digit in re.sub(r"\D", "", text)]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return len(set(digits)) > 1 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def dated(text: str) -> bool:
    """Return whether the first or the last six digits, apart from up to five before or after them, can be a date."""
    digits = re.sub(r"\D", "", text)
    return any(_is_date(digits, place, form) for place in (0, 1, 4, len(digits) - 6) for form in range(len(_DATES)))


def dates_within(numbers: Sequence[str]) -> bool:
    """Return whether nearly all of these numbers of 9 to 14 digits contain a date at the same place."""
    lengths = {len(number) for number in numbers}
    if not lengths <= set(range(9, 15)) or len(lengths) > 2:
        return False
    padded = [number.zfill(max(lengths)) for number in numbers]
    needed = _MATCHING * len(padded)
    places = range(max(lengths) - 5)
    return any(
        sum(_is_date(each, place, form) for each in padded) >= needed for place in places for form in range(len(_DATES))
    )


def _is_date(digits: str, place: int, form: int) -> bool:
    match = re.compile(_DATES[form]).match(digits, place)
    if match is None:
        return False
    month, day = int(match["m"]), int(match["d"])
    # Some countries add 20 to the month, or 40 to the day, of women or of other centuries.
    return 1 <= (month - 20 if month > 20 else month) <= 12 and 1 <= (day - 40 if day > 40 else day) <= 31


def has_check_digits(texts: Sequence[str]) -> bool:
    """Return whether nearly all of these texts are valid numbers of persons in one country."""
    if len(texts) < 8:
        return False
    few = texts[:: max(1, len(texts) // 24)][:24]
    needed = _MATCHING * len(texts)
    return any(
        sum(map(is_valid, few)) >= _MATCHING * len(few) and sum(map(is_valid, texts)) >= needed
        for is_valid in map(_validator, (*_MODULES, *_FORMS))
    )


@cache
def _validator(module: str) -> Callable[[str], bool]:
    validate: Callable[[str], bool] = import_module(f"stdnum.{module}").is_valid
    width = _WIDTHS.get(module)
    if module in _FORMS:
        return lambda text: "-" in text and validate(text)
    if width is None:
        return validate
    return lambda text: (
        width - 2 <= sum(map(str.isdigit, text)) <= width + 2
        and validate(text.zfill(width) if text.isdigit() else text)
    )


#: The digits of numbers that may begin with zeros, which are lost when read as numbers.
_WIDTHS: Final = {
    "pl.pesel": 11, "be.nn": 11, "br.cpf": 11, "nl.bsn": 9, "ro.cnp": 13, "bg.egn": 10,
    "no.fodselsnummer": 11,
    "cz.rc": 10, "za.idnr": 13, "gr.amka": 11, "il.idnr": 9, "is_.kennitala": 10, "my.nric": 12, "kr.rrn": 13,
    "si.emso": 13, "ca.sin": 9, "au.tfn": 9, "se.personnummer": 10, "hr.oib": 11, "imei": 15,
}  # fmt: skip


@dataclass(frozen=True)
class Content:
    """A kind of content.

    Attributes:
        candidate: A pattern, in the common syntax of RE2 and Python, that every text with such content matches.
        is_meant: Whether a match of the pattern is such content.
        finds: Yields such content; by default, all matches that pass `is_meant`.
    """

    plural: str
    candidate: str
    is_meant: Callable[[str], bool] = bool
    finds: Callable[[str], Iterator[str]] | None = None

    def found_in(self, text: str) -> Iterator[str]:
        """Yield the content of this kind in a text."""
        if self.finds is not None:
            yield from self.finds(text)
            return
        for match in re.finditer(self.candidate, text):
            if self.is_meant(match[0]):
                yield match[0]


_DOMAINS: Final = (
    "com|org|net|edu|gov|info|biz|eu|io|de|at|ch|fr|it|es|uk|us|nl|be|se|no|dk|fi|pl|cz|pt|br|ru|jp|cn|in|au|ca"
)

# Groups of digits in the forms of telephone numbers: with a country code, with the area in brackets, with a leading
# zero, or in the groups of one country. They have 8 to 15 digits.
_PHONES: Final = (
    r"(?:\+|\b00)[1-9]\d{0,2}[ .\-/]{0,2}(?:\(0?\d{1,5}\)[ .\-/]?)?\d(?:[ .\-/]{0,2}\d){5,13}\b"
    r"|\(0?\d{2,5}\)[ .\-/]{0,2}\d{2,4}(?:[ .\-/]?\d{2,4}){1,4}\b"
    r"|\b0\d{1,4}[ /\-]{1,3}\d{2,8}(?:[ \-/]\d{2,6}){0,4}\b"
    r"|\b0\d(?:[ .\-]\d{2}){4}\b|\b0\d{2,4}(?:[ .]\d{2,4}){2,4}\b"
    r"|\b(?:1[ .\-])?[2-9]\d{2}[.\-][2-9]\d{2}[.\-]\d{4}\b"
    r"|\b3\d{2}[ ./\-]\d{6,7}\b|\b2\d{2,3}[ \-]\d{6,7}\b|\b[2-9]\d(?: \d{2}){3}\b|\b[49]\d{2} \d{2} \d{3}\b"
    r"|\b8[ \-]\d{3}[ \-]\d{3}[ \-]\d{2}[ \-]\d{2}\b|\b1[3-9]\d[ \-]\d{4}[ \-]\d{4}\b"
    r"|(?i:\b(?:tel|phone|call|ring|mobile|handy|anrufen|llamar|whatsapp|cell|gsm|fax|appeler|chiamare|bellen)\b)"
    r"[^\d,;]{0,12}\d(?:[ ./\-]?\d){6,13}\b"
    r"|\b[5-9]\d{2}(?: \d{3}){2}\b|\b[6-9]\d{2}(?: \d{2}){3}\b"
    r"|\b[2-9]\d{2} [2-9]\d{2} \d{4}\b|\b[6-9]\d{4}[ \-]\d{5}\b|\b\d{2} 9?\d{4}-\d{4}\b"
)
_URL: Final = (
    r"(?i)\b(?:https?|ftp)://[^\s\"<>]+|\bwww\.[^\s\"<>]+\.[a-z]{2,}[^\s\"<>]*"
    rf"|\b[a-z0-9][a-z0-9\-]*(?:\.[a-z0-9\-]+)*\.(?:{_DOMAINS})/[^\s\"<>]+"
)
_IBAN: Final = r"(?i)\b[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,4})?\b"
_CARD: Final = r"\b[2-6]\d{3}(?:[ \-]?\d{4}){2}[ \-]?\d{1,4}\b|\b3\d{3}[ \-]?\d{6}[ \-]?\d{4,5}\b"
_IP: Final = r"\b(?:\d{1,3}\.){3}\d{1,3}\b|(?i:\b(?:[0-9a-f]{1,4}:){3,7}(?::|[0-9a-f]{1,4}|:[0-9a-f]{1,4})+\b)"
_UUID: Final = (
    r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b(?:[0-9a-f]{2}[:\-]){5}[0-9a-f]{2}\b"
)

# National numbers recognised by their punctuation or letters. Bare digits are judged by column.
_NATIONAL: Final = (
    r"\b\d{3}-\d{2}-\d{4}\b"  # United States
    r"|\b756\.\d{4}\.\d{4}\.\d{2}\b"  # Switzerland
    r"|\b\d{3}\.\d{3}\.\d{3}-\d{2}\b"  # Brazil
    r"|\b[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]\b"  # Italy
    r"|\b[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d\b"  # Mexico
    r"|\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b"  # United Kingdom
    r"|\b[12] \d{2} (?:0[1-9]|1[0-2]) \d[\dAB] \d{3} \d{3}(?: \d{2})?\b"  # France
    r"|\b\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}\b"  # Belgium
    r"|\b\d{3}-\d{3}-\d{3} \d{2}\b"  # Russia
    r"|\b\d{1,2}\.\d{3}\.\d{3}-[\dkK]\b"  # Chile
    r"|\b[XYZ]?-?\d{7,8}-?[TRWAGMYFPDXBNJZSQVHLCKE]\b"  # Spain
    r"|\b\d{5}-\d{7}-\d\b"  # Pakistan
    r"|\b[A-Z]{5}\d{4}[A-Z]\b"  # India
)
_DATED_NATIONAL: Final = r"\b\d{6}(?:\d{2})?[\-+A]\d{3}[\dA-Y]\b|\b\d{6}-\d{7}\b|\b\d{6}/\d{3,4}\b|\b\d{4} \d{6}\b"


def _ibans_in(text: str) -> Iterator[str]:
    """Yield the IBANs in a text, by their check digits; the text after one may resemble a part of it."""
    from stdnum import iban  # noqa: PLC0415 - takes longer than most commands need

    for match in re.finditer(_IBAN, text):
        groups = match[0].split(" ")
        starts = (" ".join(groups[:number]) for number in range(len(groups), 0, -1))
        yield from islice((start for start in starts if iban.is_valid(start, check_country=False)), 1)


def _is_phone(text: str) -> bool:
    digits = re.sub(r"\D", "", text)
    least = 9 if text.startswith("0") and not text.startswith("00") else 7 if text[0].isalpha() else 8
    return least <= len(digits) <= 15 and len(set(digits)) > 2 and not _DATE.fullmatch(text)


def _is_national(text: str) -> bool:
    if not _SPANISH.fullmatch(text):
        return True
    from stdnum.es import dni, nie  # noqa: PLC0415 - see above

    bare = text.replace("-", "")
    return bool(dni.is_valid(bare) or nie.is_valid(bare))  # by its letter


def _is_ip(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return len(text) >= 8 or address.version == 6


_SPANISH: Final = re.compile(r"[XYZ]?-?\d{7,8}-?[A-Z]")
_DATE: Final = re.compile(r"0?\d{1,2}([ .\-/])\d{1,2}\1(\d{2}|\d{4})|\d{4}([ .\-/])\d{1,2}\3\d{1,2}")

#: Kinds of content that occur by chance: alone in a cell, they count only if most cells have them.
BY_CHANCE: Final = frozenset({"dated", "card", "national", "ip"})

CONTENTS: Final[Mapping[str, Content]] = {
    "email": Content(
        "e-mail addresses",
        r"(?i)[^\s@,;:<>()\[\]\"]+\s?(?:@|\(at\)|\[at\])\s?[^\s@,;<>()\"]+(?:\.|\(dot\)|\[dot\])[a-z]{2,}",
    ),
    "url": Content("web addresses", _URL),
    "iban": Content("IBANs", _IBAN, finds=_ibans_in),
    "uuid": Content("UUIDs or device addresses", _UUID),
    "ip": Content("IP addresses", _IP, _is_ip),
    "card": Content("card numbers", _CARD, has_luhn),
    "national": Content("national identity or tax numbers", _NATIONAL, _is_national),
    "dated": Content("national identity numbers", _DATED_NATIONAL, dated),
    "phone": Content("telephone numbers", _PHONES, _is_phone),
    "name": Content("names of persons", MAY_BE_NAMED, finds=names_in),
}


def contents_of(texts: pa.Array, kinds: Sequence[str] = tuple(CONTENTS)) -> Iterator[tuple[str, int, str]]:
    """Yield the contents of texts as (kind, place of the text, content), each kind searched in all texts at once."""
    for kind in kinds:
        content = CONTENTS[kind]
        places = pc.indices_nonzero(pc.match_substring_regex(texts, content.candidate))
        for place, text in zip(places.to_pylist(), texts.take(places).to_pylist(), strict=True):
            yield from ((kind, place, found) for found in content.found_in(text))


def contents_of_each(columns: Sequence[pa.Array]) -> list[list[tuple[str, int, str]]]:
    """Return the contents of the texts of each column, as `contents_of` yields them.

    Compiling a pattern, once per search, takes longer than searching a few thousand texts, so all are searched
    together.
    """
    ends = list(accumulate(map(len, columns)))
    contents: list[list[tuple[str, int, str]]] = [[] for _ in columns]
    texts = pa.concat_arrays([each.cast(pa.string()) for each in columns]) if columns else pa.array([], pa.string())
    for kind, place, content in contents_of(texts):
        column = bisect_right(ends, place)
        contents[column].append((kind, place - ends[column] + len(columns[column]), content))
    return contents
