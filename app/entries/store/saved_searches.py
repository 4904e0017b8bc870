"""The store of saved searches. `EventStore` finds what matches them."""

import uuid
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import text

from app.entries.model.saved_searches import SavedSearch
from app.entries.model.worth import Worth
from app.entries.store.searches import Search
from app.entries.store.worth import WORTH_ORDER
from app.entries.tables import SavedSearchRow
from app.tenants.store import OwnedStore, tenant_id

#: Publications share this lock (`EventStore`).
_WITHOUT_PUBLICATIONS = text("SELECT pg_advisory_xact_lock(hashtextextended('saved searches', 0))")


class SavedSearchStore(OwnedStore[SavedSearch]):
    """Saved searches by id or tenant."""

    _row, _model = SavedSearchRow, SavedSearch

    async def hold(self, tenant: str) -> int:
        """Wait until no version becomes visible or valued, and none can until the transaction ends; count the tenant's.

        Its number cannot grow until then, either.
        """
        await self._session.execute(_WITHOUT_PUBLICATIONS)
        return await self._number(await tenant_id(self._session, tenant))

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
