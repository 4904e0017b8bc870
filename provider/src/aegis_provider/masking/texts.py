"""`blur`, `suppress` and `token`: some characters or the whole value masked, or a keyed hash in its place."""

import hmac
import os
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias, get_args

from aegis_provider.errors import PlanError, UnmaskableValueError
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
        character = fields["character"].character() if "character" in fields else "*"
        return cls(fields["keep"].integer(at_least=0), character, "end" if at == "end" else "start")

    def parameters(self) -> dict[str, object]:
        """Return the number of unmasked characters, their end (if not the start), and the replacement character."""
        where = {} if self.at == "start" else {"at": self.at}
        return {"keep": self.keep, **where, "character": self.character}

    def mask(self, domain: Domain) -> list[str]:
        """Return each text masked, with its length unchanged; a missing value stays missing."""
        blurred = []
        for text in domain.texts:
            hidden = self.character * (len(text) - self.keep)
            blurred.append(text[: self.keep] + hidden if self.at == "start" else hidden + text[len(hidden) :])
        return blurred


@dataclass(frozen=True)
class BlurPositions(MaskingFunction):
    """Replaces the `positions` of a text by `character`: 1 is the first, -1 the last.

    Positions beyond a text are ignored.
    """

    keeps_parts: ClassVar[bool] = True
    name: ClassVar[str] = "blur"
    published: ClassVar[tuple[str, ...]] = ("positions", "character")
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
        character = fields["character"].character() if "character" in fields else "*"
        with fields["positions"].naming_faults():
            return cls(positions, character)

    def mask(self, domain: Domain) -> list[str]:
        """Return each text masked, with its length unchanged; a missing value stays missing."""
        blurred = []
        for text in domain.texts:
            hidden = {place - 1 if place > 0 else len(text) + place for place in self.positions}
            blurred.append("".join(self.character if place in hidden else kept for place, kept in enumerate(text)))
        return blurred


@dataclass(frozen=True)
class Suppress(MaskingFunction):
    """One masked value, `*`, for every value, including missing ones."""

    name: ClassVar[str] = "suppress"

    def mask(self, domain: Domain) -> list[str]:
        """Return `*` for each value."""
        return ["*"] * len(domain)


_SHORTEST_SALT = 16
_SHORTEST, _LONGEST = 4, 64
_MOST_BYTES_OF_SALT = 1 << 20


@dataclass(frozen=True)
class Token(MaskingFunction):
    """The first `length` hexadecimal digits of HMAC-SHA256 of the value's text in UTF-8, with the salt as the key.

    The salt prevents a search through all values, so it is secret: no entry, error or `repr` shows it.
    Source: Krawczyk, Bellare and Canetti, HMAC (RFC 2104).
    """

    name: ClassVar[str] = "token"
    algorithm: ClassVar[str] = "hmac-sha256"
    published: ClassVar[tuple[str, ...]] = ("algorithm", "length")
    file_keys: ClassVar[tuple[str, ...]] = ("salt_file",)
    secret: ClassVar[bool] = True
    salt: bytes = field(repr=False)
    length: int = 12

    def __post_init__(self) -> None:
        if len(self.salt) < _SHORTEST_SALT:
            raise ValueError(f"a salt of at least {_SHORTEST_SALT} bytes is needed, so that nobody can guess it")
        if not _SHORTEST <= self.length <= _LONGEST:
            raise ValueError(f"`length` must be {_SHORTEST} to {_LONGEST}, not {self.length}")

    @classmethod
    def read(cls, parameters: Element) -> "Token":
        """Read `{salt_file: salt.txt, length: 12}` or `{salt_variable: SALT}`; the length is optional."""
        fields = parameters.fields(optional=("salt_file", "salt_variable", "length"))
        salts = [fields[name] for name in ("salt_file", "salt_variable") if name in fields]
        if len(salts) != 1:
            parameters.fail(
                "expected either `salt_file`, a file beside the plan, or `salt_variable`, an environment variable"
            )
        length = fields["length"].integer(at_least=1) if "length" in fields else 12
        if "salt_file" in fields:
            return cls(_salt_of_file(salts[0]), length)
        salt = os.environ.get(salts[0].name())
        if salt is None:
            salts[0].fail(f"the environment variable {salts[0].value!r} is not set")
        return cls(salt.encode(errors="surrogateescape"), length)

    def mask(self, domain: Domain) -> list[str]:
        """Return the token of each value; a missing value stays missing. Two values with one token are an error."""
        owners: dict[str, str] = {}
        for text in domain.texts:
            token = text and hmac.new(self.salt, text.encode(), "sha256").hexdigest()[: self.length]
            if owners.setdefault(token, text) != text:
                raise UnmaskableValueError(text, "has the same token as another value; use a larger `length`")
        return list(owners)


def _salt_of_file(element: Element) -> bytes:
    """Read the file without the trailing line ends that editors add."""
    try:
        with element.file().open("rb") as file:
            salt = file.read(_MOST_BYTES_OF_SALT + 1).rstrip(b"\r\n")
    except OSError as error:
        raise PlanError(
            f"{element.source}: {element.path}: {element.value} cannot be read: {error.strerror}"
        ) from error
    if len(salt) > _MOST_BYTES_OF_SALT:
        element.fail(f"{element.value} is larger than {_MOST_BYTES_OF_SALT >> 20} MiB; is it a salt?")
    return salt
