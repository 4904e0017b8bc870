"""What follows an approval: leases, deliveries by providers, verifications by consumers, and signed receipts.

A lease lets one program at a time work on a request. Either side can prove a receipt later without the service. Every
service here refuses what `DataRequestSteps` does.

The service checks what providers state, and fetches nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import numpy as np
from anyio import to_thread

from aegis_sdk._links import link_faults
from app.audit.model import moment
from app.audit.service import RECEIPT, Signer
from app.audit.store import AuditLogStore
from app.entries.model.configurations import unpack_configurations
from app.entries.model.documents import stored_entry
from app.entries.model.entries import CountTable
from app.entries.store.contents import ContentStore
from app.platform.callers import Caller
from app.platform.errors import (
    ActionNotPossibleError,
    Fault,
    InvalidDocumentError,
    LeasedError,
    NotFoundError,
    NothingSignedError,
    RoleNotAllowedError,
)
from app.requests.model.approved_counts import PublishedNames, configuration_in
from app.requests.model.data_requests import (
    HANDED_OVER,
    Action,
    DataRequest,
    Handover,
    Lease,
    Verification,
    sides_able_to,
)
from app.requests.service.data_requests import DataRequestSteps
from app.requests.store.data_requests import DataRequestStore
from app.requests.store.handovers import HandoverStore, LeaseStore


@dataclass(frozen=True, slots=True)
class LeaseService:
    """Leases of approved requests."""

    _leases: LeaseStore
    _steps: DataRequestSteps

    async def take(self, caller: Caller, request_id: str, lease_id: str | None, length: timedelta) -> Lease:
        """Take or renew the lease of an approved request.

        Args:
            lease_id: of the caller's lease, to renew it; None for a new one.

        Raises:
            LeasedError: another program has the lease.
        """
        request = await self._steps.read(caller, request_id, lock=True)
        request.after(Action.DELIVER, request.sides_of(caller))
        await self.refuse_other(request.id, lease_id)
        return await self._leases.put(request.id, lease_id or str(uuid4()), length)

    async def release(self, caller: Caller, request_id: str, lease_id: str) -> None:
        """End the caller's lease; do nothing if it is no longer the caller's."""
        request = await self._steps.read(caller, request_id, lock=True)
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


@dataclass(frozen=True, slots=True)
class HandoverService:
    """Deliveries of approved requests. Links may lead into private networks and use HTTP where this is allowed."""

    _handovers: HandoverStore
    _contents: ContentStore
    _steps: DataRequestSteps
    _leases: LeaseService
    _allow_private: bool

    async def deliver(
        self, caller: Caller, request_id: str, handover: Handover, digest: str, lease_id: str | None
    ) -> DataRequest:
        """Deliver the approved table.

        Args:
            digest: the digest of the masked version of the entry.
            lease_id: the provider's lease; None without one.

        Raises:
            LeasedError: another program fulfils it.
            InvalidDocumentError: it is not as agreed, or its link cannot be fetched.
        """
        request = await self._steps.read(caller, request_id, lock=True)
        request.after(Action.DELIVER, request.sides_of(caller))
        await self._leases.refuse_other(request.id, lease_id)
        vouched = await self._vouched(request)
        self._refuse(handover.url, handover.expires_at, *handover.faults(request, digest, vouched))
        await self._handovers.add(request.id, handover)
        return await self._steps.take(caller, request, Action.DELIVER)

    async def relink(self, caller: Caller, request_id: str, url: str, expires_at: datetime | None) -> DataRequest:
        """Replace the link to the same file, for example after its expiry.

        Raises:
            InvalidDocumentError: the link cannot be fetched.
        """
        request = await self._steps.read(caller, request_id, lock=True)
        request.after(Action.RELINK, request.sides_of(caller))
        self._refuse(url, expires_at)
        await self._handovers.set_link(request.id, url, expires_at)
        return await self._steps.take(caller, request, Action.RELINK)

    def _refuse(self, url: str, expires_at: datetime | None, *others: Fault) -> None:
        faults = [Fault("/url", detail) for detail in link_faults(url, allow_private=self._allow_private)]
        if expires_at is not None and expires_at <= datetime.now(UTC):
            faults.append(Fault("/expires_at", "The link has already expired."))
        if faults or others:
            raise InvalidDocumentError("This cannot be delivered.", (*faults, *others), code="not_as_agreed")

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


@dataclass(frozen=True, slots=True)
class PackedEvidence:
    """A delivered request, as the caller sees it, and its version of the entry.

    Attributes:
        schema: the published document without its counts and configurations, as compressed JSON.
        configurations: compressed JSON, too.
    """

    request: DataRequest
    schema: bytes
    configurations: bytes
    tables: tuple[CountTable, ...]


@dataclass(frozen=True, slots=True)
class VerificationService:
    """Consumers' verifications of deliveries."""

    _handovers: HandoverStore
    _contents: ContentStore
    _steps: DataRequestSteps

    async def evidence(self, caller: Caller, request_id: str) -> PackedEvidence:
        """The stored counts of a delivered request's version; only those of its configuration may be disclosed.

        Raises:
            NotFoundError: the version has been deleted.
            RoleNotAllowedError: the caller is of the entry's tenant, but may not read its counts.
            ActionNotPossibleError: nothing was delivered.
        """
        request = await self._steps.read(caller, request_id)
        if not request.shows_counts_to(caller):
            raise RoleNotAllowedError("Of the entry's tenant, only providers and reviewers may read counts.")
        if request.state not in HANDED_OVER:
            possible = request.possible_for(request.sides_of(caller))
            raise ActionNotPossibleError(request.state, "comparing a table with the entry's counts", possible)
        return await self._packed(request)

    async def _packed(self, request: DataRequest) -> PackedEvidence:
        if request.version_id is not None:
            tables = await self._contents.count_tables(request.version_id)
            configurations = await self._contents.configurations(request.version_id)
            # The schema is read last: if it still exists, the earlier reads were complete.
            schema = await self._contents.schema(request.version_id)
            if schema is not None and configurations is not None:
                return PackedEvidence(request, schema, configurations, tables)
        raise NotFoundError(f"Version {request.version} of the entry was deleted, and its counts with it.")

    async def take(
        self, caller: Caller, request_id: str, action: Action, verification: Verification, reason: str | None
    ) -> DataRequest:
        """Receive or dispute a delivery.

        Raises:
            InvalidDocumentError: the verification contradicts itself or the action, or has unpublished names.
        """
        request = await self._steps.read(caller, request_id, lock=True)
        request.after(action, request.sides_of(caller))
        handover = await self._handovers.find(request.id)
        if handover is None:
            raise NotFoundError(f"Nothing was delivered for the request {request.id}.")
        _refuse("This verdict contradicts itself.", verification.faults(action, reason, handover))
        await self._handovers.add(request.id, await self._as_published(request, verification))
        return await self._steps.take(caller, request, action, reason)

    async def _as_published(self, request: DataRequest, verification: Verification) -> Verification:
        """The verification, without counts of names that are no longer published.

        Raises:
            InvalidDocumentError: it has names that never were published, perhaps values of records.
        """
        if not verification.differences:
            return verification
        names = await self._names(request)
        if names is None:
            return replace(verification, differences=())
        _refuse("This verdict names what the entry has not published.", names.faults(verification.differences))
        return verification

    async def _names(self, request: DataRequest) -> PublishedNames | None:
        """The names of the delivered configuration; None if the version was deleted."""
        if request.version_id is None:
            return None
        configurations = await self._contents.configurations(request.version_id)
        schema = await self._contents.schema(request.version_id)
        if schema is None or configurations is None:
            return None
        # Decoding long lists of values takes a while.
        return await to_thread.run_sync(_names_in, schema, configurations, request.configuration or "")


