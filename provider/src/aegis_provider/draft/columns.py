"""Surveys a column before counting: the kind of its values, and whether maskings can be drafted for it."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from types import MappingProxyType
from typing import Final

from aegis_provider.counting.published_domain import LEAST
from aegis_provider.errors import shortened
from aegis_provider.identifiers import Values, identifying, is_quantity, values_of, words_of
from aegis_provider.plan.model import Attribute
from aegis_provider.table import Table
from aegis_provider.table.notation import Recognised, Writing, are_likely, is_text, plainly, recognised_in
from aegis_provider.table.values import ValueType, infer_type, possible_code
from aegis_sdk.reading import some

#: More distinct texts are not merged by the label.
MOST_TEXTS: Final = 1_000

_NEARLY_UNIQUE = 0.5
_MATCHING = 0.9
_FEW = 20
_SHOWN = 3

# Attributes that others probably know; English, German, French, Spanish and Portuguese, Italian, Dutch, Polish.
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
# Words with this meaning only as the whole name.
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
        identifies: Why it identifies persons; `None` if it does not.
        recognised: The form of texts that are not plain; its values are plain, and a few texts other than numbers or
            dates count as missing.
        spellings: Some texts that differ only in case or surrounding blanks.
        fold_case: Whether these are one value.
        stated: The stated attribute, whose type and form take precedence over the recognised ones.
    """

    identifies: str | None = None
    recognised: Recognised | None = None
    spellings: tuple[str, ...] = ()
    fold_case: bool = False
    stated: Attribute | None = None

    @cached_property
    def type(self) -> ValueType:
        """The stated type, or that of the sampled values."""
        return (self.stated and self.stated.value_type) or infer_type(self.sample)

    @property
    def writing(self) -> Writing:
        """Its written form, for the plan."""
        if self.stated is not None and not self.stated.writing.is_plain:
            return self.stated.writing
        if self.recognised is None or self.recognised.has_many_odd:
            return Writing(fold_case=self.fold_case)
        return Writing(self.recognised.form, odd_as_missing=bool(self.recognised.odd))

    @property
    def remarks(self) -> list[str]:
        """Remarks on its written form."""
        of = self.recognised
        said = [] if of is None or of.how_read is None else [of.how_read]
        if of is not None and of.odd and not of.has_many_odd:
            odd = some(list(map(shortened, of.odd)), _SHOWN)
            said.append(f"{odd} is read as missing ({of.cells:,} of {of.records:,} records)")
        if self.spellings:
            alike = some(list(map(shortened, self.spellings)), _SHOWN)
            said.append(f"{alike} are one value" if self.fold_case else f"{alike} may be one value: --fold-case")
        return said

    @property
    def missing(self) -> int:
        """The number of records in which it is missing."""
        return self.records - self.known

    @property
    def is_number(self) -> bool:
        """Whether the sampled values are numbers."""
        return self.type in {ValueType.INTEGER, ValueType.NUMBER}

    @property
    def is_likely_known(self) -> bool:
        """Whether others probably know its value, judging by its name."""
        return _NAMES_KNOWN.search(words_of(self.name)) is not None

    @property
    def possible_code(self) -> str | None:
        """A value such as `1E1` that may be a code, if all values may be numbers."""
        return possible_code(self.sample)

    @property
    def has_codes(self) -> bool:
        """Whether the values are texts of equal length without spaces, such as postal codes, so that prefixes can group
        them.
        """
        is_one_word = not any(" " in text for text in self.sample)
        return self.type == ValueType.STRING and is_one_word and len(set(map(len, self.sample))) == 1

    def left_out(self) -> str | None:
        """Return why the column should not be shared, or `None` if maskings can be drafted for it."""
        if not self.known:
            return "no record has a value"
        if self.known < LEAST <= self.records:
            return f"fewer than {LEAST} records have a value, which tells about nobody else"
        if self.distinct == 1 and not self.missing:
            return "every record has the same value"
        return self.identifies or self._with_many_odd() or self._unmaskable()

    def _with_many_odd(self) -> str | None:
        if self.recognised is None or not self.recognised.has_many_odd:
            return None
        remedy = "write these like the others, or leave them empty, to share it"
        return f"{self.recognised.in_words}, more than one in a hundred; {remedy}"

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


def columns_of(
    table: Table,
    label: str,
    names: Sequence[str],
    as_texts: Collection[str] = (),
    *,
    fold_case: bool = False,
    stated: Mapping[str, Attribute] = MappingProxyType({}),
) -> tuple[Table, list[Column]]:
    """Survey the label and these columns, and detect those that identify persons.

    Args:
        table: The table.
        label: The label.
        names: The other columns.
        as_texts: Columns to treat as texts if they contain others than numbers or dates.
        fold_case: Whether values that differ only in case or surrounding blanks are one.
        stated: The stated attributes of columns; the table is already read accordingly.

    Returns:
        The table with its columns read in their written form, with a few odd texts as missing, and the columns.

    Raises:
        TableError: The table cannot be read, has no records, or has too many columns; or numbers or dates are
            ambiguous.
    """
    surveyed = {values.name: values for values in values_of(table, [label, *names])}
    types = {name: each.value_type for name, each in stated.items()}
    unclear = [name for name in names if _may_be(table, surveyed[name]) and types.get(name) is not ValueType.STRING]
    seen = {name: recognised_in(table, name, types.get(name)) for name in unclear}
    forms = {name: each for name, each in seen.items() if each is not None and not (each.odd and name in as_texts)}
    writings = {name: Writing(each.form, odd_as_missing=True) for name, each in forms.items() if not each.has_many_odd}
    of_texts = [each for name, each in surveyed.items() if name not in forms and is_text(table, name)]
    spellings = {text.name: _spellings(text) for text in of_texts}
    if fold_case:
        writings |= {name: Writing(fold_case=True) for name, alike in spellings.items() if alike}
    if writings:
        table = plainly(table, writings)
        surveyed |= {each.name: each for each in values_of(table, list(writings))}
    reasons = identifying(table, list(surveyed.values()))
    return table, [
        Column(
            **{one.name: getattr(each, one.name) for one in fields(each)},
            identifies=reasons.get(name),
            recognised=forms.get(name),
            spellings=spellings.get(name, ()),
            fold_case=fold_case and bool(spellings.get(name)),
            stated=stated.get(name),
        )
        for name, each in surveyed.items()
    ]


def _may_be(table: Table, values: Values) -> bool:
    """Return whether all texts of a column are needed to recognise its form."""
    if not is_text(table, values.name):
        return False
    if values.type == ValueType.STRING:
        return are_likely(values.sample)
    is_number = values.type in {ValueType.INTEGER, ValueType.NUMBER}
    return values.numbers < values.known if is_number else len(values.sample) < values.distinct


def _spellings(values: Values) -> tuple[str, ...]:
    """Return the texts of one value that differ only in case or surrounding blanks."""
    if values.type != ValueType.STRING:
        return ()
    alike: dict[str, list[str]] = {}
    for text in values.sample:
        alike.setdefault(text.strip().lower(), []).append(text)
    most = max(alike.values(), key=len, default=[])
    return tuple(most) if len(most) > 1 else ()
