"""Keys, for administrators of their tenant and for operators."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from app.callers.service.keyring import Keyring
from app.callers.store.keys import KeyStore
from app.platform.callers import ApiKey, Caller, Role, administered_tenant, is_prefix
from app.platform.errors import InvalidDocumentError, NotFoundError, RoleNotAllowedError, UnknownKeyError


@dataclass(frozen=True, slots=True)
class KeyPage:
    """One page of keys, newest first; the prefix after which the next one begins, or None."""

    items: tuple[ApiKey, ...]
    next_after: str | None


class KeyAdministration:
    """Keys of tenants, for callers."""

    def __init__(self, keys: KeyStore, keyring: Keyring) -> None:
        self._keys = keys
        self._keyring = keyring

    async def create(
        self, caller: Caller, tenant: str | None, role: Role, lifetime: timedelta | None
    ) -> tuple[str, ApiKey]:
        """Create a key for a tenant (the caller's own if None), and return its text with what is stored of it.

        Raises:
            RoleNotAllowedError: the caller may not administer this tenant, or not keys of this role.
            InvalidDocumentError: the name of the tenant is invalid.
            UnknownKeyError: the caller's key has just ended.
        """
        owner = administered_tenant(caller, tenant)
        _refuse_more(caller, role)
        await self._refuse_ended(caller)
        return await self._keyring.create(owner, role, lifetime, by=caller)

    async def page(self, caller: Caller, tenant: str | None, limit: int, after: str | None) -> KeyPage:
        """A page of keys, valid or not: of a tenant, or of all that the caller administers.

        Raises:
            RoleNotAllowedError: the caller may not administer this tenant.
        """
        owner = None if caller.is_operator and tenant is None else administered_tenant(caller, tenant)
        keys = await self._keys.page(owner, limit + 1, after)
        return KeyPage(tuple(keys[:limit]), keys[limit - 1].prefix if len(keys) > limit else None)

    async def find(self, caller: Caller, prefix: str) -> ApiKey:
        """The key with this prefix, valid or not.

        Raises:
            RoleNotAllowedError: the caller administers nothing.
            NotFoundError: there is no such key, or its tenant is not the caller's.
        """
        return await self._administered(caller, prefix, lock=False)

    async def successors(self, keys: Sequence[ApiKey]) -> Mapping[str, str]:
        """By which keys these have been replaced, by their prefixes; those that were not replaced are not there."""
        return await self._keys.successors([key.prefix for key in keys])

    async def revoke(self, caller: Caller, prefix: str) -> ApiKey:
        """Revoke a key from now on; revoking it again changes nothing.

        Raises:
            RoleNotAllowedError: the caller administers nothing, or not keys of this role.
            NotFoundError: there is no such key, or its tenant is not the caller's.
        """
        _refuse_more(caller, (await self._administered(caller, prefix)).role)
        await self._keyring.revoke(prefix, by=caller)
        return await self._administered(caller, prefix)

    async def rotate(
        self, caller: Caller, prefix: str, overlap: timedelta, lifetime: timedelta | None
    ) -> tuple[str, ApiKey]:
        """Create the successor of a key, which itself expires after the overlap at the latest.

        The successor has the same tenant and role, and if no lifetime is given, the same lifetime.

        Raises:
            RoleNotAllowedError: the caller administers nothing, or not keys of this role.
            NotFoundError: there is no such key, or its tenant is not the caller's.
            InvalidDocumentError: the key is not valid any more, or has been replaced already.
        """
        await self._refuse_ended(caller, prefix)
        key, now = await self._administered(caller, prefix), datetime.now(UTC)
        _refuse_more(caller, key.role)
        if not key.is_valid(now):
            raise InvalidDocumentError(
                f"The key {prefix} is revoked or has expired. Create a new one with POST /v1/keys."
            )
        if (successor := (await self._keys.successors([prefix])).get(prefix)) is not None:
            raise InvalidDocumentError(f"The key {prefix} has been replaced already, by {successor}.")
        end = now + overlap
        until = end if key.expires_at is None else min(end, key.expires_at)
        return await self._keyring.replace(key, until, lifetime, by=caller)

    async def _refuse_ended(self, caller: Caller, *others: str) -> None:
        """Refuse a caller whose key has just ended: no key outlives its end by making another one meanwhile.

        Its end waits until this transaction is over. Its key and the others are locked in order, so that no two
        callers wait for each other.
        """
        own = caller.subject or ""
        for prefix in filter(is_prefix, sorted({own, *others})):
            key = await self._keys.find_by_prefix(prefix)
            if prefix == own and (key is None or not key.is_valid(datetime.now(UTC))):
                raise UnknownKeyError("This API key is unknown, expired or revoked.")

    async def _administered(self, caller: Caller, prefix: str, *, lock: bool = True) -> ApiKey:
        """The key with this prefix, if the caller administers its tenant."""
        administered_tenant(caller, None)
        key = await self._keys.find_by_prefix(prefix, lock=lock) if is_prefix(prefix) else None
        if key is None or not (caller.is_operator or key.tenant == caller.tenant):
            raise NotFoundError(f"There is no key {prefix}, or you may not see it.")
        return key


def _refuse_more(caller: Caller, role: Role) -> None:
    if role is Role.OPERATOR and not caller.is_operator:
        raise RoleNotAllowedError("Only operators may create, replace or revoke operators' keys.")