def _names_in(schema: bytes, configurations: bytes, configuration: str) -> PublishedNames:
    entry = stored_entry(schema, configurations=configurations)
    return PublishedNames.of(entry, configuration_in(entry, configuration))


def _refuse(detail: str, faults: Iterable[Fault]) -> None:
    if listed := tuple(faults):
        raise InvalidDocumentError(detail, listed, code="inconsistent_verdict")


@dataclass(frozen=True, slots=True)
class ReceiptService:
    """Signs receipts. `signer` is None where the service has no key."""

    _steps: DataRequestSteps
    _requests: DataRequestStore
    _handovers: HandoverStore
    _log: AuditLogStore
    _signer: Signer | None

    async def make(self, caller: Caller, request_id: str) -> tuple[dict[str, Any], str]:
        """The claims and the JWS of a request's receipt, in any state, as the caller sees it.

        Raises:
            NothingSignedError: the service has no key that may sign.
        """
        await self._log.freeze()  # the state, its history and its place in the log belong together
        request = await self._steps.read(caller, request_id)
        signer = await self._valid_signer()
        handover = await self._handovers.find(request.id)
        last = await self._log.last_change_of(UUID(request.id))
        claims = {
            "request": request.id,
            "state": request.state.value,
            "provider": request.provider,
            "consumer": request.consumer,
            "entry": {"id": request.entry_id, "version": request.version, "digest": request.digest},
            "terms": request.terms,
            "configuration": request.configuration,
            "file_sha256": None if handover is None else handover.sha256,
            # Reasons are free text, so they stay out, and so do persons.
            "changes": [
                {
                    "at": None if change.at is None else moment(change.at),
                    "action": change.action,
                    "state": change.state.value,
                    "side": change.side.value,
                    "tenant": change.tenant,
                    "configuration": change.configuration,
                }
                for change in await self._requests.changes(request.id)
            ],
            "audit": None if last is None else {"sequence": last.sequence, "hash": last.hash},
            "signed_at": moment(await self._log.now()),
        }
        return claims, signer.sign(RECEIPT, claims)

    async def _valid_signer(self) -> Signer:
        if self._signer is None:
            raise NothingSignedError("This service has no key to sign with; its operator can set AEGIS_AUDIT_KEY.")
        known = {key.id: key for key in await self._log.keys()}
        key = known.get(self._signer.key_id)
        if key is None or not key.may_sign(await self._log.now()):
            raise NothingSignedError("The key of this service was replaced; restart the service with the new one.")
        return self._signer
