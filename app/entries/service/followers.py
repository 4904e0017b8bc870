"""Features above entries that follow what happens to them."""

from collections.abc import Sequence

from app.entries.model.entries import AttributeOutline


class EntryFollower:
    """Acts on a change of an entry, in the transaction of the change. Does nothing by default."""

    async def version_added(self, tenant: str, version_id: int, outline: Sequence[AttributeOutline]) -> None:
        """A version was stored."""

    async def entry_ending(self, entry_id: str) -> None:
        """An entry is about to be deleted."""
