"""What a column holds, judged before it is counted: values of what kind, and whether they identify a person."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from aegis_provider.table.values import ValueType, infer_type, possible_code
from aegis_sdk.reading import some

#: More different texts are not merged by the label.
MOST_TEXTS: Final = 1_000

_MISSING: Final = frozenset({"?", "-", ".", "na", "n/a", "nan", "null", "none", "unknown", "missing", "not available"})
_NEARLY_UNIQUE = 0.5
_MATCHING = 0.9
_WORDS_OF_FREE_TEXT = 4
_LENGTH_OF_FREE_TEXT = 40
_FEW = 20
_SHOWN = 3

_IDENTIFIER = (
    "(id|ids|uuid|guid|ssn|nino|e_?mail|mail|phone|telephone|mobile|fax|iban|passport|account|licen[cs]e|surname|forename"
    "|first_?name|last_?name|full_?name|name|street|address|url|ip|user_?name|login|insurance_?number)"
)
_KNOWN = (
    r"(age|birth|birthday|born|dob|sex|gender|zip|zip_?code|postal|post_?code|city|town|county|state|country|region|district"
    r"|race|ethnic\w*|nationality|native|religion|marital|marriage|education|degree|occupation|job|profession|employer"
    r"|employment|workclass|language|height|weight|household|children|relationship)"
)
_NAMES_TEXT = re.compile(f"(^|[^a-z]){_IDENTIFIER}([^a-z]|$)")
_NAMES_NUMBER = re.compile(f"(^|[^a-z]){_IDENTIFIER}[^a-z]*$")
_NAMES_KNOWN = re.compile(f"(^|[^a-z]){_KNOWN}([^a-z]|$)")

_CONTENT: Final[Mapping[str, re.Pattern[str]]] = {
    "contains e-mail addresses": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    "contains web addresses": re.compile(r"(https?://|www\.)\S+", re.IGNORECASE),
    "contains UUIDs": re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE),
    "contains IP addresses": re.compile(r"(\d{1,3}\.){3}\d{1,3}"),
    "contains IBANs": re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}"),
    "contains social security numbers": re.compile(r"\d{3}-\d{2}-\d{4}"),
    "contains telephone numbers": re.compile(r"(\+|00)\d[\d ()/-]{6,18}|\(?\d{2,5}\)?[ /-]\d{3,4}[ -]?\d{3,6}"),
    "contains times of day; keep only the dates to share it": re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*"),
    "contains dates that are not written as 2024-12-31; rewrite them to share it": re.compile(
        r"\d{1,2}([./-])\d{1,2}\1(\d{2}|\d{4})|\d{4}([./])\d{1,2}\3\d{1,2}"
    ),
}


@dataclass(frozen=True)
class Column:
    """A column of the table.

    Attributes:
        name: Its name.
        records: The records of the table.
        known: The records in which it is not missing.
        distinct: The number of different values, missing ones not counted.
        numbers: The records in which it is a finite number.
        extent: The largest of these numbers minus the smallest; `None` if there are none.
        sample: Its values; of very many, the first and the last in text order, and those that are neither plain numbers
            nor dates.
    """

    name: str
    records: int
    known: int
    distinct: int
    numbers: int
    extent: float | None
    sample: tuple[str, ...]

    @property
    def missing(self) -> int:
        """The records in which it is missing."""
        return self.records - self.known

    @cached_property
    def type(self) -> ValueType:
        """The type of the sampled values."""
        return infer_type(self.sample)

    @property
    def is_number(self) -> bool:
        """Whether the sampled values are numbers."""
        return self.type in {ValueType.INTEGER, ValueType.NUMBER}

    @property
    def is_likely_known(self) -> bool:
        """Whether, judging by its name, people are likely to know its value about others."""
        return _NAMES_KNOWN.search(_words(self.name)) is not None

    @property
    def missing_codes(self) -> tuple[str, ...]:
        """The sampled values that usually stand for a missing one, such as `?` and `NA`."""
        return tuple(text for text in self.sample if text.strip().lower() in _MISSING)

    @property
    def possible_code(self) -> str | None:
        """A value such as `1E1` that may be a code or a number, if all values may be numbers."""
        return possible_code(self.sample)

    @property
    def has_codes(self) -> bool:
        """Whether the values are texts of one length without spaces, such as postal codes, which prefixes may group."""
        is_one_word = not any(" " in text for text in self.sample)
        return self.type == ValueType.STRING and is_one_word and len(set(map(len, self.sample))) == 1

    def left_out(self) -> str | None:
        """Return why the column should not be shared at all, or `None` if maskings can be drafted for it."""
        if not self.known:
            return "no record has a value"
        if self.distinct == 1 and not self.missing:
            return "every record has the same value"
        identifying = self._identifying() if self.distinct > _FEW else None
        odd = self._with_texts_among("numbers", (ValueType.INTEGER, ValueType.NUMBER))
        odd = odd or self._with_texts_among("dates", (ValueType.DATE,))
        return odd or identifying or self._unmaskable()

    def _with_texts_among(self, what: str, types: Collection[ValueType]) -> str | None:
        if self.type != ValueType.STRING or self.distinct <= MOST_TEXTS:
            return None
        odd = [text for text in self.sample if infer_type([text]) not in types]
        if len(odd) > (1 - _MATCHING) * len(self.sample):
            return None
        return f"{what}, except {some(odd, _SHOWN)}; leave these values empty to share it"

    def _identifying(self) -> str | None:
        for what, pattern in _CONTENT.items():
            if self._share(pattern) >= _MATCHING:
                return what
        if self._is_named_as_identifier():
            return "its name says that it identifies people"
        if self.distinct < self.known:
            return None
        if self.type == ValueType.INTEGER:
            return "numbers the records" if self.extent == self.distinct - 1 else None
        is_text = self.type == ValueType.STRING and not self._is_free_text
        return "no two records have the same value" if is_text else None

    def _is_named_as_identifier(self) -> bool:
        name = _words(self.name)
        if self.type == ValueType.INTEGER:
            return self._is_nearly_unique and _NAMES_NUMBER.search(name) is not None
        return self.type == ValueType.STRING and _NAMES_TEXT.search(name) is not None

    def _unmaskable(self) -> str | None:
        if self.is_number and self.numbers < self.known:
            return "contains numbers that are infinite or too large; remove them to share it"
        if self.type != ValueType.STRING:
            return None
        if self._is_free_text or self.has_codes:
            return "free text" if self._is_free_text else None
        is_too_varied = self.distinct > MOST_TEXTS or (self._is_nearly_unique and self.distinct > _FEW)
        return f"{self.distinct:,} different texts in {self.known:,} records" if is_too_varied else None

    @property
    def _is_nearly_unique(self) -> bool:
        return self.distinct > _NEARLY_UNIQUE * self.known

    @property
    def _is_free_text(self) -> bool:
        words = sum(len(text.split()) for text in self.sample) / len(self.sample)
        length = sum(map(len, self.sample)) / len(self.sample)
        return self.distinct > _FEW and (words >= _WORDS_OF_FREE_TEXT or length > _LENGTH_OF_FREE_TEXT)

    def _share(self, pattern: re.Pattern[str]) -> float:
        return sum(pattern.fullmatch(text) is not None for text in self.sample) / len(self.sample)


def _words(name: str) -> str:
    """Return the words of a column's name in lower case: `birthDate` and `BIRTH DATE` are `birth_date`."""
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower().replace(" ", "_")
