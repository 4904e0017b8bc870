"""API keys: creating, recognising and revoking them. And tenants: what each of them requires."""

from datetime import UTC, datetime, timedelta

from app.catalog.stores.keys import KeyStore
from app.catalog.stores.tenants import TenantStore
from app.domain.callers import LONGEST_TENANT, PREFIX_LENGTH, ApiKey, Caller, Role, draw_key, hash_key, is_tenant_name
from app.domain.errors import InvalidDocumentError, NotFoundError, UnknownKeyError
from app.domain.required_privacy import RequiredPrivacy


class Keyring:
    """Who holds which key, and what tenants require."""

    def __init__(self, keys: KeyStore, tenants: TenantStore) -> None:
        self._keys = keys
        self._tenants = tenants

    async def any_created(self) -> bool:
        """Whether a key was ever created; if not, the service is in development mode."""
        return await self._keys.any_created()

    async def create(self, tenant: str, role: Role, lifetime: timedelta | None = None) -> str:
        """Create a key for `tenant` and return it. It is never shown again, since only its hash is stored.

        Raises:
            InvalidDocumentError: the name of the tenant is invalid.
        """
        _refuse_name(tenant)
        key, prefix = draw_key()
        expires_at = None if lifetime is None else datetime.now(UTC) + lifetime
        await self._keys.add(prefix, hash_key(key), tenant, role, expires_at)
        return key

    async def caller(self, key: str) -> Caller:
        """The caller that holds `key`.

        Raises:
            UnknownKeyError: the key is unknown, expired or revoked; the error does not say which.
        """
        holder = await self._keys.find(hash_key(key))
        if holder is None or not holder.is_valid(datetime.now(UTC)):
            raise UnknownKeyError("This API key is unknown, expired or revoked.")
        return Caller(holder.tenant, holder.role)

    async def all(self) -> list[ApiKey]:
        """Every key ever created, including revoked and expired ones."""
        return await self._keys.all()

    async def revoke(self, prefix: str) -> None:
        """Revoke a key, given by its readable prefix or as a whole.

        Raises:
            NotFoundError: there is no such key.
        """
        prefix = prefix[:PREFIX_LENGTH]
        if not await self._keys.revoke(prefix):
            raise NotFoundError(f"There is no key with the prefix {prefix!r}; `aegis-server keys list` shows all.")

    async def require_privacy(self, tenant: str, required: RequiredPrivacy) -> None:
        """Set what a tenant requires of its entries' configurations; the tenant is created if it is new.

        Raises:
            InvalidDocumentError: the name of the tenant is invalid.
        """
        _refuse_name(tenant)
        await self._tenants.require_privacy(tenant, required)

    async def tenants(self) -> list[tuple[str, RequiredPrivacy]]:
        """Every tenant, with what it requires."""
        return await self._tenants.all()


def _refuse_name(tenant: str) -> None:
    if not is_tenant_name(tenant):
        raise InvalidDocumentError(f"The name of a tenant must have 1 to {LONGEST_TENANT} printable characters.")
