"""API keys, for the service itself and for whoever runs it: creating, recognising and revoking them.

`app.callers.service.administration` does the same for callers.
"""

from datetime import UTC, datetime, timedelta

from app.audit.model import AuditAction, AuditRecord, moment
from app.audit.store import AuditStore
from app.callers.store.keys import KeyStore
from app.platform.callers import (
    DEFAULT_TENANT,
    LAST_USE_STEP,
    PREFIX_LENGTH,
    ApiKey,
    Caller,
    Role,
    draw_key,
    hash_key,
    prefix_of,
    refuse_name,
)
from app.platform.errors import NotFoundError, OperatorError, UnknownKeyError


class Keyring:
    """Who holds which key."""

    def __init__(self, keys: KeyStore, audit: AuditStore) -> None:
        self._audit = audit
        self._keys = keys

    async def any_created(self) -> bool:
        """Whether a key was ever created; if not, the service is in development mode."""
        return await self._keys.any_created()

    async def create_first(self, given: str | None = None) -> str:
        """Create an operator's key of the first tenant, which never expires; return its text.

        Args:
            given: its text, which somebody else has drawn; None to draw one.

        Raises:
            OperatorError: the text is no key.
        """
        drawn = None if given is None else (given, prefix_of(given) or "")
        if drawn is not None and not drawn[1]:
            raise OperatorError("the first key must be `aegis_`, 8 hexadecimal digits, `_` and 43 of A-Z a-z 0-9 - _")
        text, _ = await self._create(DEFAULT_TENANT, Role.OPERATOR, None, by=None, drawn=drawn)
        return text

    async def needs_first(self) -> bool:
        """Whether no key was ever created; if so, other processes that ask wait for the end of this transaction."""
        await self._keys.wait_for_turn()
        return not await self._keys.any_created()

    async def create(
        self, tenant: str, role: Role, lifetime: timedelta | None = None, *, by: Caller | None = None
    ) -> tuple[str, ApiKey]:
        """Create a key for `tenant`. Its text is never shown again, since only its hash is stored.

        Args:
            tenant: whose key it is.
            role: what it may do.
            lifetime: how long it is valid; None if for ever.
            by: who creates it; None for whoever runs the service.

        Raises:
            InvalidDocumentError: the name of the tenant is invalid.
        """
        refuse_name(tenant)
        return await self._create(tenant, role, lifetime, by=by)

    async def replace(
        self, key: ApiKey, until: datetime, lifetime: timedelta | None = None, *, by: Caller | None = None
    ) -> tuple[str, ApiKey]:
        """Create the successor of a key, which itself ends at a time. Without a lifetime, it has that of the key."""
        await self._keys.set_expiry(key.prefix, until)
        text, made = await self._create(key.tenant, key.role, lifetime or key.lifetime, key.prefix, by=by)
        value = f"by {made.prefix}, ends {moment(until)}"
        await self._audit.add(AuditRecord(AuditAction.REPLACE_KEY, target=key.prefix, value=value), by)
        return text, made

    async def _create(
        self,
        tenant: str,
        role: Role,
        lifetime: timedelta | None,
        replaces: str | None = None,
        *,
        by: Caller | None,
        drawn: tuple[str, str] | None = None,
    ) -> tuple[str, ApiKey]:
        text, prefix = drawn or draw_key()
        now = datetime.now(UTC)
        expires_at = None if lifetime is None else now + lifetime
        key = ApiKey(prefix, tenant, role, created_at=now, expires_at=expires_at, replaces=replaces)
        await self._keys.add(key, hash_key(text))
        await self._audit.add(AuditRecord(AuditAction.CREATE_KEY, target=prefix, value=f"{role} of {tenant}"), by)
        return text, key

    async def recognise(self, text: str) -> ApiKey:
        """The key with this text, whose use is noted.

        Raises:
            UnknownKeyError: the key is unknown, expired or revoked; the error does not say which.
        """
        now = datetime.now(UTC)
        key = await self._keys.find(hash_key(text))
        if key is None or not key.is_valid(now):
            raise UnknownKeyError("This API key is unknown, expired or revoked.")
        await self.note_use(key, now)
        return key

    async def note_use(self, key: ApiKey, now: datetime) -> None:
        """Keep when a key was last used, to the hour."""
        if key.last_used_at is None or now - key.last_used_at > LAST_USE_STEP:
            await self._keys.note_use(key.prefix, now)

    async def all(self) -> list[ApiKey]:
        """Every key ever created, including revoked and expired ones."""
        return await self._keys.all()

    async def revoke(self, prefix: str, *, by: Caller | None = None) -> None:
        """Revoke a key, given by its readable prefix or as a whole; `by` is as in `create`.

        Raises:
            NotFoundError: there is no such key.
        """
        prefix = prefix[:PREFIX_LENGTH]
        if not await self._keys.revoke(prefix):
            raise NotFoundError(f"There is no key with the prefix {prefix!r}; `aegis-server keys list` shows all.")
        await self._audit.add(AuditRecord(AuditAction.REVOKE_KEY, target=prefix), by)
