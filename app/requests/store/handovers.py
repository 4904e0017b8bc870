"""The store of handovers: one for each data request that was delivered."""

import uuid
from dataclasses import asdict

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.requests.model.handovers import Handover, Link
from app.requests.tables.handover import HandoverRow
from app.tenants.model import RequiredPrivacy


class HandoverStore:
    """Handovers by the id of their request."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, request_id: str, handover: Handover) -> None:
        """Store what was delivered for a request, which must be locked."""
        await self._session.execute(
            insert(HandoverRow).values(
                request_id=uuid.UUID(request_id),
                url=handover.link.url,
                expires_at=handover.link.expires_at,
                media_type=handover.media_type,
                size=handover.size,
                sha256=handover.sha256,
                records=handover.records,
                configuration=handover.configuration,
                reached=asdict(handover.reached),
                card=handover.card,
            )
        )

    async def find(self, request_id: str) -> Handover | None:
        """What was delivered for a request; None if nothing was."""
        rows = await self._session.execute(
            select(HandoverRow).where(HandoverRow.request_id == uuid.UUID(request_id)),
            execution_options={"populate_existing": True},
        )
        return next((_to_handover(row) for row in rows.scalars()), None)

    async def set_link(self, request_id: str, link: Link) -> None:
        """Say where the file is now."""
        await self._session.execute(
            update(HandoverRow)
            .where(HandoverRow.request_id == uuid.UUID(request_id))
            .values(url=link.url, expires_at=link.expires_at)
        )


def _to_handover(row: HandoverRow) -> Handover:
    return Handover(
        link=Link(row.url, row.expires_at),
        media_type=row.media_type,
        size=row.size,
        sha256=row.sha256,
        records=row.records,
        configuration=row.configuration,
        reached=RequiredPrivacy.from_json(row.reached),
        card=row.card,
        delivered_at=row.delivered_at,
    )
