"""Numbers that states, banks and card issuers give to persons: known by their check digits or the dates in them."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Final

#: Modules of python-stdnum whose numbers have check digits, or are of one form, and belong to persons.
_MODULES: Final = (
    "at.vnr", "at.tin", "de.idnr", "ch.ssn", "fr.nir", "fr.nif", "es.dni", "es.nie", "es.nif", "it.codicefiscale",
    "gb.nhs", "gb.upn", "gb.utr", "pl.pesel", "pl.nip", "se.personnummer", "nl.bsn", "be.nn", "br.cpf",
    "in_.aadhaar", "in_.pan", "in_.epic", "kr.rrn", "za.idnr", "tr.tckimlik", "fi.hetu",
    "no.fodselsnummer", "cz.rc", "pt.cc", "pt.nif", "ca.sin", "mx.curp", "mx.rfc", "cl.rut", "ro.cnp", "bg.egn",
    "bg.pnf", "hr.oib", "ie.pps", "lt.asmens", "ee.ik", "gr.amka", "gr.vat", "il.idnr", "th.pin", "my.nric",
    "si.emso", "is_.kennitala", "cn.ric", "ru.inn", "ua.rntrc", "hu.anum", "au.tfn", "id.nik", "nz.ird",
    "do.cedula", "ec.ci", "co.nit", "uy.rut", "imei",
)  # fmt: skip
#: Forms without check digits are believed only with their punctuation.
_FORMS: Final = ("us.ssn",)
_MATCHING: Final = 0.85
_DATES: Final = (
    r"(?P<y>\d{2})(?P<m>\d{2})(?P<d>\d{2})",
    r"(?P<d>\d{2})(?P<m>\d{2})(?P<y>\d{2})",
    r"(?P<y>(?:19|20)\d{2})(?P<m>\d{2})(?P<d>\d{2})",
)


def is_iban(text: str) -> bool:
    """Return whether it is an IBAN: by its check digits."""
    from stdnum import iban  # noqa: PLC0415 - takes longer than most commands need

    return bool(iban.is_valid(text, check_country=False))


def has_spanish_letter(text: str) -> bool:
    """Return whether the letter of a Spanish identity number is right."""
    from stdnum.es import dni, nie  # noqa: PLC0415 - see above

    bare = text.replace("-", "")
    return bool(dni.is_valid(bare) or nie.is_valid(bare))


def has_luhn(text: str) -> bool:
    """Return whether the digits have the check digit of Luhn, as numbers of cards do."""
    digits = [int(digit) for digit in re.sub(r"\D", "", text)]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return len(set(digits)) > 1 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def dated(text: str) -> bool:
    """Return whether the first or the last six digits, but for up to five before or after them, can be a date."""
    digits = re.sub(r"\D", "", text)
    return any(_is_date(digits, place, form) for place in (0, 1, 4, len(digits) - 6) for form in range(len(_DATES)))


def dates_within(numbers: Sequence[str]) -> bool:
    """Return whether there is a date at the same place of all these numbers of 9 to 14 digits, or nearly all."""
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
    return lambda text: _has_width(text, width) and validate(text.zfill(width) if text.isdigit() else text)


def _has_width(text: str, width: int) -> bool:
    digits = sum(map(str.isdigit, text))
    return width - 2 <= digits <= width + 2


#: How many digits the numbers have that may begin with zeros, which are lost where they are read as numbers.
_WIDTHS: Final = {
    "pl.pesel": 11, "be.nn": 11, "br.cpf": 11, "nl.bsn": 9, "ro.cnp": 13, "bg.egn": 10,
    "no.fodselsnummer": 11,
    "cz.rc": 10, "za.idnr": 13, "gr.amka": 11, "il.idnr": 9, "is_.kennitala": 10, "my.nric": 12, "kr.rrn": 13,
    "si.emso": 13, "ca.sin": 9, "au.tfn": 9, "se.personnummer": 10, "hr.oib": 11, "imei": 15,
}  # fmt: skip
