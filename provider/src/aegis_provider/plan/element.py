"""A place in the plan file: its value, and how to complain about it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NoReturn

from aegis_provider.errors import PlanError, UnmaskableValueError, nearest
from aegis_provider.table.values import decimal_of

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_NAME_LENGTH = 255


@dataclass(frozen=True)
class Element:
    """`value` as YAML writes it: text, a list or a mapping (nothing is a number yet, nothing `true` or `null`).

    `path` is dotted. Every method that reads a kind of value raises `PlanError`, with the place, for another.
    """

    source: str
    path: str
    value: Any

    def fail(self, message: str) -> NoReturn:
        """Raises `PlanError`: the file, the place, the message."""
        raise PlanError(f"{self.source}: {self.path}: {message}" if self.path else f"{self.source}: {message}")

    @contextmanager
    def naming_faults(self) -> Iterator[None]:
        """Gives a `ValueError` raised within the place of this element, as `PlanError`; one with a place keeps it."""
        try:
            yield
        except PlanError as error:
            if str(error).startswith(f"{self.source}: "):
                raise
            self.fail(str(error))
        except ValueError as error:
            self.fail(str(error))

    def items(self) -> Iterator[tuple[str, "Element"]]:
        """The keys of a mapping, each with its element; nothing at all counts as an empty mapping."""
        if self.value == "":
            return
        if not isinstance(self.value, dict):
            self.fail("expected `name: value` pairs")
        for key, value in self.value.items():
            if not isinstance(key, str):
                self.fail(f"{key!r} cannot be a name")
            yield key, Element(self.source, f"{self.path}.{key}" if self.path else key, value)

    def fields(self, *required: str, optional: tuple[str, ...] = ()) -> dict[str, "Element"]:
        """The elements of a mapping that has these keys and no others."""
        found = dict(self.items())
        known = [*required, *optional]
        for key in found:
            if key not in known:
                self.fail(f"unknown key {key!r}; {nearest(key, known)}")
        for key in required:
            if key not in found:
                self.fail(f"`{key}` is missing")
        return found

    def elements(self) -> list["Element"]:
        """The elements of a list."""
        if not isinstance(self.value, list):
            self.fail("expected a list, [a, b, ...]")
        return [Element(self.source, f"{self.path}.{place}", value) for place, value in enumerate(self.value)]

    def text(self) -> str:
        """A text, perhaps empty."""
        if not isinstance(self.value, str):
            self.fail("expected a text")
        return self.value

    def character(self) -> str:
        """A text of one character."""
        text = self.text()
        if len(text) != 1 or text in "\r\n\0":
            self.fail(f"expected one character, not {text!r}")
        return text

    def name(self) -> str:
        """A text that may serve as an id or a name: 1 to 255 characters, no control characters."""
        return self.checked_name(self.text())

    def checked_name(self, text: str) -> str:
        """`text`, if it may serve as an id or a name."""
        if not 1 <= len(text) <= _NAME_LENGTH or _CONTROL.search(text):
            self.fail(f"a name has 1 to {_NAME_LENGTH} characters, no control characters among them")
        return text

    def decimal(self, *, infinite: bool = False) -> Decimal:
        """A number; `.inf` and `-.inf` too, where `infinite`."""
        text = self.text()
        if infinite and text.lower() in {".inf", "+.inf", "-.inf"}:
            return Decimal(text.replace(".", ""))
        try:
            return decimal_of(text)
        except UnmaskableValueError as error:
            self.fail(str(error))

    def positive(self) -> Decimal:
        """A number above zero."""
        number = self.decimal()
        if number <= 0:
            self.fail(f"must be above 0, not {self.value}")
        return number

    def one_of(self, *known: str) -> str:
        """A text that is one of these."""
        text = self.text()
        if text not in known:
            self.fail(f"expected {' or '.join(known)}, not {text!r}")
        return text

    def signed_integer(self) -> int:
        """An integer of at most nine digits."""
        text = self.text()
        if not re.fullmatch(r"[+-]?\d{1,9}", text, re.ASCII):
            self.fail(f"expected an integer, not {text!r}")
        return int(text)

    def digits(self) -> int:
        """A whole number of at most 40 digits."""
        text = self.text()
        if not re.fullmatch(r"\d{1,40}", text, re.ASCII):
            self.fail("expected a whole number of at most 40 digits")
        return int(text)

    def integer(self, at_least: int) -> int:
        """An integer of at least that much."""
        text = self.text()
        if not re.fullmatch(r"\d{1,9}", text, re.ASCII) or int(text) < at_least:
            self.fail(f"expected an integer of at least {at_least}, not {text!r}")
        return int(text)
