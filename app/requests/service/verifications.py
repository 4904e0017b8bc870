"""Verifications by consumers: the counts to compare a delivered table with, and the results."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from anyio import to_thread

from app.entries.model.documents import stored_entry
from app.entries.model.entries import CountTable
from app.entries.store.contents import ContentStore
from app.platform.callers import Caller
from app.platform.errors import ActionNotPossibleError, Fault, InvalidDocumentError, NotFoundError, RoleNotAllowedError
from app.requests.model.approved_counts import PublishedNames, configuration_in
from app.requests.model.data_requests import HANDED_OVER, Action, DataRequest
from app.requests.model.handovers import Verification
from app.requests.service.data_requests import DataRequestSteps
from app.requests.store.handovers import HandoverStore, VerificationStore


@dataclass(frozen=True, slots=True)
class PackedEvidence:
    """A delivered request and its version of the entry, as stored.

    Attributes:
        request: the request, as the caller sees it.
        schema: the published document without its counts and configurations, as compressed JSON.
        configurations: the configurations as compressed JSON.
        tables: the counts.
    """

    request: DataRequest
    schema: bytes
    configurations: bytes
    tables: tuple[CountTable, ...]


class VerificationService:
    """Consumers' verifications of deliveries."""

    def __init__(
        self,
        verifications: VerificationStore,
        handovers: HandoverStore,
        contents: ContentStore,
        steps: DataRequestSteps,
    ) -> None:
        self._verifications = verifications
        self._handovers = handovers
        self._contents = contents
        self._steps = steps

    async def evidence(self, caller: Caller, request_id: str) -> PackedEvidence:
        """The stored counts of a delivered request's version; only those of its configuration may be disclosed.

        Raises:
            NotFoundError: there is no such request, or the caller may not see it, or the version has been deleted.
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

        Args:
            caller: the consumer.
            request_id: the request.
            action: receive or dispute.
            verification: the consumer's result.
            reason: for the history.

        Raises:
            NotFoundError: there is no such request, or the caller may not see it.
            RoleNotAllowedError: the caller may not do this.
            ActionNotPossibleError: nothing was delivered, or the request has ended.
            InvalidDocumentError: the verification contradicts itself or the action, or has unpublished names.
        """
        request = await self._steps.locked(caller, request_id)
        request.after(action, request.sides_of(caller))
        handover = await self._handovers.find(request.id)
        if handover is None:
            raise NotFoundError(f"Nothing was delivered for the request {request.id}.")
        _refuse("This verdict contradicts itself.", verification.faults(action, reason, handover))
        await self._verifications.add(request.id, await self._as_published(request, verification))
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
