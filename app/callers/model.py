"""Sessions of people who have signed in to the console."""

import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Final

from app.platform.callers import ApiKey, Caller

#: The most sessions of a key, or of a subject of an issuer; a further one ends the oldest.
MOST_SESSIONS: Final = 50

_TOKEN_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Session:
    """A session as stored, without its token.

    Attributes:
        caller: who has signed in.
        expires_at: when it ends, unless its key ends before that.
        key: the key with which it began, as it is now; None for a token of an issuer.
        issuer: the issuer of that token; None for a key.
    """

    caller: Caller
    expires_at: datetime
    key: ApiKey | None = None
    issuer: str | None = None

    @property
    def ends_at(self) -> datetime:
        """When it ends, as far as is known now."""
        ends = self.key.expires_at if self.key is not None else None
        return self.expires_at if ends is None else min(self.expires_at, ends)

    def is_valid(self, now: datetime, trusted_issuer: str | None) -> bool:
        """Whether it has not ended at `now`: neither itself nor its key, nor the trust in the issuer of its token."""
        is_trusted = self.issuer == trusted_issuer if self.key is None else self.key.is_valid(now)
        return is_trusted and now < self.expires_at


def draw_session_token() -> str:
    """A new token of 256 random bits, so a plain hash protects it."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def is_session_token(text: str) -> bool:
    """Whether a text can be the token of a session."""
    return re.fullmatch(r"[A-Za-z0-9_-]{43}", text) is not None


def hash_session_token(token: str) -> bytes:
    """SHA-256 of a token, 32 bytes, which is stored and looked up instead of the token."""
    return sha256(token.encode()).digest()
