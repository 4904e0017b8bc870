"""Search criteria of listings, the searchable data of each version, and the entries that match.

Frequent matches are found fast among the newest entries, and rare ones by the indexes. PostgreSQL cannot know which is
better, since its estimates assume that the parts of a word are independent. So both are tried, each as a statement that
leaves the planner little choice.
"""

import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Select,
    Text,
    and_,
    case,
    cast,
    delete,
    exists,
    false,
    func,
    insert,
    literal,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY, array
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.entries.model.entries import Audience, Content
from app.entries.tables import EVERYBODY, EntryRow, EntryVersionRow, OfferedPrivacyRow, SearchedVersionRow
from app.platform.callers import Caller
from app.tenants.model import NOTHING_REQUIRED, RequiredPrivacy
from app.tenants.tables import TenantRow

LONGEST_GRAM: Final = 3
"""The longest result of `ngrams`, in characters."""

_WILDCARD = re.compile(r"[\\%_]")


class Order(StrEnum):
    """The order of a listing, by the contract's name: the time to sort by, with `-` latest first; or the worth."""

    NEWEST = "-created_at"
    OLDEST = "created_at"
    LAST_CHANGED = "-changed_at"
    FIRST_CHANGED = "changed_at"
    WORTH = "worth"

    @property
    def column(self) -> str:
        """The column of `EntryRow` to sort by, if it is a time."""
        return self.value.removeprefix("-")

    @property
    def is_descending(self) -> bool:
        """Whether the largest come first."""
        return self is Order.WORTH or self.value.startswith("-")

    def by(self, *columns: Any) -> list[ColumnElement[Any]]:  # noqa: ANN401 -- columns
        """The `ORDER BY` columns: those of a `Place`."""
        return [column.desc() if self.is_descending else column.asc() for column in columns]


