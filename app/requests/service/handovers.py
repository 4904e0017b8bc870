"""Handovers, for the providers that deliver masked tables, and leases, by which no two programs work on one request.

The service checks what providers say, and fetches nothing.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import numpy as np
from anyio import to_thread

from aegis_sdk._link_form import link_faults
from app.entries.service.configurations import unpack_configurations
from app.entries.store.contents import ContentStore
from app.platform.callers import Caller
from app.platform.errors import Fault, InvalidDocumentError, LeasedError, NotFoundError, RoleNotAllowedError
from app.requests.model.data_requests import Action, DataRequest, sides_able_to
from app.requests.model.handovers import Handover, Lease, Link, is_over
from app.requests.service.data_requests import DataRequestSteps
from app.requests.store.handovers import HandoverStore, LeaseStore


class LeaseService:
    """Leases of approved requests."""

    def __init__(self, leases: LeaseStore, steps: DataRequestSteps) -> None:
        self._leases = leases
        self._steps = steps

    async def take(self, caller: Caller, request_id: str, lease_id: str | None, length: timedelta) -> Lease:
        """Have the fulfilment of an approved request to oneself from now on.

        Args:
            caller: the provider.
            request_id: the request.
            lease_id: of the caller's lease, to renew it; None for a new one.
            length: how long.

        Raises:
            NotFoundError: there is no such request, or the caller may not see it.
            RoleNotAllowedError: the caller may not deliver.
            ActionNotPossibleError: the request is not approved.
            LeasedError: somebody else has it.
        """
        request = await self._steps.locked(caller, request_id)
        request.after(Action.DELIVER, request.sides_of(caller))
        await self.refuse_other(request.id, lease_id)
        return await self._leases.put(request.id, lease_id or str(uuid4()), length)

    async def release(self, caller: Caller, request_id: str, lease_id: str) -> None:
        """Let others have it; nothing happens if it is not the caller's any more.

        Raises:
            NotFoundError: there is no such request, or the caller may not see it.
            RoleNotAllowedError: the caller may not deliver.
        """
        request = await self._steps.locked(caller, request_id)
        if not request.sides_of(caller) & sides_able_to(Action.DELIVER):
            raise RoleNotAllowedError("Only the provider of a request has its lease.")
        lease = await self._leases.find(request.id)
        if lease is not None and lease.id == lease_id:
            await self._leases.end(request.id)

    async def refuse_other(self, request_id: str, lease_id: str | None) -> None:
        """Refuse what only the holder of a lease may do, while there is one. The request must be locked.

        Raises:
            LeasedError: somebody else has it.
        """
        lease = await self._leases.find(request_id)
        if lease is not None and lease.id != lease_id:
            raise LeasedError(lease.expires_at)


class HandoverService:
    """Deliveries of approved requests.

    Args:
        handovers: what was delivered.
        contents: what entries vouch for.
        steps: changes requests.
        leases: which program fulfils which.
        allow_private: whether links may lead into private networks and use HTTP, as in development.
    """

    def __init__(
        self,
        handovers: HandoverStore,
        contents: ContentStore,
        steps: DataRequestSteps,
        leases: LeaseService,
        *,
        allow_private: bool,
    ) -> None:
        self._handovers = handovers
        self._contents = contents
        self._steps = steps
        self._leases = leases
        self._allow_private = allow_private

    async def deliver(
        self, caller: Caller, request_id: str, handover: Handover, digest: str, lease_id: str | None
    ) -> DataRequest:
        """Say where the approved table is, and what it is.

        Args:
            caller: the provider.
            request_id: the request.
            handover: what the provider says.
            digest: of the entry's version that it has masked.
            lease_id: of the provider's lease; None if it has none.

        Raises:
            NotFoundError: there is no such request, or the caller may not see it.
            RoleNotAllowedError: the caller may not do this.
            ActionNotPossibleError: the request is not approved.
            LeasedError: another program fulfils it.
            InvalidDocumentError: it is not what was agreed upon, or nobody could fetch it.
        """
        request = await self._steps.locked(caller, request_id)
        request.after(Action.DELIVER, request.sides_of(caller))
        await self._leases.refuse_other(request.id, lease_id)
        vouched = await self._vouched(request)
        self._refuse([*self._link_faults(handover.link), *handover.faults(request, digest, vouched)])
        await self._handovers.add(request.id, handover)
        return await self._steps.take(caller, request, Action.DELIVER)

    async def relink(self, caller: Caller, request_id: str, link: Link) -> DataRequest:
        """Say where the same file is now, for example since the link to it has ended.

        Raises:
            NotFoundError: there is no such request, or the caller may not see it.
            RoleNotAllowedError: the caller may not do this.
            ActionNotPossibleError: nothing was delivered, or the request has ended.
            InvalidDocumentError: nobody could fetch it there.
        """
        request = await self._steps.locked(caller, request_id)
        request.after(Action.RELINK, request.sides_of(caller))
        self._refuse(self._link_faults(link))
        await self._handovers.set_link(request.id, link)
        return await self._steps.take(caller, request, Action.RELINK)

    def _link_faults(self, link: Link) -> list[Fault]:
        faults = [Fault("/url", detail) for detail in link_faults(link.url, allow_private=self._allow_private)]
        if is_over(link, datetime.now(UTC)):
            faults.append(Fault("/expires_at", "The link has ended already."))
        return faults

    @staticmethod
    def _refuse(faults: list[Fault]) -> None:
        if faults:
            raise InvalidDocumentError("This cannot be delivered.", tuple(faults), code="not_as_agreed")

    async def _vouched(self, request: DataRequest) -> Mapping[str, float]:
        """What the entry vouches for in the configuration that was agreed upon.

        Raises:
            NotFoundError: the version has just been deleted.
        """
        frame = None if request.version_id is None else await self._contents.hold(request.version_id)
        if request.version_id is None or frame is None:
            raise NotFoundError("The entry has just been deleted.")
        packed = await self._contents.configuration_table(request.version_id, frame)
        # A million configurations take a while.
        table = await to_thread.run_sync(unpack_configurations, packed, frame.outline)
        place = table.ids.index(request.configuration or "")
        numbers = {name: float(values[place]) for name, values in table.privacy.items()}
        return {name: number for name, number in numbers.items() if not np.isnan(number)}
