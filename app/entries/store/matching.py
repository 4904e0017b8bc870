"""The entries of a listing, by statements that are fast for frequent and for rare matches.

Frequent matches are found fast among the newest entries, and rare ones by the indexes. PostgreSQL cannot know which is
better, since its estimates assume that the parts of a word are independent. So both are tried, each as a statement that
leaves the planner little choice.
"""

import uuid
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, case, false, func, literal, or_, select, tuple_
from sqlalchemy.orm import aliased

from app.entries.model.entries import Audience
from app.entries.store.searches import Order, Search, conditions_of, indexed_conditions_of, seen_by
from app.entries.tables import EntryRow, SearchedVersionRow
from app.platform.callers import Caller
from app.tenants.tables import TenantRow

FIRST: Final = 1_000
"""The number of first entries that are checked one by one, before the indexes are used."""

Place = tuple[datetime, uuid.UUID]
"""The time of an entry by which a listing is ordered, and its id."""


def matching_first(caller: Caller, search: Search, place: Place | None, limit: int) -> Select[datetime, uuid.UUID]:
    """Matching entries among the first in the order: a full page of frequent matches, at a bounded cost.

    A scalar subquery checks the entries one after the other, whatever the planner expects.
    """
    columns = (getattr(EntryRow, search.order.column), EntryRow.id)
    first = select(EntryRow).where(*_changed(search), *_after(search.order, columns, place))
    entry = aliased(EntryRow, first.order_by(*search.order.by(*columns)).limit(FIRST).subquery())
    version, time = _version_shown(entry, caller), getattr(entry, search.order.column)
    rows = select(time.label("time"), entry.id).where(version > 0, *_visible_to(caller, entry))
    if conditions := list(conditions_of(search)):
        is_shown = (SearchedVersionRow.entry_id == entry.id) & (SearchedVersionRow.version == version)
        rows = rows.where(select(and_(*conditions)).where(is_shown).scalar_subquery())
    return rows.order_by(*search.order.by(time, entry.id)).limit(limit)


def matching(caller: Caller, search: Search, place: Place | None, limit: int | None) -> Select[datetime, uuid.UUID]:
    """Matching entries among all, or all of them without a `limit`: fast for rare matches, by the indexes.

    Matches are sorted before their entries are checked, one after the other until the page is full. By default, the
    planner would scan all entries in order, or join too many of them, since it cannot know how many versions have all
    trigrams of a word.
    """
    row, order = SearchedVersionRow, search.order
    conditions = (*conditions_of(search), *indexed_conditions_of(search), *seen_by(caller))
    time = row.created_at if order.column == "created_at" else EntryRow.changed_at
    rows = select(time.label("time"), row.entry_id, row.version).where(*conditions)
    if order.column == "changed_at" or search.changed_since is not None:
        rows = rows.join(EntryRow, EntryRow.id == row.entry_id).where(*_changed(search))
    rows = rows.where(*_after(order, (time, row.entry_id), place))
    ordered = rows.order_by(*order.by(time, row.entry_id)).offset(0).subquery()
    columns = ordered.c
    is_shown = select(and_(columns.version == _version_shown(EntryRow, caller), *_visible_to(caller, EntryRow)))
    is_shown = is_shown.where(EntryRow.id == columns.entry_id)
    shown = select(columns.time, columns.entry_id.label("id")).where(is_shown.scalar_subquery())
    return shown.order_by(*order.by(columns.time, columns.entry_id)).limit(limit)


def _changed(search: Search) -> list[ColumnElement[bool]]:
    return [] if search.changed_since is None else [EntryRow.changed_at >= search.changed_since]


def _after(order: Order, columns: tuple[Any, Any], place: Place | None) -> list[ColumnElement[bool]]:
    if place is None:
        return []
    listed, last = tuple_(*columns), tuple_(*place)
    return [listed < last if order.value.startswith("-") else listed > last]


def _version_shown(entry: type[EntryRow], caller: Caller) -> ColumnElement[int]:
    """The version of an entry that a listing shows to the caller; 0 if none."""
    released = func.coalesce(entry.released_version, entry.latest_version)
    is_own = entry.tenant_id == _own(caller) if caller.may_read_counts else false()
    return case((or_(literal(caller.is_operator), is_own), entry.latest_version), else_=released)


def _own(caller: Caller) -> ColumnElement[int]:
    return select(TenantRow.id).where(TenantRow.name == caller.tenant).scalar_subquery()


def _visible_to(caller: Caller, entry: type[EntryRow]) -> list[ColumnElement[bool]]:
    if caller.is_operator:
        return []
    is_named = (entry.audience == Audience.TENANTS.value) & entry.audience_tenants.contains([caller.tenant])
    return [or_(entry.tenant_id == _own(caller), entry.audience == Audience.ALL.value, is_named)]
