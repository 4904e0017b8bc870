"""What a text contains that tells who somebody is, wherever in the text it stands: addresses, numbers, names."""

import ipaddress
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from aegis_provider.identifiers.names import MAY_BE_NAMED, names_in
from aegis_provider.identifiers.national import dated, has_luhn, has_spanish_letter, is_iban


@dataclass(frozen=True)
class Content:
    """A kind of content.

    Attributes:
        plural: What it is called: `e-mail addresses`.
        candidate: A pattern, in the syntax that RE2 and Python share, that every text with such content matches.
        is_meant: Whether what the pattern matched is such content.
        finds: Yields such content; by default, all that the pattern matches and that is meant.
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

# Groups of digits as telephone numbers are written: with a country's code, with the area in brackets, or with a leading
# zero or in the groups of one country. Fewer than 8 digits are not enough, more than 15 no number has.
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

# National numbers that are known by their punctuation or letters. Those that are bare digits are judged by columns.
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
    """Yield the IBANs in a text; what follows one can look like a part of it."""
    for match in re.finditer(_IBAN, text):
        groups = match[0].split(" ")
        starts = (" ".join(groups[:number]) for number in range(len(groups), 0, -1))
        yield from islice(filter(is_iban, starts), 1)


def _is_phone(text: str) -> bool:
    digits = re.sub(r"\D", "", text)
    least = 9 if text.startswith("0") and not text.startswith("00") else 7 if text[0].isalpha() else 8
    return least <= len(digits) <= 15 and len(set(digits)) > 2 and not _DATE.fullmatch(text)


def _is_national(text: str) -> bool:
    return not _SPANISH.fullmatch(text) or has_spanish_letter(text)


def _is_ip(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return len(text) >= 8 or address.version == 6


_SPANISH: Final = re.compile(r"[XYZ]?-?\d{7,8}-?[A-Z]")
_DATE: Final = re.compile(r"0?\d{1,2}([ .\-/])\d{1,2}\1(\d{2}|\d{4})|\d{4}([ .\-/])\d{1,2}\3\d{1,2}")

#: Kinds that a text can have by chance: alone in its cell, such content counts only if most cells have it.
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
    """Yield the contents of texts as (kind, place of the text, content), kind by kind.

    Each kind is first looked for in all texts at once; only candidates are looked at one by one.
    """
    for kind in kinds:
        content = CONTENTS[kind]
        places = pc.indices_nonzero(pc.match_substring_regex(texts, content.candidate))
        for place, text in zip(places.to_pylist(), texts.take(places).to_pylist(), strict=True):
            yield from ((kind, place, found) for found in content.found_in(text))


def contents_of_each(columns: Sequence[pa.Array]) -> list[list[tuple[str, int, str]]]:
    """Return the contents of the texts of each column, as `contents_of` yields them.

    Patterns are compiled at each search, which takes longer than to search some thousand texts; so all are searched
    together.
    """
    ends = list(accumulate(map(len, columns)))
    contents: list[list[tuple[str, int, str]]] = [[] for _ in columns]
    texts = pa.concat_arrays([each.cast(pa.string()) for each in columns]) if columns else pa.array([], pa.string())
    for kind, place, content in contents_of(texts):
        column = bisect_right(ends, place)
        contents[column].append((kind, place - ends[column] + len(columns[column]), content))
    return contents
