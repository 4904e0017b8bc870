"""Members are passed on by their names, and one that nothing has is an error."""

from dataclasses import dataclass
from enum import StrEnum
from types import SimpleNamespace
from uuid import UUID

import pytest
from pydantic import BaseModel

from app.platform.members import answer_of, model_of

ID = UUID(int=7)


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Cost:
    rank: int
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Thing:
    id: str
    colour: Colour
    owner: str
    names: tuple[str, ...] = ()
    cost: Cost | None = None
    size: int = 1


class ShownCost(BaseModel):
    rank: int


class Shown(BaseModel):
    id: str
    colour: str
    cost: ShownCost | None = None


def test_a_row_becomes_a_model_and_what_it_lacks_keeps_its_default():
    row = SimpleNamespace(id=ID, colour="red", names=["a"], cost={"rank": 2}, unknown=1)
    assert model_of(Thing, row, owner="me") == Thing(str(ID), Colour.RED, "me", ("a",), Cost(2), size=1)


def test_what_is_given_goes_before_what_the_source_has():
    row = SimpleNamespace(id=ID, colour="red", owner="another")
    assert model_of(Thing, row, owner="me").owner == "me"


def test_an_answer_has_all_members_of_its_model_also_null():
    thing = Thing("1", Colour.RED, "me", cost=Cost(2))
    assert answer_of(Shown, thing).model_dump(exclude_unset=True) == {"id": "1", "colour": "red", "cost": {"rank": 2}}
    assert answer_of(Shown, thing, cost=None).model_dump(exclude_unset=True)["cost"] is None


def test_a_member_that_nothing_has_is_an_error_even_with_a_default():
    with pytest.raises(AttributeError, match="cost"):
        answer_of(Shown, SimpleNamespace(id="1", colour="red"))
