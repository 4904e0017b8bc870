"""Fields of forms for numbers, and what was wrong with a form that was refused."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from pydantic import ValidationError

from app.pages.forms import Form
from app.platform.errors import Fault, InvalidDocumentError
from app.platform.http.bodies import AnyModel, invalid_document

#: Python reads more: `1_000`, `nan`, digits of other scripts.
_NUMBER: Final = re.compile(r"-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)

#: Python does not read longer whole numbers.
_LONGEST: Final = 4_000

#: What to give where the contract finds something else, by the type of its error.
_WANTED: Final[Mapping[str, str]] = {
    "finite_number": "give a number, such as 10",
    "float_type": "give a number, such as 10",
    "int_type": "give a whole number, such as 10, or 0",
    "greater_than_equal": "give a number from {ge:g} on",
    "less_than_equal": "give at most {le:,}",
}


@dataclass(frozen=True, slots=True)
class NumberField:
    """A field for a number, or for none.

    Attributes:
        name: of the field.
        label: what it is, for people.
        value: what is in it.
        hint: what an empty one means.
        fault: what is wrong with it; empty if nothing is.
    """

    name: str
    label: str
    value: str
    hint: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Typed:
    """A form that was refused: what was typed, and what was wrong.

    Attributes:
        form: the fields.
        detail: what was wrong, in a sentence.
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
    """What the fields of a form say, as the contract reads it.

    Raises:
        InvalidDocumentError: a field breaks a rule of the contract.
    """
    try:
        return model.model_validate(members)
    except ValidationError as error:
        raise in_forms_words(error) from None


def in_forms_words(error: ValidationError) -> InvalidDocumentError:
    """The error for fields that break rules of the contract, in words for people."""
    lines = error.errors(include_url=False, include_input=False)
    wanted = (_WANTED[line["type"]].format(**line.get("ctx", {})) if line["type"] in _WANTED else "" for line in lines)
    faults = zip(invalid_document(error).faults, wanted, strict=False)  # of many, the first ones
    told = tuple(Fault(fault.pointer, words or fault.detail) for fault, words in faults)
    return InvalidDocumentError("Correct what is marked.", told)


def number(text: str) -> object:
    """The number that a text writes; None if it is empty; else the text, which the contract refuses. So is a comma:
    1,000 is a thousand to some and one to others.
    """
    if not text:
        return None
    return float(text) if _NUMBER.fullmatch(text) else text


def written(value: float) -> str:
    """A number so that `number` reads the very same again."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def whole_number(text: str) -> object:
    """The whole number that a text writes, None if it is empty; else the text, which the contract refuses."""
    if not text:
        return None
    return int(text) if text.isascii() and text.isdigit() and len(text) < _LONGEST else text
