"""`blur` and `suppress`: mask some characters, or the whole value."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

from aegis_provider.masking.function import MaskingFunction, check_character
from aegis_provider.table.values import Domain
from aegis_provider.yaml_file import Element

End: TypeAlias = Literal["start", "end"]
"""The end of a text that stays unmasked."""


@dataclass(frozen=True)
class Blur(MaskingFunction):
    """Replaces all but the first `keep` characters (or the last, if `at` is `end`) by `character`."""

    keeps_parts: ClassVar[bool] = True
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

    @classmethod
    def read(cls, parameters: Element) -> "Blur | BlurPositions":
        """Read `{keep: 3, at: end, character: "#"}` or `{positions: [1, -1]}`; all after the first are optional."""
        if "positions" in dict(parameters.items()):
            return BlurPositions.read(parameters)
        fields = parameters.fields("keep", optional=("character", "at"))
        at = fields["at"].one_of("start", "end") if "at" in fields else "start"
        return cls(fields["keep"].integer(at_least=0), _character(fields), "end" if at == "end" else "start")

    def parameters(self) -> dict[str, object]:
        """Return the number of unmasked characters, their end (if not the start), and the replacement character."""
        where = {} if self.at == "start" else {"at": self.at}
        return {"keep": self.keep, **where, "character": self.character}

    def mask(self, domain: Domain) -> list[str]:
        """Return each text masked, with its length unchanged; a missing value stays missing."""
        return [self._blurred(text) for text in domain.texts]

    def _blurred(self, text: str) -> str:
        hidden = self.character * (len(text) - self.keep)
        return text[: self.keep] + hidden if self.at == "start" else hidden + text[len(hidden) :]


@dataclass(frozen=True)
class BlurPositions(MaskingFunction):
    """Replaces the `positions` of a text by `character`: 1 is the first, -1 the last. Positions beyond a text are
    ignored.
    """

    keeps_parts: ClassVar[bool] = True
    name: ClassVar[str] = "blur"
    positions: tuple[int, ...]
    character: str = "*"

    def __post_init__(self) -> None:
        if not self.positions or 0 in self.positions:
            raise ValueError(
                "`positions` must be one or more of 1 (the first character), 2, ..., or -1 (the last), -2, ..."
            )
        if len(set(self.positions)) < len(self.positions):
            raise ValueError("`positions` lists a position twice")
        check_character(self.character)

    @classmethod
    def read(cls, parameters: Element) -> "BlurPositions":
        """Read `{positions: [1, 2, -1], character: "#"}`; the character is optional."""
        fields = parameters.fields("positions", optional=("character",))
        positions = tuple(place.signed_integer() for place in fields["positions"].elements())
        with fields["positions"].naming_faults():
            return cls(positions, _character(fields))

    def parameters(self) -> dict[str, object]:
        """Return the masked positions and the replacement character."""
        return {"positions": list(self.positions), "character": self.character}

    def mask(self, domain: Domain) -> list[str]:
        """Return each text masked, with its length unchanged; a missing value stays missing."""
        return [self._blurred(text) for text in domain.texts]

    def _blurred(self, text: str) -> str:
        hidden = {place - 1 if place > 0 else len(text) + place for place in self.positions}
        return "".join(self.character if place in hidden else kept for place, kept in enumerate(text))


def _character(fields: Mapping[str, Element]) -> str:
    return fields["character"].character() if "character" in fields else "*"


@dataclass(frozen=True)
class Suppress(MaskingFunction):
    """One masked value, `*`, for every value, including missing ones."""

    name: ClassVar[str] = "suppress"

    @classmethod
    def read(cls, parameters: Element) -> "Suppress":
        """Read `{}`."""
        parameters.fields()
        return cls()

    def parameters(self) -> dict[str, object]:
        """Return no parameters."""
        return {}

    def mask(self, domain: Domain) -> list[str]:
        """Return `*` for each value."""
        return ["*"] * len(domain)
