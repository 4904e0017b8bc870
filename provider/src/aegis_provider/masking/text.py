"""`blur`, `round` and `suppress`: masked values made from a value's own text."""

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Literal, TypeAlias, get_args

from aegis_provider.masking.checks import check_above_zero, check_character
from aegis_provider.masking.function import MaskingFunction
from aegis_provider.table.arithmetic import (
    floor_ratio,
    json_number,
    minus,
    numbers_of,
    plain,
    plus,
    times,
)
from aegis_provider.table.values import MISSING, Domain

End: TypeAlias = Literal["start", "end"]
"""Where the characters that are kept stand in a text."""


@dataclass(frozen=True)
class Blur(MaskingFunction):
    """Keeps the first `keep` characters (the last ones, `at` the end) and writes `character` over the others."""

    name: ClassVar[str] = "blur"
    keep: int
    character: str = "*"
    at: End = "start"

    def __post_init__(self) -> None:
        if self.keep < 0:
            raise ValueError(f"`keep` must be at least 0, not {self.keep}")
        if self.at not in get_args(End):
            raise ValueError(f"`at` must be start or end, not {self.at!r}")
        check_character(self.character)

    def parameters(self) -> dict[str, object]:
        """How many characters are kept, where if not at the start, and what hides the others."""
        where = {} if self.at == "start" else {"at": self.at}
        return {"keep": self.keep, **where, "character": self.character}

    def describe(self) -> str:
        """`texts of which all but the first 3 characters are written over with *`."""
        kept = f"the {'first' if self.at == 'start' else 'last'} {self.keep} character{'' if self.keep == 1 else 's'}"
        return f"texts of which all but {kept} are written over with {self.character}"

    def mask(self, domain: Domain) -> list[str]:
        """Each text, as long as it was; a missing value stays missing."""
        return [self._blurred(text) for text in domain.texts]

    def _blurred(self, text: str) -> str:
        hidden = self.character * (len(text) - self.keep)
        return text[: self.keep] + hidden if self.at == "start" else hidden + text[len(hidden) :]


@dataclass(frozen=True)
class BlurPositions(MaskingFunction):
    """Writes `character` over the characters at `positions`: 1 is the first, -1 the last; a text may lack some."""

    name: ClassVar[str] = "blur"
    positions: tuple[int, ...]
    character: str = "*"

    def __post_init__(self) -> None:
        if not self.positions or 0 in self.positions:
            raise ValueError(
                "`positions` must be one or more of 1 (the first character), 2, ..., or -1 (the last), -2, ..."
            )
        if len(set(self.positions)) < len(self.positions):
            raise ValueError("`positions` has one twice")
        check_character(self.character)

    def parameters(self) -> dict[str, object]:
        """Which characters are hidden, and by what."""
        return {"positions": list(self.positions), "character": self.character}

    def describe(self) -> str:
        """`texts whose characters 1, 2, -1 are written over with *`."""
        return f"texts whose characters {', '.join(map(str, self.positions))} are written over with {self.character}"

    def mask(self, domain: Domain) -> list[str]:
        """Each text, as long as it was; a missing value stays missing."""
        return [self._blurred(text) for text in domain.texts]

    def _blurred(self, text: str) -> str:
        hidden = {place - 1 if place > 0 else len(text) + place for place in self.positions}
        return "".join(self.character if place in hidden else kept for place, kept in enumerate(text))


@dataclass(frozen=True)
class Round(MaskingFunction):
    """The nearest multiple of `to`; a half is rounded away from zero, as people do."""

    name: ClassVar[str] = "round"
    to: Decimal

    def __post_init__(self) -> None:
        check_above_zero("to", self.to)

    def parameters(self) -> dict[str, object]:
        """What the masked values are multiples of."""
        return {"to": json_number(self.to)}

    def describe(self) -> str:
        """`the nearest multiple of 10`."""
        return f"the nearest multiple of {plain(self.to)}"

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
class Suppress(MaskingFunction):
    """One masked value, `*`, for every value, missing ones too."""

    name: ClassVar[str] = "suppress"

    def parameters(self) -> dict[str, object]:
        """None."""
        return {}

    def describe(self) -> str:
        """`*`, whatever they are."""
        return "one masked value, *, whatever they are"

    def mask(self, domain: Domain) -> list[str]:
        """`*` for each value."""
        return ["*"] * len(domain)
