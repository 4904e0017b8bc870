"""Conditions that several stores use."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ARRAY, ColumnElement, Integer, any_, literal
from sqlalchemy.orm import InstrumentedAttribute


def one_of(column: ColumnElement[Any] | InstrumentedAttribute[Any], numbers: Iterable[int]) -> ColumnElement[bool]:
    """Whether the column has one of these numbers. They are a single parameter: a statement has 65,535 at most."""
    return column == any_(literal(list(numbers), ARRAY(Integer)))
