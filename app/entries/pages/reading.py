"""Reading entries for pages: each version is cut into parts once, and cached."""

from dataclasses import dataclass

from app.edge.state import State, services_of
from app.entries.api.conditional import version_key
from app.entries.api.documents import SMALL
from app.entries.model.documents import is_small
from app.entries.model.entries import Head, VersionMark
from app.entries.model.verdicts import StoredVerdict
from app.entries.pages.views.entry_index import EntryIndex, entry_index
from app.entries.service.catalogue import CatalogueService
from app.platform.callers import Caller

#: The longest description that this process renders itself, within a few milliseconds.
SHORT = 2_000


@dataclass(frozen=True, slots=True)
class ReadEntry:
    """A version of an entry, as the viewer may see it."""

    head: Head
    versions: tuple[VersionMark, ...]
    verdict: StoredVerdict | None
    index: EntryIndex


async def read_entry(state: State, caller: Caller, entry_id: str, version: int | None) -> ReadEntry:
    """A version of an entry, by default the latest that the caller may see.

    Raises:
        NotFoundError: there is no such entry or version, or the caller may not see it.
    """
    async with state.database.transaction() as session:
        catalogue = services_of(state, session).catalogue()
        head = await catalogue.head(caller, entry_id, version)
        verdict = await catalogue.verdict(caller, head)
        versions = await catalogue.versions(caller, head)
        known = await known_or_stored(state, catalogue, caller, head)
    return ReadEntry(head, versions, verdict, await index_of(state, caller, head, known))


async def read_index(state: State, caller: Caller, entry_id: str, version: int | None) -> tuple[Head, EntryIndex]:
    """The head and the index of a version, for pages on other subjects.

    Raises:
        NotFoundError: as in `read_entry`.
    """
    async with state.database.transaction() as session:
        catalogue = services_of(state, session).catalogue()
        head = await catalogue.head(caller, entry_id, version)
        known = await known_or_stored(state, catalogue, caller, head)
    return head, await index_of(state, caller, head, known)


async def known_or_stored(
    state: State, catalogue: CatalogueService, caller: Caller, head: Head
) -> EntryIndex | tuple[bytes, bytes]:
    """The index of a version if cached, else its stored parts."""
    known = state.read.find(version_key(head, head.shows_counts_to(caller)))
    return await catalogue.schema(head) if known is None else known


async def index_of(state: State, caller: Caller, head: Head, known: EntryIndex | tuple[bytes, bytes]) -> EntryIndex:
    """The index of a version, as the caller may read it. Call this outside of any transaction."""
    if isinstance(known, EntryIndex):
        return known
    in_full = head.shows_counts_to(caller)
    if all(is_small(part, SMALL) for part in known) and len(head.description) <= SHORT:
        index = entry_index(*known, in_full)
    else:
        index = await state.making.run(entry_index, *known, in_full, on_behalf_of=caller.tenant)
    state.read.keep(version_key(head, in_full), index)
    return index
