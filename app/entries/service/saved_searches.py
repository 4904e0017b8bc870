"""Saved searches, administered like the webhooks that are sent what they find."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.audit.model import AuditAction, AuditRecord
from app.audit.store import AuditStore
from app.entries.model.saved_searches import MOST_SEARCHES, SavedSearch
from app.entries.service.catalogue import CatalogueService
from app.entries.store.saved_searches import SavedSearchStore
from app.entries.store.searches import Search
from app.platform.callers import Caller, Role, administered_tenant
from app.platform.errors import InvalidDocumentError
from app.tenants.service import OwnedService


@dataclass(frozen=True, slots=True)
class SavedSearchService(OwnedService[SavedSearch]):
    """Saved searches of tenants, for callers.

    Raises:
        RoleNotAllowedError: by all: the caller is not an administrator, or of another tenant than the one named.
        NotFoundError: by those with the id of a search: there is none, or its tenant is not the caller's.
    """

    _store: SavedSearchStore
    _catalogue: CatalogueService
    _audit: AuditStore
    _noun = "saved search"

    async def save(self, caller: Caller, tenant: str | None, search: Search, asked: Mapping[str, Any]) -> SavedSearch:
        """Save a search of a tenant (the caller's own if None), with its parameters as `asked`.

        Raises:
            InvalidDocumentError: the listing refuses the search, or the tenant has too many.
        """
        owner = administered_tenant(caller, tenant)
        if await self._store.hold(owner) >= MOST_SEARCHES:
            raise InvalidDocumentError(f"A tenant has at most {MOST_SEARCHES} saved searches. Delete one first.")
        consumer = Caller(owner, frozenset({Role.CONSUMER}))
        first = next(iter((await self._catalogue.page(consumer, search, 1, None)).items), None)
        best = None if first is None else first.worth
        search_id = await self._store.add(owner, search, asked, best, caller.subject)
        await self._audit.add(AuditRecord(AuditAction.SAVE_SEARCH, target=search_id), caller)
        return await self.find(caller, search_id)

    async def delete(self, caller: Caller, search_id: str) -> None:
        """Delete a saved search."""
        search = await self.find(caller, search_id)
        await self._store.delete(search.id)
        await self._audit.add(AuditRecord(AuditAction.DELETE_SEARCH, target=search.id), caller)
