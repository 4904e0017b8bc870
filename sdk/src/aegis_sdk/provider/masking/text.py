"""`blur`, `round` and `suppress`: masked values made from a value's own text."""

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from aegis_sdk.provider.masking.arithmetic import (
    floor_ratio,
    json_number,
    minus,
    numbers_of,
    plain,
    plus,
    times,
)
from aegis_sdk.provider.values import MISSING, Domain


@dataclass(frozen=True)
class Blur:
    """Keeps the first `keep` characters and writes `character` over the others; the length stays."""

    name: ClassVar[str] = "blur"
    keep: int
    character: str = "*"

    def parameters(self) -> dict[str, object]:
        """How many characters are kept, and what hides the others."""
        return {"keep": self.keep, "character": self.character}

    def mask(self, domain: Domain) -> list[str]:
        """Each text, its end hidden; a missing value stays missing."""
        return [text[: self.keep] + self.character * (len(text) - self.keep) for text in domain.texts]


@dataclass(frozen=True)
class Round:
    """The nearest multiple of `to`; a half is rounded away from zero, as people do."""

    name: ClassVar[str] = "round"
    to: Decimal

    def parameters(self) -> dict[str, object]:
        """What the masked values are multiples of."""
        return {"to": json_number(self.to)}

    def mask(self, domain: Domain) -> list[str]:
        """Each number rounded, without exponent; a missing value stays missing."""
        return [MISSING if number is None else self._rounded(number) for number in numbers_of(domain)]

    def _rounded(self, number: Decimal) -> str:
        size = number.copy_abs()
        step = floor_ratio(size, self.to)
        rest = minus(size, times(step, self.to))
        if plus(rest, rest) >= self.to:
            step = plus(step, Decimal(1))
        return plain(times(step, self.to).copy_sign(number))


@dataclass(frozen=True)
class Suppress:
    """One masked value, `*`, for every value, missing ones too."""

    name: ClassVar[str] = "suppress"

    def parameters(self) -> dict[str, object]:
        """None."""
        return {}

    def mask(self, domain: Domain) -> list[str]:
        """`*` for each value."""
        return ["*"] * len(domain)
