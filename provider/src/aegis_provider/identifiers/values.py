"""The values of a column and the meaning of its name, as used in the search for identifiers."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Final

from aegis_provider.table.values import ValueType, infer_type

_NAMES: Final = (
    "name|names|fullname|full_name|first_?name|last_?name|surname|forename|given_?name|family_?name|middle_?name"
    "|maiden_?name|firstname|lastname|nom|prenom|nombre|nombres|apellido|apellidos|nachname|vorname|familienname|nome"
    "|cognome|sobrenome|apelido|naam|voornaam|achternaam|imie|nazwisko|jmeno|prijmeni|meno|priezvisko|nev|keresztnev"
    "|vezeteknev|nume|prenume|ime|prezime|priimek|namn|fornamn|efternamn|navn|fornavn|etternavn|efternavn|nimi|etunimi"
    "|sukunimi|isim|ad|adi|soyad|soyadi|onoma|eponymo|imya|familiya|fio|kunde|customer|client|patient|doctor|arzt"
    "|medico|physician|employee|mitarbeiter|teacher|student|author|contact|person|owner|holder|member|guest|passenger"
    "|nurse|therapist|guardian|mother|father|spouse|имя|фамилия|фио|ім'я|прізвище|име|姓名|名前|氏名|姓|名|이름|성명|الاسم|اسم"
    "|όνομα|επώνυμο|नाम|שם"
)
_IDENTIFIERS: Final = (
    "id|ids|uid|uuid|guid|pid|ssn|nino|nhs|svnr|svnummer|sozialversicherungsnummer|ahv|nir|insee|dni|nie|nif|cpf|curp"
    "|rfc|pesel|personnummer|fodselsnummer|cpr|bsn|rijksregister|codice_?fiscale|steuer_?id|steuernummer|tin|tax_?id"
    "|tax_?number|aadhaar|pan|rut|rg|oib|egn|cnp|jmbg|tckn|tckimlik|hetu|kennitala|ppsn|pps|sin|mrn|national_?id"
    "|identity|identification|e_?mail|mail|correo|courriel|phone|telephone|telefon|telefono|telefone|tel|mobile|mobil"
    "|handy|cell|fax|gsm|puhelin|iban|konto|passport|pasaporte|reisepass|passeport|паспорт|account|licen[cs]e|street"
    "|address|adresse|direccion|indirizzo|endereco|adres|strasse|rue|calle|url|website|ip|ip_?address|mac|user"
    "|user_?name|username|login|handle|nick|nickname|insurance_?number|policy_?number|card|card_?number"
    "|customer_?number|kundennummer|patientennummer|case_?number|fallnummer|number_?plate|plate|kennzeichen|device|imei"
    "|serial|token|hash|cookie|session|signature|patient|customer|member|client|employee|student|subject|participant"
    "|person|respondent"
)
# Only at the end of a name, including compounds: `Personalnr`.
_NUMBERS: Final = (
    r"(?:(?:^|[^a-z])(?:no|num|number|numero|key|ref|reference|case|record)|nr|nummer|numer|nro|nummer|tunnus"
    r"|kennung|kenning)[^a-z]*$"
)
# Numbers that organisations assign to persons: `KdNr`, `patient_id`, `numero de socio`, and `Kunde` alone.
_PEOPLE: Final = (
    "kd|kunden?|customer|cust|client|klient(?:en)?|cliente|klant|kund|zakaznik|klijent|asiakas|patient(?:en)?|paciente"
    "|paziente|pacient|potilas|mitglieds?|member|membre|medlems?|socio|jasen|subject|participant|teilnehmer|respondent"
    "|proband(?:en)?|employee|mitarbeiter|student|person(?:en)?|user|versicherten?"
)
_PEOPLE_NUMBERED: Final = f"{_PEOPLE}|pat|emp|pers|personal|versicherungs|versichertens|abonnenten|benutzer|nutzer|lid"
_NUMBERED_BY: Final = (
    "nr|no|num|number|nummer|numer|numero|nro|id|key|code|kennung|kod|ref|reference|tunnus|cislo|nº|n°|n"
)
_NUMBER_OF_PEOPLE: Final = re.compile(
    f"(?:{_PEOPLE})|(?:.*_)?(?:{_PEOPLE_NUMBERED})_?(?:{_NUMBERED_BY})|(?:{_NUMBERED_BY})_(?:d[eiu]l?_|of_)?(?:{_PEOPLE_NUMBERED})"
)
_BIRTH: Final = (
    "dob|birth|birthday|birth_?date|date_?of_?birth|born|bday|geburt\\w*|geb|geb_?dat\\w*|naissance|ne_?le|nacimiento"
    "|fecha_?nac\\w*|nascita|nascimento|data_?nasc\\w*|geboorte\\w*|urodzenia|data_?ur\\w*|narozeni|narodenia"
    "|szuletes\\w*|nasterii|rodjenja|rodenja|fodelse\\w*|fodsels\\w*|syntyma\\w*|dogum\\w*|gennisis|rozhdeniya|рожд\\w*"
    "|народження|раждане|生年月日|出生日期|생년월일|الميلاد"
)
_PLACES: Final = (
    "zip|zip_?code|zipcode|postal|postal_?code|post_?code|postcode|plz|postleitzahl|code_?postal|cp|codigo_?postal|cap"
    "|cep|postnummer|postinumero|kod_?pocztowy|psc|iranyitoszam|postkod|city|town|village|county|state|country|region"
    "|district|province|municipality|ort|stadt|wohnort|gemeinde|land|bundesland|bezirk|kanton|ville|commune|departement"
    "|pays|ciudad|municipio|provincia|pais|citta|comune|regione|cidade|estado|stad|gemeente|miasto|kraj|wojewodztwo"
    "|mesto|varos|oras|judet|grad|by|kommun|kommune|kaupunki|sehir|il|ilce|nationality|birthplace|place|location|area"
    "|neighbou?rhood|ward|borough|country_?name|city_?name|region_?name|capital|airport|station|destination|origin"
    "|native"
)
_THINGS: Final = (
    "product|item|brand|make|model|company|firm|employer|organi[sz]ation|school|university|hospital|clinic|department"
    "|team|club|drug|medication|medicine|substance|diagnosis|disease|condition|procedure|icd|icd10|atc|code|category"
    "|type|class|group|kind|species|breed|variety|sector|industry|occupation|job|profession|title|degree|major"
    "|subject_?area|course|language|religion|currency|color|colour|marke|modell|produkt|firma|beruf|schule|diagnose"
    "|abteilung|marque|produit|metier|ecole|marca|producto|empresa|profesion|prodotto|azienda|professione|produto"
    "|profissao|merk|beroep|zawod|produkt_?name|product_?name|file|sku|isbn|station|aircraft|vessel|genre|movie|song"
    "|band|street_?type|version|variable|event|unit|ward|room|shop|store|branch"
)
_MEASURES: Final = (
    "income|salary|wage|price|amount|cost|revenue|sales|balance|population|area|distance|count|total|sum|value|size"
    "|weight|height|bytes|duration|seconds|minutes|hours|year|yr|age|rate|score|quantity|budget|profit|turnover"
    "|einkommen|gehalt|preis|betrag|umsatz|revenu|salaire|prix|montant|ingresos|salario|precio|importe|reddito"
    "|stipendio|prezzo|importo|renda|preco|valor|inkomen|prijs|bedrag|dochod|cena|kwota|temperature|pressure|volume"
    "|gain|loss|fnlwgt|capital|spend|spent|expenditure|charges"
)
_DAYS: Final = (
    "visit|visited|visit_?date|admission|admitted|discharge|discharged|created|updated|modified|timestamp|order_?date"
    "|ordered|shipped|delivery|due|published|released|release_?date|expiry|expires|start|begin|end|hired|hire_?date"
    "|event_?date|founded|opened|closed|installed|manufactured|recorded|measured|sampled|collected|death|died|filed"
    "|issued|paid|treatment|termin|besuch\\w*|aufnahme\\w*|entlassung\\w*|datum_?besuch|bestell\\w*|rechnungs\\w*"
)


@dataclass(frozen=True)
class Header:
    """The meaning of a column's name."""

    is_name: bool
    is_identifier: bool
    is_number_of_people: bool
    is_birth: bool
    is_place: bool
    is_thing: bool
    is_measure: bool
    is_day: bool


