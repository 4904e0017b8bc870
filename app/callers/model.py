"""Sessions of people who have signed in to the console."""

import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Final

from app.platform.callers import ApiKey, Caller

#: The most sessions of a key or of an issuer's subject; another one ends the oldest.
MOST_SESSIONS: Final = 50

_TOKEN_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Session:
    """A session as stored, without its token.

    Attributes:
        expires_at: when it ends, unless its key ends first.
        key: the current state of the key that began it; None for an issuer's token.
        issuer: the issuer of that token; None for a key.
    """

    caller: Caller
    expires_at: datetime
    key: ApiKey | None = None
    issuer: str | None = None

    @property
    def ends_at(self) -> datetime:
        """When it ends, unless it is ended earlier."""
        ends = self.key.expires_at if self.key is not None else None
        return self.expires_at if ends is None else min(self.expires_at, ends)

    def is_valid(self, now: datetime, trusted_issuer: str | None) -> bool:
        """Whether it has not ended at `now`, and its key is valid or its issuer still trusted."""
        is_trusted = self.issuer == trusted_issuer if self.key is None else self.key.is_valid(now)
        return is_trusted and now < self.expires_at


def draw_session_token() -> str:
    """A new token of 256 random bits, so a plain hash protects it."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def is_session_token(text: str) -> bool:
    """Whether a text has the form of a session token."""
    return re.fullmatch(r"[A-Za-z0-9_-]{43}", text) is not None


def hash_session_token(token: str) -> bytes:
    """SHA-256 of a token (32 bytes), stored and looked up in its place."""
    return sha256(token.encode()).digest()
