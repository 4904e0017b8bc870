"""The store of entries: heads, listing and visibility. The content of versions is in the content store."""

import uuid
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Numeric,
    Row,
    Select,
    Text,
    bindparam,
    case,
    cast,
    delete,
    func,
    literal,
    null,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.entries.model.entries import ALONE, COLUMNS, RECORDS, Audience, Head, HeadPage, VersionMark, Visibility
from app.entries.store.searches import (
    Order,
    Place,
    Search,
    delete_superseded,
    matching,
    matching_first,
    show_searched,
    version_shown,
    visible_to,
)
from app.entries.store.worth import WORTH_ORDER, WorthStore, worth_first, worth_of_all
from app.entries.tables import EntryRow, EntryVersionRow, OfferedPrivacyRow
from app.platform.callers import Caller
from app.platform.database.base import read_numbers, read_token, write_token
from app.platform.digests import terms_digest
from app.platform.members import model_of
from app.tenants.store import tenant_id, to_policy
from app.tenants.tables import TenantRow

PAGE_BYTES = 2_000_000
"""The largest page of a listing in bytes, unless a single head is longer."""


class EntryStore:
    """Entries by id or name, and their listing."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(
        self, name: str, tenant: str, visibility: Visibility, *, awaits_sign_off: bool = False
    ) -> uuid.UUID | None:
        """Add an entry without a version and return its id; None if the tenant already has one of this name.

        Others see its first version unless it awaits a sign-off.
        """
        added = await self._session.execute(
            insert(EntryRow)
            .values(
                id=uuid.uuid4(),
                tenant_id=await tenant_id(self._session, tenant),
                name=name,
                audience=visibility.audience.value,
                audience_tenants=list(visibility.tenants),
                latest_version=1,
                released_version=0 if awaits_sign_off else None,
            )
            .on_conflict_do_nothing()
            .returning(EntryRow.id)
        )
        return added.scalar()

    async def find(
        self, caller: Caller, entry_id: str, version: int | None = None, *, lock: bool = False
    ) -> Head | None:
        """The head of an entry at a version, by default the latest that the caller sees.

        Permissions are not checked here. `lock` locks the entry for the transaction.
        """
        try:
            wanted = {"wanted": uuid.UUID(entry_id)}
        except ValueError:
            return None
        if lock:
            # The lock comes first, so that the version joined below stays the latest one during the lock.
            await self._session.execute(_LOCKED, wanted)
        if version is None:
            rows = await self._session.execute(_LATEST_OF_ONE, wanted | _insider(caller))
        else:
            rows = await self._session.execute(_VERSION_OF_ONE, wanted | {"version": version})
        return next((_to_head(*row) for row in rows), None)

    async def find_by_name(self, caller: Caller, name: str) -> Head | None:
        """The head of the entry of the caller's tenant with this name, at the latest version that it sees."""
        statement = _LATEST.where(TenantRow.name == caller.tenant, EntryRow.name == name)
        rows = await self._session.execute(statement, _insider(caller))
        return next((_to_head(*row) for row in rows), None)

    async def page(self, caller: Caller, search: Search, limit: int, page_token: str | None) -> HeadPage:
        """The entries that match `search` and `caller` may see, in its order, at most `limit` from `page_token` on.

        The page ends earlier if its texts are too long together, but has at least one entry.
        """
        is_by_worth = search.order is Order.WORTH
        first, every = (worth_first, worth_of_all) if is_by_worth else (matching_first, matching)
        place = None if page_token is None else _read_place(page_token, search.order)
        entries = await self._sized(caller, search.order, first(caller, search, place, limit + 1))
        if len(entries) <= limit:
            await self._session.execute(_PLANNED_EACH_TIME)
            entries = await self._sized(caller, search.order, every(caller, search, place, limit + 1))
        fitting = bisect_right(list(accumulate(entry.size for entry in entries)), PAGE_BYTES)
        chosen = entries[: min(max(fitting, 1), limit)]
        rows = await self._session.execute(
            _LATEST.where(EntryRow.id.in_([entry.id for entry in chosen])), _insider(caller)
        )
        heads = {row.EntryRow.id: _to_head(*row) for row in rows}
        items = [heads[entry.id] for entry in chosen if entry.id in heads]
        if is_by_worth:
            items = await WorthStore(self._session).shown(items, search)
        token = _write_place(chosen[-1], search.order) if len(entries) > len(chosen) else None
        return HeadPage(tuple(items), token)

    async def by_id(self, caller: Caller, after: uuid.UUID | None, limit: int) -> list[Head]:
        """At most `limit` heads that the caller may see, in the order of their ids, which never changes."""
        ids = select(EntryRow.id).where(version_shown(EntryRow, caller) > 0, *visible_to(caller, EntryRow))
        if after is not None:
            ids = ids.where(EntryRow.id > after)
        statement = _LATEST.where(EntryRow.id.in_(ids.order_by(EntryRow.id).limit(limit))).order_by(EntryRow.id)
        return [_to_head(*row) for row in await self._session.execute(statement, _insider(caller))]

    async def count(self, caller: Caller, search: Search) -> int:
        """The number of entries that match `search` and `caller` may see."""
        await self._session.execute(_PLANNED_EACH_TIME)
        matched = matching(caller, search, None, None).order_by(None).subquery()
        return (await self._session.execute(select(func.count()).select_from(matched))).scalar_one()

    async def versions(self, head: Head, most: int, *, sees_all: bool) -> tuple[VersionMark, ...]:
        """The latest versions of an entry, latest first: all, or only those that await no sign-off."""
        columns = EntryVersionRow.version, EntryVersionRow.awaits_sign_off
        shown = literal(sees_all) | ~EntryVersionRow.awaits_sign_off
        statement = select(*columns).where(EntryVersionRow.entry_id == uuid.UUID(head.id), shown)
        rows = await self._session.execute(statement.order_by(EntryVersionRow.version.desc()).limit(most))
        return tuple(VersionMark(row.version, row.awaits_sign_off) for row in rows)

    async def _sized(self, caller: Caller, order: Order, matching: Select[Any]) -> Sequence[Row[Any]]:
        """The places and sizes of matching entries, in the order of a listing."""
        places = matching.subquery()
        sized = _LATEST.join(places, places.c.id == EntryRow.id).order_by(*order.by(*places.c))
        columns = (*places.c, _size(caller))
        return (await self._session.execute(sized.with_only_columns(*columns), _insider(caller))).all()

    async def hold(self, entry_id: str) -> bool:
        """Prevent the deletion of an entry during the transaction; False if it is deleted."""
        held = select(EntryRow.id).where(EntryRow.id == uuid.UUID(entry_id)).with_for_update(read=True, key_share=True)
        return (await self._session.execute(held)).first() is not None

    async def set_latest(self, entry_id: str, version: int, *, awaits_sign_off: bool = False) -> None:
        """Make `version` the latest version of the entry; others see it unless it awaits its sign-off."""
        released = func.coalesce(EntryRow.released_version, version - 1) if awaits_sign_off else null()
        await self._session.execute(
            update(EntryRow)
            .where(EntryRow.id == uuid.UUID(entry_id))
            .values(latest_version=version, released_version=released)
        )
        await delete_superseded(self._session, uuid.UUID(entry_id))

    async def sign_off(self, head: Head, subject: str | None) -> None:
        """Show others the version of a head. The entry must be locked."""
        await self._session.execute(
            update(EntryVersionRow)
            .where(EntryVersionRow.id == head.version_id)
            .values(awaits_sign_off=False, signed_off_by=subject, signed_off_at=func.now())
        )
        # NULL means that others already see the latest version.
        await self._session.execute(
            update(EntryRow)
            .where(EntryRow.id == uuid.UUID(head.id), EntryRow.released_version < head.version)
            .values(released_version=head.version)
        )
        await delete_superseded(self._session, uuid.UUID(head.id))

    async def set_visibility(self, entry_id: str, visibility: Visibility) -> None:
        """Change the visibility of the entry."""
        await self._session.execute(
            update(EntryRow)
            .where(EntryRow.id == uuid.UUID(entry_id))
            .values(audience=visibility.audience.value, audience_tenants=list(visibility.tenants))
        )
        await show_searched(self._session, uuid.UUID(entry_id))

    async def delete(self, entry_id: str) -> None:
        """Delete the entry with its versions, references and advice."""
        await self._session.execute(delete(EntryRow).where(EntryRow.id == uuid.UUID(entry_id)))


