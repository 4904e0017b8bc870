"""Objects made from others by the names of their members, so that a new member is declared once on each side."""

from dataclasses import fields
from typing import Any, TypeVar
from uuid import UUID

import msgspec
from pydantic import BaseModel

_M = TypeVar("_M")
_A = TypeVar("_A", bound=BaseModel)


def model_of(model: type[_M], source: object, **others: object) -> _M:
    """A dataclass with the members of a row, or of a validated request, that have the names of its fields.

    Args:
        model: the dataclass. Texts become its enumerations, stored JSON its nested dataclasses, and UUIDs texts.
        source: what has the members. A field that it lacks keeps its default.
        others: the members that `source` lacks, or has in another form.
    """
    names = {field.name for field in fields(model) if field.name not in others}  # type: ignore[arg-type]
    members: dict[str, Any] = {name: getattr(source, name) for name in names if hasattr(source, name)} | others
    texts = {name: str(value) for name, value in members.items() if isinstance(value, UUID)}
    return msgspec.convert(members | texts, model, from_attributes=True)


def answer_of(answer: type[_A], source: object, **others: object) -> _A:
    """A model of the contract with all of its members: of `source` under the same names, or else `others`."""
    members = {name: getattr(source, name) for name in answer.model_fields if name not in others}
    return answer.model_validate(members | others, from_attributes=True)
