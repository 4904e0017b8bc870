"""Who asks: tenants, roles and API keys."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

DEFAULT_TENANT = "default"


class Role(StrEnum):
    """What a key may do; an operator may do all of it, for every tenant."""

    PROVIDER = "provider"
    CONSUMER = "consumer"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, for which tenant, in which role."""

    tenant: str
    role: Role

    @property
    def is_operator(self) -> bool:
        """An operator sees and changes every tenant's entries."""
        return self.role is Role.OPERATOR

    @property
    def may_publish(self) -> bool:
        """Consumers read and ask; the others publish."""
        return self.role is not Role.CONSUMER


#: In development mode everybody is the default tenant with every role.
DEVELOPER = Caller(DEFAULT_TENANT, Role.OPERATOR)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is stored: never its secret, only the readable prefix by which people name it."""

    prefix: str
    tenant: str
    role: Role
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None

    def is_valid(self, now: datetime) -> bool:
        """Neither revoked nor expired at `now`."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


_MARK, _PREFIX_BYTES = "aegis_", 4

#: Characters of a key that are shown and stored: the mark and two for each byte.
PREFIX_LENGTH = len(_MARK) + 2 * _PREFIX_BYTES


def draw_key() -> tuple[str, str]:
    """A new key and its readable prefix, `aegis_1a2b3c4d`. The rest is 256 random bits: a plain hash protects it."""
    prefix = _MARK + secrets.token_hex(_PREFIX_BYTES)
    return f"{prefix}_{secrets.token_urlsafe(32)}", prefix


def hash_key(key: str) -> bytes:
    """SHA-256 of a key, (32,) bytes: what is stored and looked up in its place."""
    return hashlib.sha256(key.encode()).digest()
