"""The store of the key for keyed digests."""

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.entries.tables import EntryVersionRow, ServerKeyRow
from app.platform.digests import keyed_digest


class ServerKeyStore:
    """The only server key. Transactions that use it lock it until the commit, so that no old one is used."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def value(self) -> bytes:
        """The key, locked until the transaction ends."""
        held = select(ServerKeyRow.value).with_for_update(read=True)
        key: bytes = (await self._session.execute(held)).scalar_one()
        return key

    async def replace(self, value: bytes) -> int:
        """Replace the key and all digests made with it; return their number."""
        await self._session.execute(select(ServerKeyRow.id).with_for_update())
        await self._session.execute(update(ServerKeyRow).values(value=value))
        versions = await self._session.execute(
            select(EntryVersionRow.id, EntryVersionRow.entry_id, EntryVersionRow.digest)
        )
        renewed = [
            {"id": row.id, "keyed_digest": keyed_digest(value, str(row.entry_id), row.digest)} for row in versions
        ]
        if renewed:
            await self._session.execute(update(EntryVersionRow), renewed)
        return len(renewed)