@cache
def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(f"(?:^|[^a-z])(?:{words})(?:[^a-z]|$)" if words.isascii() else f"(?:^|_)(?:{words})(?:_|$|[0-9])")


@cache
def words_of(name: str) -> str:
    """Return the words of a name in lower case without accents: `Straße (Ort)` is `strasse_(ort)`."""
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()
    words = "".join(
        each for each in unicodedata.normalize("NFD", words) if not unicodedata.combining(each) or each > "\u0370"
    )
    for letter, instead in (("ß", "ss"), ("ø", "o"), ("ł", "l")):
        words = words.replace(letter, instead)
    return re.sub(r"[\s.\-/:]+", "_", unicodedata.normalize("NFC", words))


@cache
def header_of(name: str) -> Header:
    """Return the meaning of a name such as `birthDate`, `BIRTH DATE` or `Geburtsdatum`."""
    words = words_of(name)
    matches = [
        _pattern(each).search(words) is not None
        for each in (_NAMES, _IDENTIFIERS, _BIRTH, _PLACES, _THINGS, _MEASURES, _DAYS)
    ]
    matches[1] = matches[1] or re.search(_NUMBERS, words) is not None
    is_name, is_identifier, is_birth, is_place, is_thing, is_measure, is_day = matches
    is_number = _NUMBER_OF_PEOPLE.fullmatch(words.strip("_")) is not None
    return Header(is_name, is_identifier, is_number, is_birth, is_place, is_thing, is_measure, is_day and not is_birth)


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
