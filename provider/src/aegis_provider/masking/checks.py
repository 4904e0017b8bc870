"""What parameters of masking functions must be. Each check raises `ValueError`."""

from decimal import Decimal
from itertools import pairwise


def check_above_zero(name: str, number: Decimal) -> None:
    """A finite number above 0."""
    if not (number.is_finite() and number > 0):
        raise ValueError(f"`{name}` must be a number above 0, not {number}")


def check_finite(name: str, number: Decimal) -> None:
    """Any number but an infinite one."""
    if not number.is_finite():
        raise ValueError(f"`{name}` must be a finite number, not {number}")


def check_ascending(name: str, numbers: tuple[Decimal, ...]) -> None:
    """Numbers of which each is above the one before."""
    for lower, upper in pairwise(numbers):
        if lower.compare(upper) != -1:  # what is not a number is above nothing
            raise ValueError(f"{name} must ascend, but {upper} follows {lower}")


def check_level(level: int, levels: int) -> None:
    """A level that a hierarchy of so many has."""
    if not 1 <= level <= levels:
        raise ValueError(f"has levels 1 to {levels}, not {level}")


def check_character(character: str) -> None:
    """One character that can stand in a line of text."""
    if len(character) != 1 or character in "\r\n\0":
        raise ValueError(f"`character` must be one character, not {character!r}")