#: The largest numbers of a version that heads show, by name.
_SHOWN = (
    select(func.jsonb_object_agg(OfferedPrivacyRow.criterion, OfferedPrivacyRow.highest))
    .where(
        OfferedPrivacyRow.version_id == EntryVersionRow.id,
        OfferedPrivacyRow.criterion.in_((ALONE, RECORDS, COLUMNS, "k")),
    )
    .scalar_subquery()
)
_HEADS: Select[EntryRow, EntryVersionRow, TenantRow, dict[str, float] | None] = (
    select(EntryRow, EntryVersionRow, TenantRow, _SHOWN)
    .join(EntryVersionRow, EntryVersionRow.entry_id == EntryRow.id)
    .join(TenantRow, TenantRow.id == EntryRow.tenant_id)
)
#: The latest version that a caller sees: of all if it may read the counts, else of the released ones.
_LATEST = _HEADS.where(
    EntryVersionRow.version
    == case(
        (or_(bindparam("sees_all", type_=Boolean), TenantRow.name == bindparam("inside")), EntryRow.latest_version),
        else_=func.coalesce(EntryRow.released_version, EntryRow.latest_version),
    )
)
#: Otherwise the plan of a frequent search may be used for a rare one.
_PLANNED_EACH_TIME = text("SET LOCAL plan_cache_mode = force_custom_plan")
_ONE = EntryRow.id == bindparam("wanted")
_LOCKED = select(EntryRow.id).where(_ONE).with_for_update()
_LATEST_OF_ONE = _LATEST.where(_ONE)
# The type is Numeric because a caller may ask for a version beyond the range of an integer column.
_VERSION_OF_ONE = _HEADS.where(_ONE, EntryVersionRow.version == bindparam("version", type_=Numeric))


