"""What a column holds, judged before it is counted: values of what kind, and whether maskings can be drafted for it."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final

from aegis_provider.counting.published_domain import LEAST
from aegis_provider.identifiers import Values, identifying, is_quantity, values_of, words_of
from aegis_provider.table import Table
from aegis_provider.table.values import ValueType, infer_type, possible_code
from aegis_sdk.reading import some

#: More different texts are not merged by the label.
MOST_TEXTS: Final = 1_000

_NEARLY_UNIQUE = 0.5
_MATCHING = 0.9
_FEW = 20
_SHOWN = 3

# What others are likely to know of a person; English, German, French, Spanish and Portuguese, Italian, Dutch, Polish.
_KNOWN: Final = (
    r"age|birth|birthday|born|dob|sex|gender|zip|zip_?code|postal|post_?code|city|town|county|state|country|region|district"
    r"|race|ethnic\w*|nationality|native|religion|marital|marriage|education|degree|occupation|job|profession|employer"
    r"|employment|workclass|language|height|weight|household|children|relationship"
    r"|plz|postleitzahl|wohnort|stadt|gemeinde|bezirk|bundesland|kanton|staatsangehorigkeit|nationalitat|geschlecht|geburt\w*"
    r"|geb_?dat\w*|familienstand|bildung|ausbildung|beruf|sprache|korpergrosse|gewicht|haushalt\w*|kinder"
    r"|code_?postal|ville|commune|departement|pays|nationalite|sexe|naissance|etat_?civil|metier|langue|poids|enfants"
    r"|codigo_?postal|ciudad|cidade|municipio|provincia|distrito|pais|nacionalidade?|sexo|genero|edad|idade|nacimiento"
    r"|nascimento|fecha_?nac\w*|data_?nasc\w*|estado_?civil|profesion|profissao|ocupacion|ocupacao|idioma|educacion"
    r"|escolaridade|raza|raca|etnia|estatura|altura|peso|hijos|filhos"
    r"|citta|comune|regione|paese|nazionalita|cittadinanza|sesso|nascita|stato_?civile|professione|lingua|altezza|figli"
    r"|woonplaats|gemeente|nationaliteit|geslacht|leeftijd|geboorte\w*|burgerlijke_?staat|beroep|opleiding|kinderen"
    r"|kod_?pocztowy|miasto|gmina|powiat|wojewodztwo|narodowosc|obywatelstwo|plec|wiek|urodzenia|data_?ur\w*|stan_?cywilny"
    r"|zawod|jezyk|wzrost|waga|dzieci|wyksztalcenie"
)
# Words that mean this only if they are the whole name.
_KNOWN_ALONE: Final = r"alter|ort|land|cp|cep|cap|eta|genre|genere|taille|kraj|taal|lengte|religione|educacao"
_NAMES_KNOWN = re.compile(f"(?:^|[^a-z])(?:{_KNOWN})(?:[^a-z]|$)|^(?:{_KNOWN_ALONE})$")

_UNMASKABLE: Final[Mapping[str, re.Pattern[str]]] = {
    "contains times of day; keep only the dates to share it": re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*"),
    "contains dates that are not written as 2024-12-31; rewrite them to share it": re.compile(
        r"\d{1,2}([./-])\d{1,2}\1(\d{2}|\d{4})|\d{4}([./])\d{1,2}\3\d{1,2}"
    ),
}


@dataclass(frozen=True)
class Column(Values):
    """A column of the table.

    Attributes:
        identifies: How it identifies persons; `None` if it does not.
    """

    identifies: str | None = None

    @property
    def missing(self) -> int:
        """The records in which it is missing."""
        return self.records - self.known

    @property
    def is_number(self) -> bool:
        """Whether the sampled values are numbers."""
        return self.type in {ValueType.INTEGER, ValueType.NUMBER}

    @property
    def is_likely_known(self) -> bool:
        """Whether, judging by its name, people are likely to know its value about others."""
        return _NAMES_KNOWN.search(words_of(self.name)) is not None

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
        if self.known < LEAST <= self.records:
            return f"fewer than {LEAST} records have a value, which tells about nobody else"
        if self.distinct == 1 and not self.missing:
            return "every record has the same value"
        odd = self._with_texts_among("numbers", (ValueType.INTEGER, ValueType.NUMBER))
        odd = odd or self._with_texts_among("dates", (ValueType.DATE,))
        return self.identifies or odd or self._unmaskable()

    def _with_texts_among(self, what: str, types: Collection[ValueType]) -> str | None:
        if self.type != ValueType.STRING or self.distinct <= MOST_TEXTS:
            return None
        odd = [text for text in self.sample if infer_type([text]) not in types]
        if len(odd) > (1 - _MATCHING) * len(self.sample):
            return None
        return f"{what}, except {some(odd, _SHOWN)}; leave these values empty to share it"

    def _unmaskable(self) -> str | None:
        if self.is_number and self.numbers < self.known:
            return "contains numbers that are infinite or too large; remove them to share it"
        if self.type != ValueType.STRING:
            return None
        for what, pattern in _UNMASKABLE.items():
            if self.distinct > _FEW and self.share(pattern.fullmatch) >= _MATCHING:
                return what
        if self.has_codes:
            return None
        is_too_varied = self.distinct > MOST_TEXTS or (self._is_nearly_unique and self.distinct > _FEW)
        if is_too_varied and self.share(is_quantity) >= _MATCHING:
            return "contains numbers or times that are not written as 1234.5 or 2024-12-31; rewrite them to share it"
        return "too many different texts" if is_too_varied else None

    @property
    def _is_nearly_unique(self) -> bool:
        return self.distinct > _NEARLY_UNIQUE * self.known


def columns_of(table: Table, names: Sequence[str]) -> list[Column]:
    """Survey these columns, and find out which identify persons.

    Raises:
        TableError: The table cannot be read, has no records, or there are too many columns.
    """
    surveyed = values_of(table, names)
    reasons = identifying(table, surveyed)
    own = [{one.name: getattr(each, one.name) for one in fields(each)} for each in surveyed]
    return [Column(**each, identifies=reasons.get(each["name"])) for each in own]
