"""`token`: a keyed hash instead of the value."""

import hmac
import os
from dataclasses import dataclass, field
from typing import ClassVar

from aegis_provider.errors import PlanError, UnmaskableValueError
from aegis_provider.masking.function import MaskingFunction
from aegis_provider.table.values import Domain
from aegis_provider.yaml_file import Element

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
        return cls(_salt_of_file(salts[0]) if "salt_file" in fields else _salt_of_variable(salts[0]), length)

    def parameters(self) -> dict[str, object]:
        """Return the algorithm and the number of digits."""
        return {"algorithm": "hmac-sha256", "length": self.length}

    def mask(self, domain: Domain) -> list[str]:
        """Return the token of each value; a missing value stays missing. Two values with one token are an error."""
        owners: dict[str, str] = {}
        for text in domain.texts:
            if owners.setdefault(self._token(text), text) != text:
                raise UnmaskableValueError(text, "has the same token as another value; use a larger `length`")
        return list(owners)

    def _token(self, text: str) -> str:
        return text and hmac.new(self.salt, text.encode(), "sha256").hexdigest()[: self.length]


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


def _salt_of_variable(element: Element) -> bytes:
    salt = os.environ.get(element.name())
    if salt is None:
        element.fail(f"the environment variable {element.value!r} is not set")
    return salt.encode(errors="surrogateescape")
