"""Leases, for programs that fulfil data requests: two of them never work on the same request."""

from datetime import timedelta
from uuid import uuid4

from app.platform.callers import Caller
from app.platform.errors import LeasedError, RoleNotAllowedError
from app.requests.model.data_requests import Action, sides_able_to
from app.requests.model.leases import Lease
from app.requests.service.steps import DataRequestSteps
from app.requests.store.leases import LeaseStore


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