@dataclass(frozen=True, slots=True)
class Search:
    """The search criteria of a listing, which an entry must all meet, and its order; None: not used.

    Each word of `query`, separated by blanks, must be a part of the name, the title, a keyword, or the name of the
    label or an attribute, ignoring case.
    `needs` are attributes that it must have, by name or by concept.
    `changed_since` is the earliest time of the last change that others see.
    `k` is one of `ASKED_K`, for the order by worth, which then also needs a `label`, by name or by concept.
    """

    query: str | None = None
    keyword: str | None = None
    label: str | None = None
    attribute: str | None = None
    license: str | None = None
    required: RequiredPrivacy = NOTHING_REQUIRED
    changed_since: datetime | None = None
    order: Order = Order.NEWEST
    needs: tuple[str, ...] = ()
    k: int | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The distinct words of the query."""
        return tuple(dict.fromkeys((self.query or "").split()))

    @property
    def facets(self) -> list[str]:
        """The exact terms of the search, as in `SearchedVersionRow`."""
        asked = ((name, getattr(self, name)) for name in ("keyword", "label", "attribute", "license"))
        needed = [f"attribute:{name}" for name in self.needs]
        return [*(f"{name}:{text}" for name, text in asked if text is not None), *needed]


def conditions_of(search: Search) -> Iterator[ColumnElement[bool]]:
    """The conditions on the `SearchedVersionRow` of a match; none without criteria."""
    for word in search.words:
        escaped = _WILDCARD.sub(r"\\\g<0>", word)
        yield SearchedVersionRow.text.like(func.lower(f"%{escaped}%"))
    if search.facets:
        yield SearchedVersionRow.facets.contains(search.facets)
    for criterion, limit in search.required.at_least.items():
        yield _offers(criterion, OfferedPrivacyRow.highest >= limit)
    for criterion, limit in search.required.at_most.items():
        yield _offers(criterion, OfferedPrivacyRow.lowest <= limit)
    if search.required.unit is not None:
        is_of_version = EntryVersionRow.id == SearchedVersionRow.version_id
        yield exists().where(is_of_version, EntryVersionRow.people.is_not(None))


def indexed_conditions_of(search: Search) -> Iterator[ColumnElement[bool]]:
    """Conditions implied by `conditions_of` that have an index; expensive without it."""
    of_text = func.ngrams(SearchedVersionRow.text, literal_column("1"))
    for word in search.words:
        of_word = func.ngrams(func.lower(word), min(len(word), LONGEST_GRAM))
        yield of_text.op("@>", is_comparison=True)(of_word)


def _offers(criterion: str, enough: ColumnElement[bool]) -> ColumnElement[bool]:
    is_of_version = OfferedPrivacyRow.version_id == SearchedVersionRow.version_id
    return exists().where(is_of_version, OfferedPrivacyRow.criterion == criterion, enough)


_SEEN_BY = func.array_append(EntryRow.audience_tenants, TenantRow.name).op("||")(
    case((EntryRow.audience == Audience.ALL.value, array([EVERYBODY])), else_=cast(array([]), ARRAY(Text)))
)


async def add_searched(session: AsyncSession, entry_id: uuid.UUID, version: int, version_id: int, c: Content) -> None:
    """Store the searchable data of a version."""
    # Neither names nor words have line breaks, so no word matches across two of them.
    text = func.lower(func.concat_ws("\n", EntryRow.name, c.title, *c.keywords))
    facets = [f"keyword:{keyword}" for keyword in c.keywords]
    facets += [f"attribute:{attribute.name}" for attribute in c.outline]
    facets += [*(f"label:{label}" for label in c.labels or (c.label,)), f"license:{c.license}"]
    facets += [f"{kind}:{uri}" for kind, uri in c.concepts]
    values = {
        "version_id": literal(version_id),
        "entry_id": EntryRow.id,
        "version": literal(version),
        "created_at": EntryRow.created_at,
        "text": text,
        "facets": literal(facets, ARRAY(Text)),
        "seen_by": _SEEN_BY,
    }
    row = select(*values.values()).join(TenantRow, TenantRow.id == EntryRow.tenant_id).where(EntryRow.id == entry_id)
    await session.execute(insert(SearchedVersionRow).from_select(list(values), row))
    if c.offered:
        offered = [
            {"version_id": version_id, "criterion": criterion, "lowest": lowest, "highest": highest}
            for criterion, (lowest, highest) in c.offered.items()
        ]
        await session.execute(insert(OfferedPrivacyRow), offered)


async def show_searched(session: AsyncSession, entry_id: uuid.UUID) -> None:
    """Store the current visibility of an entry with its versions."""
    is_of_entry = (SearchedVersionRow.entry_id == EntryRow.id) & (TenantRow.id == EntryRow.tenant_id)
    changed = update(SearchedVersionRow).where(EntryRow.id == entry_id, is_of_entry).values(seen_by=_SEEN_BY)
    await session.execute(changed, execution_options={"synchronize_session": False})


async def delete_superseded(session: AsyncSession, entry_id: uuid.UUID) -> None:
    """Delete the searchable data of versions that listings no longer show."""
    shown = select(func.coalesce(EntryRow.released_version, EntryRow.latest_version)).where(EntryRow.id == entry_id)
    is_before = SearchedVersionRow.version < shown.scalar_subquery()
    superseded = delete(SearchedVersionRow).where(SearchedVersionRow.entry_id == entry_id, is_before)
    await session.execute(superseded, execution_options={"synchronize_session": False})


FIRST: Final = 1_000
"""The number of first entries that are checked one by one, before the indexes are used."""

Place = tuple[Any, ...]
"""What a listing is ordered by, of one entry, and its id: a time, or a worth (`Worth.order`)."""


def matching_first(caller: Caller, search: Search, place: Place | None, limit: int) -> Select[Any]:
    """Matching entries among the first in the order: a full page of frequent matches, at a bounded cost.

    A scalar subquery checks the entries one after the other, whatever the planner expects.
    """
    columns = (getattr(EntryRow, search.order.column), EntryRow.id)
    first = select(EntryRow).where(*changed_lately(search), *after(search.order, columns, place))
    entry = aliased(EntryRow, first.order_by(*search.order.by(*columns)).limit(FIRST).subquery())
    version, time = version_shown(entry, caller), getattr(entry, search.order.column)
    rows = select(time.label("time"), entry.id).where(version > 0, *visible_to(caller, entry))
    if conditions := list(conditions_of(search)):
        is_shown = (SearchedVersionRow.entry_id == entry.id) & (SearchedVersionRow.version == version)
        rows = rows.where(select(and_(*conditions)).where(is_shown).scalar_subquery())
    return rows.order_by(*search.order.by(time, entry.id)).limit(limit)


def matching(caller: Caller, search: Search, place: Place | None, limit: int | None) -> Select[Any]:
    """Matching entries among all, or all of them without a `limit`: fast for rare matches, by the indexes.

    Matches are sorted before their entries are checked, one after the other until the page is full. By default, the
    planner would scan all entries in order, or join too many of them, since it cannot know how many versions have all
    trigrams of a word.
    """
    row, order = SearchedVersionRow, search.order
    conditions = [*conditions_of(search), *indexed_conditions_of(search)]
    if not caller.is_operator:
        conditions.append(row.seen_by.overlap([EVERYBODY, caller.tenant]))
    time = row.created_at if order.column == "created_at" else EntryRow.changed_at
    rows = select(time.label("time"), row.entry_id, row.version).where(*conditions)
    if order.column == "changed_at" or search.changed_since is not None:
        rows = rows.join(EntryRow, EntryRow.id == row.entry_id).where(*changed_lately(search))
    rows = rows.where(*after(order, (time, row.entry_id), place))
    ordered = rows.order_by(*order.by(time, row.entry_id)).offset(0).subquery()
    columns = ordered.c
    is_shown = select(and_(columns.version == version_shown(EntryRow, caller), *visible_to(caller, EntryRow)))
    is_shown = is_shown.where(EntryRow.id == columns.entry_id)
    shown = select(columns.time, columns.entry_id.label("id")).where(is_shown.scalar_subquery())
    return shown.order_by(*order.by(columns.time, columns.entry_id)).limit(limit)


def changed_lately(search: Search) -> list[ColumnElement[bool]]:
    """The condition on the last change of an `EntryRow`, if there is one."""
    return [] if search.changed_since is None else [EntryRow.changed_at >= search.changed_since]


def after(order: Order, columns: Sequence[Any], place: Place | None) -> list[ColumnElement[bool]]:
    """The condition that an entry comes after a place."""
    if place is None:
        return []
    listed, last = tuple_(*columns), tuple_(*place)
    return [listed < last if order.is_descending else listed > last]


def version_shown(entry: type[EntryRow], caller: Caller) -> ColumnElement[int]:
    """The version of an entry that a listing shows to the caller; 0 if none."""
    released = func.coalesce(entry.released_version, entry.latest_version)
    is_own = entry.tenant_id == _own(caller) if caller.may_read_counts else false()
    return case((or_(literal(caller.is_operator), is_own), entry.latest_version), else_=released)


def _own(caller: Caller) -> ColumnElement[int]:
    return select(TenantRow.id).where(TenantRow.name == caller.tenant).scalar_subquery()


def visible_to(caller: Caller, entry: type[EntryRow]) -> list[ColumnElement[bool]]:
    """The condition that a caller may see an entry."""
    if caller.is_operator:
        return []
    is_named = (entry.audience == Audience.TENANTS.value) & entry.audience_tenants.contains([caller.tenant])
    return [or_(entry.tenant_id == _own(caller), entry.audience == Audience.ALL.value, is_named)]
