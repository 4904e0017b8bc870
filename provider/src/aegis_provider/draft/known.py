"""Guesses what others know about people: by the names of columns in several languages, and by their values."""

import re
from collections.abc import Collection, Sequence
from typing import Final

from aegis_provider.identifiers import Values, words_of
from aegis_provider.identifiers.names import normalised
from aegis_provider.table.values import ValueType

# English, German, French, Spanish and Portuguese, Italian, Dutch, Polish; births have more languages (`header_of`).
_KNOWN: Final = (
    r"age|sex|gender|zip|zip_?code|postal|post_?code|city|town|county|state|country|region|district"
    r"|race|ethnic\w*|nationality|citizenship|native|religion|marital|married|marriage|partner|dependents?|senior\w*"
    r"|education|degree|occupation|job|profession|employer"
    r"|employment|workclass|language|height|weight|household|children|relationship"
    r"|plz|postleitzahl|wohnort|wohnsitz|stadt|gemeinde|bezirk|bundesland|kanton|staatsangehoe?rigkeit|nationalitae?t"
    r"|geschl\w*|lebensalter|familienstand|bildung\w*|schulabschluss|schulbildung|ausbildung|beruf|arbeitgeber|sprache"
    r"|muttersprache|konfession|koe?rpergroe?sse|gewicht|haushalt\w*|kinder|kinderzahl"
    r"|code_?postal|ville|commune|departement|pays|nationalite|sexe|etat_?civil|situation_?(?:familiale|matrimoniale)"
    r"|metier|diplome|employeur|langue|poids|enfants"
    r"|codigo_?postal|ciudad|cidade|municipio|localidad|provincia|distrito|barrio|bairro|comunidad|pais|nacionalidade?"
    r"|sexo|genero|edad|idade|estado_?civil|profesion|profissao|ocupacion|ocupacao|idioma|educacion|estudios"
    r"|escolaridade|raza|raca|etnia|estatura|altura|peso|hijos|filhos"
    r"|citta|comune|regione|paese|nazionalita|cittadinanza|sesso|stato_?civile|professione|titolo_?di_?studio|lingua"
    r"|altezza|figli"
    r"|woonplaats|gemeente|provincie|nationaliteit|geslacht|leeftijd|burgerlijke_?staat|beroep|opleiding|kinderen"
    r"|kod_?pocztowy|miasto|miejscowosc|gmina|powiat|wojewodztwo|narodowosc|obywatelstwo|plec|wiek|stan_?cywilny"
    r"|zawod|jezyk|wzrost|waga|dzieci|wyksztalcenie"
)
# Words with this meaning only as the whole name.
_KNOWN_ALONE: Final = r"alter|ort|land|cp|cep|cap|eta|genre|genere|taille|kraj|taal|lengte|religione|educacao"
_NAMES_KNOWN: Final = re.compile(f"(?:^|[^a-z])(?:{_KNOWN})(?:[^a-z]|$)|^(?:{_KNOWN_ALONE})$")

# Two values in the order of the alphabet, and further ones.
_SEXES: Final = re.compile(
    r"f m|m w|m v|k m|m z|f h|h m|female male|man woman|men women|boy girl|frau mann|frau herr"
    r"|mannlich weiblich|maennlich weiblich|junge madchen|femme homme|feminin masculin|madame monsieur"
    r"|hombre mujer|mujer varon|femenino masculino|feminino masculino|homem mulher|donna uomo|femmina maschio"
    r"|man vrouw|mannelijk vrouwelijk|kobieta mezczyzna|meska zenska|meski zenski|pan pani|muz zena"
)
_OTHER_SEX: Final = re.compile(r"[dxou]|diverse?|other|non-?binary|autre|ou?tro|altro|anders|inn[ae]")

_POSTAL: Final = re.compile(
    r"(?:[A-Z]{1,2}-)?\d{5}"  # Germany, France, Spain, Italy, the United States
    r"|[A-Z]{1,2}-\d{4}|\d{5}-\d{4}|\d{5}-\d{3}|\d{4}-\d{3}"  # Austria, Switzerland; United States, Brazil, Portugal
    r"|\d{2}-\d{3}|\d{3} \d{2}|\d{4} ?[A-Z]{2}"  # Poland; Czechia, Sweden; the Netherlands
    r"|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d"  # the United Kingdom, Canada
)
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_NEARLY_ALL: Final = 0.95
_FEWEST: Final = 10
_SPAN: Final = 45


def is_known_by_name(name: str) -> bool:
    """Return whether others probably know the values of a column with this name."""
    return _NAMES_KNOWN.search(words_of(name)) is not None


def may_be_known(values: Values) -> str | None:
    """Return what the values look like that others may know about people; `None` if they do not."""
    if values.distinct < _FEWEST and _are_sexes({normalised(text.strip()) for text in values.texts}):
        return "sex"
    if values.type is ValueType.DATE:
        return "dates of birth" if _are_of_lives([text[:4] for text in values.texts]) else "dates of events"
    if values.distinct < _FEWEST or values.header.is_measure:
        return None
    if values.share(_YEAR.fullmatch) == 1 and _are_of_lives(values.texts):
        return "years of birth"
    return "postal codes" if values.share(_POSTAL.fullmatch) >= _NEARLY_ALL else None


def _are_sexes(texts: Collection[str]) -> bool:
    return _SEXES.fullmatch(" ".join(sorted(text for text in texts if not _OTHER_SEX.fullmatch(text)))) is not None


def _are_of_lives(years: Sequence[str]) -> bool:
    """Return whether years span as many as people are old; today's date would draft a table anew each year."""
    return int(max(years)) - int(min(years)) >= _SPAN