def _read_place(token: str, order: Order) -> Place:
    if order is not Order.WORTH:
        return read_token(token, _name(order))
    kind, *numbers = read_numbers(token, order.value, len(WORTH_ORDER))
    # As its column's type: no index is used to compare whole numbers with others. There are few kinds.
    return int(min(max(kind, 0.0), 9.0)), *numbers


def _write_place(entry: Row[Any], order: Order) -> str:
    key = [getattr(entry, name) for name in WORTH_ORDER] if order is Order.WORTH else entry.time
    return write_token(key, entry.id, _name(order))


def _name(order: Order) -> str:
    """The name of an order in its tokens. Those of the default one are as before there were others."""
    return "" if order is Order.NEWEST else order.value


def _insider(caller: Caller) -> dict[str, Any]:
    """The parameters of `_LATEST`."""
    return {"sees_all": caller.is_operator, "inside": caller.tenant if caller.may_read_counts else None}


def _size(caller: Caller) -> ColumnElement[int]:
    """The size of a head in a listing in bytes: its texts as JSON, and the rest at its longest.

    Tenants hidden from the caller do not count: otherwise the length of a page would reveal their number.
    """
    is_shown = literal(caller.is_operator) | (TenantRow.name == caller.tenant)
    texts = func.json_build_array(
        EntryVersionRow.title,
        EntryVersionRow.description,
        EntryVersionRow.license,
        EntryVersionRow.label,
        EntryVersionRow.labels,
        EntryVersionRow.keywords,
        case((is_shown, EntryRow.audience_tenants)),
    )
    return (func.octet_length(cast(texts, Text)) + 1_000).label("size")


def _to_head(entry: EntryRow, version: EntryVersionRow, tenant: TenantRow, numbers: Mapping[str, float] | None) -> Head:
    numbers = numbers or {}
    records, columns = (None if (one := numbers.get(name)) is None else int(one) for name in (RECORDS, COLUMNS))
    return model_of(
        Head,
        version,
        id=entry.id,
        name=entry.name,
        terms=version.terms or terms_digest(version.license),
        tenant=tenant.name,
        visibility=Visibility(Audience(entry.audience), tuple(entry.audience_tenants)),
        version_id=version.id,
        has_open_answers=version.open_answers,
        policy=to_policy(tenant),
        created_at=entry.created_at,
        changed_at=entry.changed_at,
        latest_version=entry.latest_version,
        released_version=entry.latest_version if entry.released_version is None else entry.released_version,
        labels=version.labels or (version.label,),
        alone=numbers.get(ALONE),
        records=records,
        columns=columns,
        k=numbers.get("k"),
    )
