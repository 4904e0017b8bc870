"""Deliveries of masked tables by providers, and leases, which let one program at a time work on a request.

The service checks what providers state, and fetches nothing.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import numpy as np
from anyio import to_thread

from aegis_sdk._links import link_faults
from app.entries.model.configurations import unpack_configurations
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
        """Take or renew the lease of an approved request.

        Args:
            caller: the provider.
            request_id: the request.
            lease_id: of the caller's lease, to renew it; None for a new one.
            length: the duration.

        Raises:
            NotFoundError: there is no such request, or the caller may not see it.
            RoleNotAllowedError: the caller may not deliver.
            ActionNotPossibleError: the request is not approved.
            LeasedError: another program has the lease.
        """
        request = await self._steps.locked(caller, request_id)
        request.after(Action.DELIVER, request.sides_of(caller))
        await self.refuse_other(request.id, lease_id)
        return await self._leases.put(request.id, lease_id or str(uuid4()), length)

    async def release(self, caller: Caller, request_id: str, lease_id: str) -> None:
        """End the caller's lease; do nothing if it is no longer the caller's.

        Raises:
            NotFoundError: there is no such request, or the caller may not see it.
            RoleNotAllowedError: the caller may not deliver.
        """
        request = await self._steps.locked(caller, request_id)
        if not request.sides_of(caller) & sides_able_to(Action.DELIVER):
            raise RoleNotAllowedError("Only the provider of a request can have its lease.")
        lease = await self._leases.find(request.id)
        if lease is not None and lease.id == lease_id:
            await self._leases.end(request.id)

    async def refuse_other(self, request_id: str, lease_id: str | None) -> None:
        """Refuse an action without the current lease, if there is one. The request must be locked.

        Raises:
            LeasedError: another program has the lease.
        """
        lease = await self._leases.find(request_id)
        if lease is not None and lease.id != lease_id:
            raise LeasedError(lease.expires_at)


class HandoverService:
    """Deliveries of approved requests.

    Args:
        handovers: the store of deliveries.
        contents: the guarantees of entries.
        steps: changes requests.
        leases: the leases of requests.
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
        """Deliver the approved table.

        Args:
            caller: the provider.
            request_id: the request.
            handover: the description of the file.
            digest: the digest of the masked version of the entry.
            lease_id: the provider's lease; None without one.

        Raises:
            NotFoundError: there is no such request, or the caller may not see it.
            RoleNotAllowedError: the caller may not do this.
            ActionNotPossibleError: the request is not approved.
            LeasedError: another program fulfils it.
            InvalidDocumentError: it is not as agreed, or its link cannot be fetched.
        """
        request = await self._steps.locked(caller, request_id)
        request.after(Action.DELIVER, request.sides_of(caller))
        await self._leases.refuse_other(request.id, lease_id)
        vouched = await self._vouched(request)
        self._refuse([*self._link_faults(handover.link), *handover.faults(request, digest, vouched)])
        await self._handovers.add(request.id, handover)
        return await self._steps.take(caller, request, Action.DELIVER)

    async def relink(self, caller: Caller, request_id: str, link: Link) -> DataRequest:
        """Replace the link to the same file, for example after its expiry.

        Raises:
            NotFoundError: there is no such request, or the caller may not see it.
            RoleNotAllowedError: the caller may not do this.
            ActionNotPossibleError: nothing was delivered, or the request has ended.
            InvalidDocumentError: the link cannot be fetched.
        """
        request = await self._steps.locked(caller, request_id)
        request.after(Action.RELINK, request.sides_of(caller))
        self._refuse(self._link_faults(link))
        await self._handovers.set_link(request.id, link)
        return await self._steps.take(caller, request, Action.RELINK)

    def _link_faults(self, link: Link) -> list[Fault]:
        faults = [Fault("/url", detail) for detail in link_faults(link.url, allow_private=self._allow_private)]
        if is_over(link, datetime.now(UTC)):
            faults.append(Fault("/expires_at", "The link has already expired."))
        return faults

    @staticmethod
    def _refuse(faults: list[Fault]) -> None:
        if faults:
            raise InvalidDocumentError("This cannot be delivered.", tuple(faults), code="not_as_agreed")

    async def _vouched(self, request: DataRequest) -> Mapping[str, float]:
        """The privacy that the entry guarantees for the agreed configuration.

        Raises:
            NotFoundError: the version has just been deleted.
        """
        frame = None if request.version_id is None else await self._contents.hold(request.version_id)
        if request.version_id is None or frame is None:
            raise NotFoundError("The entry has just been deleted.")
        packed = await self._contents.configuration_table(request.version_id, frame)
        # Reading a million configurations takes a while.
        table = await to_thread.run_sync(unpack_configurations, packed, frame.outline)
        place = table.ids.index(request.configuration or "")
        numbers = {name: float(values[place]) for name, values in table.privacy.items()}
        return {name: number for name, number in numbers.items() if not np.isnan(number)}
