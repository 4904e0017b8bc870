"""What catalogues elsewhere harvest: the entries that a caller sees, in the order of their ids."""

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from app.catalogues.model import MOST_OFFERS, StoredOffers, StoredPage
from app.entries.model.entries import Head
from app.entries.service.catalogue import visible
from app.entries.store.contents import ContentStore
from app.entries.store.entries import EntryStore
from app.entries.store.worth import WorthStore
from app.platform.callers import Caller
from app.platform.errors import Fault, InvalidDocumentError, NotFoundError
from app.tenants.model import RequiredPrivacy

PAGE_OFFERS: Final = 2_000
"""A page ends before it has more offers than this, unless its only entry has."""

PAGE_CELLS: Final = 1_000_000
"""A page ends before its configurations have more maskings than this together, likewise."""


class HarvestService:
    """Entries with what may be requested of them, for harvesters."""

    def __init__(self, entries: EntryStore, contents: ContentStore, worth: WorthStore) -> None:
        self._entries = entries
        self._contents = contents
        self._worth = worth

    async def page(self, caller: Caller, after: str | None, limit: int, required: RequiredPrivacy) -> StoredPage:
        """At most `limit` entries that the caller sees, in the order of their ids from `after` on.

        No entry moves in this order, so an entry that is there all the time is on exactly one page.

        Args:
            required: the privacy that the service requires of every configuration.

        Raises:
            InvalidDocumentError: `after` is not an id.
        """
        heads = await self._entries.by_id(caller, None if after is None else _id_in(after), limit + 1)
        sizes = await self._contents.configuration_sizes([head.version_id for head in heads])
        fitting = heads[: min(_fitting(heads, sizes), limit)]
        stored = await self._stored(caller, fitting, required)
        return StoredPage(stored, fitting[-1].id if len(fitting) < len(heads) else None)

    async def entry(
        self, caller: Caller, entry_id: str, version: int | None, required: RequiredPrivacy
    ) -> StoredOffers:
        """An entry, by default at the latest version that the caller sees.

        Raises:
            NotFoundError: there is no such entry or version, or the caller may not see it.
        """
        head = visible(caller, await self._entries.find(caller, entry_id, version), entry_id, version)
        stored = await self._stored(caller, [head], required)
        if not stored:
            raise NotFoundError(f"Entry {entry_id} has just been deleted.")
        return stored[0]

    async def _stored(
        self, caller: Caller, heads: Sequence[Head], required: RequiredPrivacy
    ) -> tuple[StoredOffers, ...]:
        """The entries with these heads; without those that were deleted in the meantime."""
        versions = [head.version_id for head in heads]
        contents = await self._contents.offered(versions)
        worth = await self._worth.of_all(versions)
        return tuple(
            StoredOffers(
                head.seen_by(caller),
                *contents[head.version_id],
                tuple(worth.get(head.version_id, ())),
                required.stricter_of(head.policy.required_privacy),
            )
            for head in heads
            if head.version_id in contents
        )


def _fitting(heads: Sequence[Head], sizes: Mapping[int, tuple[int, int]]) -> int:
    """The number of first heads whose configurations fit on a page, at least one."""
    offers = cells = 0
    for place, head in enumerate(heads):
        configurations, attributes = sizes.get(head.version_id, (0, 0))
        offers += min(configurations, MOST_OFFERS)
        cells += configurations * attributes
        if place and (offers > PAGE_OFFERS or cells > PAGE_CELLS):
            return place
    return len(heads)


def _id_in(token: str) -> UUID:
    try:
        return UUID(token)
    except ValueError:
        fault = Fault("/page_token", "Not a page token of this catalogue; follow the link to its next page.")
        raise InvalidDocumentError("The page token is invalid.", (fault,)) from None
