"""API keys, their administration, and the console's sessions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from app.audit.model import AuditAction, AuditRecord, moment
from app.audit.store import AuditStore
from app.callers.store import KeyStore, SessionStore
from app.platform.callers import (
    DEFAULT_TENANT,
    LAST_USE_STEP,
    PREFIX_LENGTH,
    ApiKey,
    Caller,
    Role,
    Session,
    administered_tenant,
    draw_key,
    draw_session_token,
    hash_secret,
    is_prefix,
    prefix_of,
    refuse_name,
)
from app.platform.errors import InvalidDocumentError, NotFoundError, OperatorError, RoleNotAllowedError, UnknownKeyError
from app.settings import LOOPBACK, Settings


@dataclass(frozen=True, slots=True)
class Keyring:
    """Creates, recognises and revokes keys."""

    keys: KeyStore
    audit: AuditStore

    async def any_created(self, *, lock: bool = False) -> bool:
        """Whether a key was ever created; otherwise the service is in development mode. `lock` is as in the store."""
        return await self.keys.any_created(lock=lock)

    async def create_first(self, given: str | None = None) -> str:
        """Create an operator's key of the first tenant that never expires; return its text.

        Args:
            given: its text; None to draw one.

        Raises:
            OperatorError: the text is not a key.
        """
        drawn = None if given is None else (given, prefix_of(given) or "")
        if drawn is not None and not drawn[1]:
            raise OperatorError("the first key must be `aegis_`, 8 hexadecimal digits, `_` and 43 of A-Z a-z 0-9 - _")
        return (await self.create(DEFAULT_TENANT, Role.OPERATOR, drawn=drawn))[0]

    async def create(
        self,
        tenant: str,
        role: Role,
        lifetime: timedelta | None = None,
        replaces: str | None = None,
        *,
        by: Caller | None = None,
        drawn: tuple[str, str] | None = None,
    ) -> tuple[str, ApiKey]:
        """Create a key for `tenant`. Only its hash is stored, so its text cannot be read again.

        Args:
            lifetime: None for a key that never expires.
            replaces: the prefix of its predecessor.
            by: who creates it; None for the operator of the process.
            drawn: its text and its prefix; by default, new ones.

        Raises:
            InvalidDocumentError: the name of the tenant is invalid.
        """
        refuse_name(tenant)
        text, prefix = drawn or draw_key()
        now = datetime.now(UTC)
        expires_at = None if lifetime is None else now + lifetime
        key = ApiKey(prefix, tenant, role, created_at=now, expires_at=expires_at, replaces=replaces)
        await self.keys.add(key, hash_secret(text))
        await self.audit.add(AuditRecord(AuditAction.CREATE_KEY, target=prefix, value=f"{role} of {tenant}"), by)
        return text, key

    async def replace(
        self, key: ApiKey, until: datetime, lifetime: timedelta | None = None, *, by: Caller | None = None
    ) -> tuple[str, ApiKey]:
        """Create the successor of a key, which ends at `until`. The lifetime is by default that of the old key."""
        await self.keys.change(key.prefix, expires_at=until)
        text, made = await self.create(key.tenant, key.role, lifetime or key.lifetime, key.prefix, by=by)
        value = f"by {made.prefix}, ends {moment(until)}"
        await self.audit.add(AuditRecord(AuditAction.REPLACE_KEY, target=key.prefix, value=value), by)
        return text, made

    async def recognise(self, text: str) -> ApiKey:
        """The key with this text; its use is recorded.

        Raises:
            UnknownKeyError: the key is unknown, expired or revoked; the error does not say which.
        """
        now = datetime.now(UTC)
        key = await self.keys.find(hash_secret(text))
        if key is None or not key.is_valid(now):
            raise UnknownKeyError("This API key is unknown, expired or revoked.")
        await self.note_use(key, now)
        return key

    async def note_use(self, key: ApiKey, now: datetime) -> None:
        """Record the last use of a key, to the hour."""
        if key.last_used_at is None or now - key.last_used_at > LAST_USE_STEP:
            await self.keys.change(key.prefix, last_used_at=now)

    async def revoke(self, prefix: str, *, by: Caller | None = None) -> None:
        """Revoke a key by its readable prefix or its whole text; `by` is as in `create`.

        Raises:
            NotFoundError: there is no such key.
        """
        prefix = prefix[:PREFIX_LENGTH]
        if not await self.keys.revoke(prefix):
            raise NotFoundError(f"There is no key with the prefix {prefix!r}; `aegis-server keys list` shows all.")
        await self.audit.add(AuditRecord(AuditAction.REVOKE_KEY, target=prefix), by)


@dataclass(frozen=True, slots=True)
class ListedKeys:
    """One page of keys, newest first, and the prefix after which the next page begins, or None."""

    items: tuple[ApiKey, ...]
    next_after: str | None


@dataclass(frozen=True, slots=True)
class KeyAdministration:
    """Key administration for callers.

    Raises:
        RoleNotAllowedError: the caller may not administer the tenant, or keys of this role.
        NotFoundError: there is no such key, or its tenant is not the caller's.
        InvalidDocumentError: the name of the tenant is invalid.
    """

    keys: KeyStore
    keyring: Keyring

    async def create(
        self, caller: Caller, tenant: str | None, role: Role, lifetime: timedelta | None
    ) -> tuple[str, ApiKey]:
        """Create a key for a tenant (the caller's own if None); return its text and the stored key.

        Raises:
            UnknownKeyError: the caller's key has just ended.
        """
        owner = administered_tenant(caller, tenant)
        _refuse_more(caller, role)
        await self._refuse_ended(caller)
        return await self.keyring.create(owner, role, lifetime, by=caller)

    async def page(self, caller: Caller, tenant: str | None, limit: int, after: str | None) -> ListedKeys:
        """A page of keys, valid or not: of one tenant, or of all tenants that the caller administers."""
        owner = None if caller.is_operator and tenant is None else administered_tenant(caller, tenant)
        keys = await self.keys.page(owner, limit + 1, after)
        return ListedKeys(tuple(keys[:limit]), keys[limit - 1].prefix if len(keys) > limit else None)

    async def find(self, caller: Caller, prefix: str, *, lock: bool = False) -> ApiKey:
        """The key with this prefix, valid or not; `lock` locks it against changes by others."""
        administered_tenant(caller, None)
        key = await self.keys.find_by_prefix(prefix, lock=lock) if is_prefix(prefix) else None
        if key is None or not (caller.is_operator or key.tenant == caller.tenant):
            raise NotFoundError(f"There is no key {prefix}, or you may not see it.")
        return key

    async def successors(self, keys: Sequence[ApiKey]) -> Mapping[str, str]:
        """The prefixes of these keys' successors by their own prefixes; keys without a successor are absent."""
        return await self.keys.successors([key.prefix for key in keys])

    async def revoke(self, caller: Caller, prefix: str) -> ApiKey:
        """Revoke a key; revoking it again changes nothing."""
        _refuse_more(caller, (await self.find(caller, prefix, lock=True)).role)
        await self.keyring.revoke(prefix, by=caller)
        return await self.find(caller, prefix, lock=True)

    async def rotate(
        self, caller: Caller, prefix: str, overlap: timedelta, lifetime: timedelta | None
    ) -> tuple[str, ApiKey]:
        """Create the successor of a key, which expires at the latest after the overlap.

        The successor has the same tenant and role and, by default, the same lifetime.

        Raises:
            InvalidDocumentError: the key is no longer valid, or already has a successor.
        """
        await self._refuse_ended(caller, prefix)
        key, now = await self.find(caller, prefix, lock=True), datetime.now(UTC)
        _refuse_more(caller, key.role)
        if not key.is_valid(now):
            raise InvalidDocumentError(
                f"The key {prefix} is revoked or has expired. Create a new one with POST /v1/keys."
            )
        if (successor := (await self.keys.successors([prefix])).get(prefix)) is not None:
            raise InvalidDocumentError(f"The key {prefix} has already been replaced by {successor}.")
        end = now + overlap
        until = end if key.expires_at is None else min(end, key.expires_at)
        return await self.keyring.replace(key, until, lifetime, by=caller)

    async def _refuse_ended(self, caller: Caller, *others: str) -> None:
        """Refuse a caller whose key has just ended, so that it cannot create another one at that moment.

        Revoking the key waits for this transaction. All keys are locked in one order, so that no two callers wait
        for each other.
        """
        own = caller.subject or ""
        for prefix in filter(is_prefix, sorted({own, *others})):
            key = await self.keys.find_by_prefix(prefix)
            if prefix == own and (key is None or not key.is_valid(datetime.now(UTC))):
                raise UnknownKeyError("This API key is unknown, expired or revoked.")


def _refuse_more(caller: Caller, role: Role) -> None:
    if role is Role.OPERATOR and not caller.is_operator:
        raise RoleNotAllowedError("Only operators may create, replace or revoke operators' keys.")


@dataclass(frozen=True, slots=True)
class SessionRules:
    """The lifetime of sessions, and whose tokens may begin them.

    Attributes:
        lifetime: the longest duration; use does not extend it.
    """

    lifetime: timedelta
    issuer: str | None = None


@dataclass(frozen=True, slots=True)
class SessionService:
    """Sessions of the console. A session's token is returned once and stored only by the browser."""

    sessions: SessionStore
    keyring: Keyring
    audit: AuditStore
    rules: SessionRules

    async def begin_by_key(self, text: str) -> tuple[str, Session]:
        """Begin a session for the holder of a key; return its token and the stored session.

        Raises:
            UnknownKeyError: the key is unknown, expired or revoked.
        """
        key = await self.keyring.recognise(text)
        end = datetime.now(UTC) + self.rules.lifetime
        expires_at = end if key.expires_at is None else min(end, key.expires_at)
        return await self._begin(Session(key.caller, expires_at, key=key))

    async def begin_by_token(self, caller: Caller, expires_at: datetime) -> tuple[str, Session]:
        """Begin a session for the holder of a verified token of the trusted issuer.

        Raises:
            UnknownKeyError: the token expired at `expires_at`; its reader may have allowed some leeway.
        """
        now = datetime.now(UTC)
        if expires_at <= now:
            raise UnknownKeyError("This token has expired. Sign in again.")
        end = min(now + self.rules.lifetime, expires_at)
        return await self._begin(Session(caller, end, issuer=self.rules.issuer))

    async def _begin(self, session: Session) -> tuple[str, Session]:
        token = draw_session_token()
        await self.sessions.add(hash_secret(token), session)
        means = "token" if session.key is None else "key"
        value = f"by {means}, ends {moment(session.expires_at)}"
        await self.audit.add(AuditRecord(AuditAction.BEGIN_SESSION, value=value), session.caller)
        return token, session

    async def find(self, token: str) -> Session | None:
        """The session with this token unless it has ended; the use of its key is recorded."""
        is_token = re.fullmatch(r"[A-Za-z0-9_-]{43}", token) is not None
        session = await self.sessions.find(hash_secret(token)) if is_token else None
        now = datetime.now(UTC)
        if session is None or not session.is_valid(now, self.rules.issuer):
            return None
        if session.key is not None:
            await self.keyring.note_use(session.key, now)
        return session

    async def end(self, token: str) -> None:
        """End the session with this token; do nothing if it has ended."""
        session = await self.find(token)
        if session is not None and await self.sessions.delete(hash_secret(token)):
            await self.audit.add(AuditRecord(AuditAction.END_SESSION), session.caller)

    async def end_all(self, token: str) -> None:
        """End all sessions of the holder of this session: in all browsers, by the same key."""
        session = await self.find(token)
        if session is not None and await self.sessions.delete_all(session):
            await self.audit.add(AuditRecord(AuditAction.END_SESSION, value="all"), session.caller)


class OpenDoorError(OperatorError):
    """No key exists, but the service would listen where others can reach it."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"no API key was ever created, so everybody would be let in: listen on 127.0.0.1 instead of {host}, "
            "or create a key first, on the same database: aegis-server keys create --tenant NAME --role operator "
            "(with the same --data-dir as this service, if it has one)"
        )


async def refuse_open_door(keyring: Keyring, settings: Settings) -> bool:
    """Whether the service is in development mode: no key was ever created, and no issuer of tokens is trusted.

    Raises:
        OpenDoorError: it is in development mode, and others can reach its host.
    """
    development_mode = settings.oidc_issuer is None and not await keyring.any_created()
    if development_mode and settings.host not in LOOPBACK:
        raise OpenDoorError(settings.host)
    return development_mode
