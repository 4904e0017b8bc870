"""`token`: a keyed hash in the place of the value."""

import hmac
from dataclasses import dataclass, field
from typing import ClassVar

from aegis_provider.errors import UnmaskableValueError
from aegis_provider.masking.function import MaskingFunction
from aegis_provider.table.values import Domain

_SHORTEST_SALT = 16
_SHORTEST, _LONGEST = 4, 64


@dataclass(frozen=True)
class Token(MaskingFunction):
    """The first `length` hexadecimal digits of HMAC-SHA256 of the value's text in UTF-8, with the salt as the key.

    The salt keeps others from trying all values, so it never leaves: no entry, error or `repr` shows it.
    Source: Krawczyk, Bellare and Canetti, HMAC (RFC 2104).
    """

    name: ClassVar[str] = "token"
    secret: ClassVar[bool] = True
    salt: bytes = field(repr=False)
    length: int = 12

    def __post_init__(self) -> None:
        if len(self.salt) < _SHORTEST_SALT:
            raise ValueError(f"a salt of at least {_SHORTEST_SALT} bytes is needed, lest it be guessed")
        if not _SHORTEST <= self.length <= _LONGEST:
            raise ValueError(f"`length` must be {_SHORTEST} to {_LONGEST}, not {self.length}")

    def parameters(self) -> dict[str, object]:
        """The algorithm and the number of digits."""
        return {"algorithm": "hmac-sha256", "length": self.length}

    def describe(self) -> str:
        """`tokens of 12 hexadecimal digits, a keyed hash (HMAC-SHA256)`."""
        return f"tokens of {self.length} hexadecimal digits, a keyed hash (HMAC-SHA256)"

    def mask(self, domain: Domain) -> list[str]:
        """The token of each value; a missing value stays missing. Two values with one token are an error."""
        owners: dict[str, str] = {}
        for text in domain.texts:
            if owners.setdefault(self._token(text), text) != text:
                raise UnmaskableValueError(text, "has the token of another value; take a larger `length`")
        return list(owners)

    def _token(self, text: str) -> str:
        return text and hmac.new(self.salt, text.encode(), "sha256").hexdigest()[: self.length]
