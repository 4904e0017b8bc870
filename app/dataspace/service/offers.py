"""The offers of entries that a caller may request, by the rules of data requests: what all keys of its tenant see."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from anyio import to_thread

from app.dataspace.model.offers import Offer, Offered, OfferedEntry
from app.entries.model.configurations import GENERATED, MASKED, ConfigurationTable, unpack_configurations
from app.entries.model.documents import read_as
from app.entries.model.entries import Head
from app.entries.service.catalogue import CatalogueService
from app.entries.store.contents import ContentStore
from app.entries.store.searches import Search
from app.platform.callers import Caller, Role
from app.platform.errors import InvalidDocumentError, NotFoundError
from app.requests.model.data_requests import DataRequest
from app.tenants.model import NOTHING_REQUIRED, RequiredPrivacy

#: The most offers of an entry in a catalogue, and alone. Any other can be requested by its id, too.
MOST_LISTED: Final = 50
MOST_SHOWN: Final = 1_000

_KINDS: Final = (MASKED, GENERATED)


@dataclass(frozen=True, slots=True)
class _Declared:
    terms: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class OfferService:
    """Offers for callers: the configurations that meet the policies of the service and of the entry's tenant."""

    _catalogue: CatalogueService
    _contents: ContentStore

    async def page(
        self, caller: Caller, required: RequiredPrivacy, limit: int, page_token: str | None
    ) -> tuple[list[OfferedEntry], str | None]:
        """A page of the entries with offers, fewer than `limit` where some have none, and the token of the next.

        Raises:
            InvalidDocumentError: the page token is invalid.
        """
        page = await self._catalogue.page(tenants_view(caller), Search(), limit, page_token)
        offered = [await self._offered(head, required, MOST_LISTED) for head in page.items]
        return [one for one in offered if one is not None], page.next_page_token

    async def find(self, caller: Caller, required: RequiredPrivacy, entry_id: str) -> OfferedEntry:
        """The offers of an entry.

        Raises:
            NotFoundError: there is no such entry, the caller may not see it, or it has no offer.
        """
        offered = await self._offered(await self._catalogue.head(tenants_view(caller), entry_id), required, MOST_SHOWN)
        if offered is None:
            raise NotFoundError(f"There is no entry {entry_id} with an offer, or you may not see it.")
        return offered

    async def of_request(self, request: DataRequest) -> Offer:
        """The offer that a request is about; without rules of its own if the version is deleted."""
        about = Offered(request.entry_id, request.version, request.configuration or "")
        content = None if request.version_id is None else await self._content(request.version_id)
        if content is None or about.configuration not in content[1].ids:
            return Offer(about, request.terms)
        policy, table = content
        return _offer(about, request.terms, policy, table, table.ids.index(about.configuration))

    async def named(self, caller: Caller, about: Offered) -> Offer:
        """The offer of a configuration of a version.

        Raises:
            NotFoundError: there is none, or the caller may not see it.
        """
        head = await self._catalogue.head(tenants_view(caller), about.entry_id, about.version)
        content = await self._content(head.version_id)
        if content is None or about.configuration not in content[1].ids:
            raise NotFoundError(f"There is no offer {about.id}, or you may not see it.")
        return _offer(about, head.terms, *content, content[1].ids.index(about.configuration))

    async def _offered(self, head: Head, required: RequiredPrivacy, most: int) -> OfferedEntry | None:
        """The first offers of a version, in the provider's order; None if there is none, or it was just deleted."""
        content = await self._content(head.version_id)
        if content is None:
            return None
        policy, table = content
        try:
            meeting = table.meeting(NOTHING_REQUIRED, required.stricter_of(head.policy.required_privacy), _KINDS)
        except InvalidDocumentError:
            return None
        kept = np.flatnonzero(meeting)
        offers = (
            _offer(Offered(head.id, head.version, table.ids[place]), head.terms, policy, table, place)
            for place in kept[:most]
        )
        return OfferedEntry(head, tuple(offers), len(kept))

    async def _content(self, version_id: int) -> tuple[Mapping[str, Any] | None, ConfigurationTable] | None:
        """The policy and the configurations of a version; None if it is deleted."""
        frame = await self._contents.hold(version_id)
        if frame is None:
            return None
        packed = await self._contents.configuration_table(version_id, frame)
        table = await to_thread.run_sync(unpack_configurations, packed, frame.outline)
        schema = await self._contents.schema(version_id)
        declared = _Declared() if schema is None else await to_thread.run_sync(read_as, _Declared, schema)
        return declared.terms, table


def tenants_view(caller: Caller) -> Caller:
    """The caller with the least rights: a request is for its tenant, so it is about what all keys of the tenant see."""
    return replace(caller, roles=frozenset({Role.CONSUMER}))


def _offer(
    about: Offered, terms: str, policy: Mapping[str, Any] | None, table: ConfigurationTable, place: int
) -> Offer:
    numbers = {name: float(values[place]) for name, values in table.privacy.items()}
    promised = {name: number for name, number in numbers.items() if not np.isnan(number)}
    is_generated = table.generated is not None and bool(table.generated[place])
    return Offer(about, terms, policy, promised, table.unit, is_generated)
