"""Number fields of forms, and the faults of refused forms."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from pydantic import ValidationError

from app.pages.forms import Form
from app.platform.errors import Fault, InvalidDocumentError
from app.platform.http.bodies import AnyModel, invalid_document

#: Python also accepts `1_000`, `nan` and digits of other scripts.
_NUMBER: Final = re.compile(r"-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)

#: Python refuses longer integers.
_LONGEST: Final = 4_000

#: The remedy for a fault, by pydantic's error type.
_WANTED: Final[Mapping[str, str]] = {
    "finite_number": "give a number, such as 10",
    "float_type": "give a number, such as 10",
    "int_type": "give a whole number, such as 10, or 0",
    "greater_than_equal": "give at least {ge:g}",
    "less_than_equal": "give at most {le:,}",
}


@dataclass(frozen=True, slots=True)
class NumberField:
    """An optional number field.

    Attributes:
        hint: the meaning of an empty field.
        fault: what is wrong; empty if nothing is.
    """

    name: str
    label: str
    value: str
    hint: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Typed:
    """A refused form: what was typed, and its faults.

    Attributes:
        detail: what is wrong, in a sentence.
        faults: the same by field.
    """

    form: Form
    detail: str
    faults: Mapping[str, str]

    @classmethod
    def of(cls, form: Form, error: InvalidDocumentError) -> Self:
        """The form with the faults of an error."""
        return cls(form, error.detail, {fault.pointer.rpartition("/")[2]: fault.detail for fault in error.faults})


def validated_as(model: type[AnyModel], members: Mapping[str, Any]) -> AnyModel:
    """The fields of a form as a model of the contract.

    Raises:
        InvalidDocumentError: a field breaks a rule of the contract.
    """
    try:
        return model.model_validate(members)
    except ValidationError as error:
        raise in_forms_words(error) from None


def in_forms_words(error: ValidationError) -> InvalidDocumentError:
    """The error for fields that break rules of the contract, worded for people."""
    lines = error.errors(include_url=False, include_input=False)
    wanted = (_WANTED[line["type"]].format(**line.get("ctx", {})) if line["type"] in _WANTED else "" for line in lines)
    faults = zip(invalid_document(error).faults, wanted, strict=False)  # the first ones of many
    worded = tuple(Fault(fault.pointer, words or fault.detail) for fault, words in faults)
    return InvalidDocumentError("Correct what is marked.", worded)


def number(text: str) -> object:
    """The number in a text; None if it is empty; else the text itself, which the contract refuses. A comma is refused,
    too: some read 1,000 as a thousand, others as one.
    """
    if not text:
        return None
    return float(text) if _NUMBER.fullmatch(text) else text


def written(value: float) -> str:
    """A number as text that `number` reads back exactly."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def whole_number(text: str) -> object:
    """The whole number in a text; None if it is empty; else the text itself, which the contract refuses."""
    if not text:
        return None
    return int(text) if text.isascii() and text.isdigit() and len(text) < _LONGEST else text
