"""The store of saved searches. `EventStore` finds what matches them."""

import uuid
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import delete, func, select, text

from app.entries.model.saved_searches import SavedSearch
from app.entries.model.worth import Worth
from app.entries.store.searches import Search
from app.entries.store.worth import WORTH_ORDER
from app.entries.tables import SavedSearchRow
from app.platform.database.base import Store
from app.platform.members import model_of
from app.tenants.store import tenant_id
from app.tenants.tables import TenantRow

_SEARCHES = select(SavedSearchRow, TenantRow.name).join(TenantRow, TenantRow.id == SavedSearchRow.tenant_id)

#: Publications share this lock (`EventStore`).
_WITHOUT_PUBLICATIONS = text("SELECT pg_advisory_xact_lock(hashtextextended('saved searches', 0))")


class SavedSearchStore(Store):
    """Saved searches by id or tenant."""

    async def hold(self, tenant: str) -> int:
        """Wait until no version becomes visible or valued, and none can until the transaction ends; count the tenant's.

        Its number cannot grow until then, either.
        """
        await self._session.execute(_WITHOUT_PUBLICATIONS)
        owner = await tenant_id(self._session, tenant)
        counted = select(func.count()).select_from(SavedSearchRow).where(SavedSearchRow.tenant_id == owner)
        return (await self._session.execute(counted)).scalar_one()

    async def add(
        self, tenant: str, search: Search, asked: Mapping[str, Any], best: Worth | None, created_by: str | None
    ) -> str:
        """Add a search with its parameters, and the worth of the best that is there; return its id."""
        by_worth: dict[str, Any] = {}
        if search.k is not None:
            order = (best or Worth(search.label or "", search.k)).order
            by_worth = {"task": search.label, "k": search.k, **dict(zip(WORTH_ORDER, order, strict=True))}
        row = SavedSearchRow(
            id=uuid.uuid4(),
            tenant_id=await tenant_id(self._session, tenant),
            created_by=created_by,
            asked=dict(asked),
            words=list(search.words),
            facets=search.facets,
            required=asdict(search.required),
            changed_since=search.changed_since,
            **by_worth,
        )
        self._session.add(row)
        await self._session.flush()
        return str(row.id)

    async def find(self, search_id: str) -> SavedSearch | None:
        """The search with this id."""
        try:
            wanted = uuid.UUID(search_id)
        except ValueError:
            return None
        rows = await self._session.execute(_SEARCHES.where(SavedSearchRow.id == wanted))
        return next((model_of(SavedSearch, row, tenant=tenant) for row, tenant in rows), None)

    async def of_tenant(self, tenant: str) -> list[SavedSearch]:
        """A tenant's searches, oldest first."""
        ordered = _SEARCHES.where(TenantRow.name == tenant).order_by(SavedSearchRow.created_at, SavedSearchRow.id)
        return [model_of(SavedSearch, row, tenant=name) for row, name in await self._session.execute(ordered)]

    async def delete(self, search_id: str) -> None:
        """Delete the search."""
        await self._session.execute(delete(SavedSearchRow).where(SavedSearchRow.id == uuid.UUID(search_id)))
