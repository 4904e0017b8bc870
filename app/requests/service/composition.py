"""Compares a requested configuration with what its consumer was granted of the same table before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from anyio import to_thread

from aegis_advisor.evidence import EntryContent
from app.entries.model.documents import read_as, stored_entry
from app.entries.model.entries import Head
from app.entries.store.contents import ContentStore
from app.platform.callers import DEVELOPER, Caller
from app.requests.model.composition import Comparison, Composition, Cuts, Cutting, Granted, keeps
from app.requests.model.data_requests import DataRequest
from app.requests.store.data_requests import DataRequestStore
from app.tenants.model import Composed
from app.tenants.store import TenantStore


@dataclass(frozen=True, slots=True)
class _Declared:
    table: str | None = None


@dataclass(frozen=True, slots=True)
class CompositionService:
    """What the masked tables of one table tell together."""

    _requests: DataRequestStore
    _contents: ContentStore
    _tenants: TenantStore

    async def table_of(self, head: Head) -> str | None:
        """The table that a version says it is about; None if it says none."""
        schema = await self._contents.schema(head.version_id)
        return None if schema is None else (await to_thread.run_sync(read_as, _Declared, schema)).table

    async def granted(self, request: DataRequest, *, lock: bool = False) -> tuple[Granted, ...]:
        """What the request's consumer was granted of the same table by other requests; `lock`: until the commit."""
        return await self._requests.granted(request, lock=lock)

    async def compare(
        self, caller: Caller, request: DataRequest, granted: Sequence[Granted], ranking: Sequence[str]
    ) -> Composition:
        """The request's configuration, and the first of `ranking` that keeps the policy, beside what was granted."""
        own = (await self._tenants.policy(request.provider)).composition
        policy = own or (Composed.ANY if caller == DEVELOPER else Composed.NESTED)
        wanted = dict.fromkeys([request.version_id, *(one.version_id for one in granted)])
        stored = {one: await self._stored(one) for one in wanted if one is not None}
        return await to_thread.run_sync(_compared, policy, request, granted, ranking, stored)

    async def _stored(self, version_id: int) -> tuple[bytes, bytes] | None:
        """The schema and the configurations of a version; None if it is deleted."""
        configurations = await self._contents.configurations(version_id)
        schema = await self._contents.schema(version_id)
        return None if schema is None or configurations is None else (schema, configurations)


def _compared(
    policy: Composed,
    request: DataRequest,
    granted: Sequence[Granted],
    ranking: Sequence[str],
    stored: Mapping[int, tuple[bytes, bytes] | None],
) -> Composition:
    """The comparison with stored versions, by their ids. Slow for large entries."""
    entries = {one: _entry(*parts) for one, parts in stored.items() if parts is not None}
    cutting = {one: Cutting(entry) for one, entry in entries.items()}

    def cuts(version_id: int | None, configurations: Sequence[str]) -> Sequence[Cuts | None]:
        known = None if version_id is None else cutting.get(version_id)
        return [None] * len(configurations) if known is None else known.of(configurations)

    before = Comparison([cuts(one.version_id, [one.configuration])[0] for one in granted])
    own, *others = map(before.relations, cuts(request.version_id, [request.configuration or "", *ranking]))
    related = tuple(replace(one, relation=what) for one, what in zip(granted, own, strict=True))
    is_kept = keeps(policy, own)
    allowed = (name for name, what in zip(ranking, others, strict=True) if keeps(policy, what))
    return Composition(policy, related, is_kept, None if is_kept else next(allowed, None))


def _entry(schema: bytes, configurations: bytes) -> EntryContent:
    return stored_entry(schema, configurations=configurations)
