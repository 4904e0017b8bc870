"""Callers: tenants, roles, API keys, and sessions of people who have signed in to the console."""

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from app.platform.errors import InvalidDocumentError, RoleNotAllowedError

DEFAULT_TENANT = "default"

#: The most characters in a tenant's name.
LONGEST_TENANT = 255


def is_tenant_name(name: str) -> bool:
    """Whether a tenant may have this name."""
    return 1 <= len(name) <= LONGEST_TENANT and name.isprintable() and name == name.strip()


class Role(StrEnum):
    """The role of a key or a token. Every role reads what its tenant sees and asks for advice; each may do more.

    A provider publishes, a reviewer signs off versions, an administrator manages its tenant's keys and policy, and
    an operator may do everything, for every tenant.
    """

    CONSUMER = "consumer"
    PROVIDER = "provider"
    REVIEWER = "reviewer"
    ADMINISTRATOR = "administrator"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller.

    Attributes:
        roles: one role for a key, possibly several for a token.
        subject: the prefix of its key, or the subject of its token; None in development mode.
    """

    tenant: str
    roles: frozenset[Role]
    subject: str | None = None

    @property
    def is_operator(self) -> bool:
        """Whether the caller sees and may change every tenant's entries."""
        return Role.OPERATOR in self.roles

    @property
    def may_publish(self) -> bool:
        """Whether the caller may publish and change its tenant's entries."""
        return self._is_one_of(Role.PROVIDER)

    @property
    def may_read_counts(self) -> bool:
        """Whether the caller may read the counts of its tenant's entries, and the versions hidden from others."""
        return self._is_one_of(Role.PROVIDER, Role.REVIEWER)

    @property
    def may_sign_off(self) -> bool:
        """Whether the caller may sign off its tenant's versions."""
        return self._is_one_of(Role.REVIEWER)

    @property
    def may_administer(self) -> bool:
        """Whether the caller manages its tenant's keys and policy."""
        return self._is_one_of(Role.ADMINISTRATOR)

    def _is_one_of(self, *roles: Role) -> bool:
        return self.is_operator or not self.roles.isdisjoint(roles)


#: The caller in development mode, who acts for the default tenant and may do everything.
DEVELOPER = Caller(DEFAULT_TENANT, frozenset({Role.OPERATOR}))

#: How long before its end a key counts as expiring, for its holder and its administrators.
NOTICE = timedelta(days=14)

#: The last use of a key is stored to the hour, so that few requests write.
LAST_USE_STEP = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as stored, without its secret.

    Attributes:
        last_used_at: when it was last used, to the hour; None if never.
        replaces: the prefix of its predecessor.
    """

    prefix: str
    tenant: str
    role: Role
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    replaces: str | None = None

    @property
    def caller(self) -> Caller:
        """The caller that holds the key."""
        return Caller(self.tenant, frozenset({self.role}), self.prefix)

    @property
    def lifetime(self) -> timedelta | None:
        """The total time of validity; None without an end."""
        return None if self.expires_at is None else self.expires_at - self.created_at

    def is_valid(self, now: datetime) -> bool:
        """Whether the key is neither revoked nor expired at `now`."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def expires_soon(self, now: datetime) -> bool:
        """Whether it is time to replace the key."""
        return self.is_valid(now) and self.expires_at is not None and self.expires_at - now < NOTICE

    def state(self, now: datetime) -> str:
        """`valid`, `expiring`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        if not self.is_valid(now):
            return "expired"
        return "expiring" if self.expires_soon(now) else "valid"


_MARK, _PREFIX_BYTES = "aegis_", 4

#: The characters of a key that are shown and stored: the mark and two per byte.
PREFIX_LENGTH = len(_MARK) + 2 * _PREFIX_BYTES


def draw_key() -> tuple[str, str]:
    """A new key and its readable prefix, such as `aegis_1a2b3c4d`.

    The rest of the key is 256 random bits, so a plain hash protects it.
    """
    prefix = _MARK + secrets.token_hex(_PREFIX_BYTES)
    return f"{prefix}_{secrets.token_urlsafe(32)}", prefix


def prefix_of(text: str) -> str | None:
    """The readable prefix of a text in the form of `draw_key`; None for another form."""
    form = re.fullmatch(rf"({_MARK}[0-9a-f]{{{2 * _PREFIX_BYTES}}})_[A-Za-z0-9_-]{{43}}", text)
    return form and form[1]


def is_prefix(text: str) -> bool:
    """Whether a text has the form of a key's prefix."""
    return re.fullmatch(rf"{_MARK}[0-9a-f]{{{2 * _PREFIX_BYTES}}}", text) is not None


def is_key(text: str) -> bool:
    """Whether a text looks like a key, and not like a token."""
    return text.startswith(_MARK)


def hash_secret(secret: str) -> bytes:
    """SHA-256 of a key or a session's token (32 bytes), stored and looked up in its place."""
    return hashlib.sha256(secret.encode()).digest()


def refuse_name(tenant: str) -> None:
    """Refuse an invalid tenant name.

    Raises:
        InvalidDocumentError: the name is empty, too long or not printable, or begins or ends with a space.
    """
    if not is_tenant_name(tenant):
        raise InvalidDocumentError(
            f"The name of a tenant must have 1 to {LONGEST_TENANT} printable characters, and no blank at either end."
        )


def administered_tenant(caller: Caller, tenant: str | None) -> str:
    """The tenant that the caller administers: `tenant`, by default its own.

    Raises:
        RoleNotAllowedError: the caller may not administer it.
        InvalidDocumentError: the name is invalid.
    """
    if not caller.may_administer:
        raise RoleNotAllowedError("Only administrators of the tenant and operators may do this.")
    if tenant is None:
        return caller.tenant
    if tenant != caller.tenant and not caller.is_operator:
        raise RoleNotAllowedError("Administrators act for their own tenant only.")
    refuse_name(tenant)
    return tenant


#: The most sessions of a key or of an issuer's subject; another one ends the oldest.
MOST_SESSIONS: Final = 50


@dataclass(frozen=True, slots=True)
class Session:
    """A session as stored, without its token.

    Attributes:
        expires_at: when it ends, unless its key ends first.
        key: the current state of the key that began it; None for an issuer's token.
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
    return secrets.token_urlsafe(32)
