"""Callers: tenants, roles and API keys."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

DEFAULT_TENANT = "default"

#: The most characters in a tenant's name.
LONGEST_TENANT = 255


def is_tenant_name(name: str) -> bool:
    """Whether a tenant may be called so."""
    return 1 <= len(name) <= LONGEST_TENANT and name.isprintable()


class Role(StrEnum):
    """The role of a key. An operator may do everything, for every tenant."""

    PROVIDER = "provider"
    CONSUMER = "consumer"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller: its tenant and its role."""

    tenant: str
    role: Role

    @property
    def is_operator(self) -> bool:
        """Whether the caller sees and may change every tenant's entries."""
        return self.role is Role.OPERATOR

    @property
    def may_publish(self) -> bool:
        """Whether the caller may publish; consumers may only read and ask."""
        return self.role is not Role.CONSUMER


#: The caller in development mode: everybody acts for the default tenant and may do everything.
DEVELOPER = Caller(DEFAULT_TENANT, Role.OPERATOR)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as stored, without its secret; `prefix` is the readable part by which people refer to it."""

    prefix: str
    tenant: str
    role: Role
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None

    def is_valid(self, now: datetime) -> bool:
        """Whether the key is neither revoked nor expired at `now`."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


_MARK, _PREFIX_BYTES = "aegis_", 4

#: Number of characters of a key that are shown and stored: the mark and two for each byte.
PREFIX_LENGTH = len(_MARK) + 2 * _PREFIX_BYTES


def draw_key() -> tuple[str, str]:
    """A new key and its readable prefix, such as `aegis_1a2b3c4d`.

    The rest of the key is 256 random bits, so a plain hash protects it.
    """
    prefix = _MARK + secrets.token_hex(_PREFIX_BYTES)
    return f"{prefix}_{secrets.token_urlsafe(32)}", prefix


def is_key(text: str) -> bool:
    """Whether a text looks like a key, and not like a token."""
    return text.startswith(_MARK)


def hash_key(key: str) -> bytes:
    """SHA-256 of a key, 32 bytes, which is stored and looked up instead of the key."""
    return hashlib.sha256(key.encode()).digest()
