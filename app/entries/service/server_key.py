"""The key for keyed digests."""

import secrets

from app.audit.model import AuditAction, AuditRecord
from app.audit.store import AuditStore
from app.entries.store.server_key import ServerKeyStore

#: As many as the output of the HMAC has (RFC 2104, section 3).
SERVER_KEY_BYTES = 32


class ServerKeyService:
    """Renews the key for the digests that others see."""

    def __init__(self, server_key: ServerKeyStore, audit: AuditStore) -> None:
        self._server_key = server_key
        self._audit = audit

    async def renew(self) -> int:
        """Draw a new server key, and recompute all keyed digests; return their number."""
        await self._audit.add(AuditRecord(AuditAction.RENEW_SERVER_KEY), None)
        return await self._server_key.replace(secrets.token_bytes(SERVER_KEY_BYTES))
