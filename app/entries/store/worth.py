"""The store of what tables are worth, and the entries of a listing by it.

As in `searches`, two statements: the first entries in the order, one by one, and all that the indexes find.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import Select, and_, delete, insert, select, update
from sqlalchemy.orm import aliased

from app.entries.model.entries import Head
from app.entries.model.worth import Worth, WorthState
from app.entries.store.searches import (
    FIRST,
    Place,
    Search,
    after,
    changed_lately,
    conditions_of,
    indexed_conditions_of,
    version_shown,
    visible_to,
)
from app.entries.tables import EVERYBODY, EntryRow, SearchedVersionRow, WorthRow
from app.platform.callers import Caller
from app.platform.database.base import Store, one_of

WORTH_ORDER: Final = ("kind", "low", "score")
"""The columns that order a listing, before the id."""


def worth_first(caller: Caller, search: Search, place: Place | None, limit: int) -> Select[Any]:
    """Matching entries among the first by worth: a full page of frequent matches, at a bounded cost."""
    columns = _columns(WorthRow)
    first = select(WorthRow).where(*_of(search), *after(search.order, columns, place))
    row = aliased(WorthRow, first.order_by(*search.order.by(*columns)).limit(FIRST).subquery())
    conditions = [row.version == version_shown(EntryRow, caller), *visible_to(caller, EntryRow)]
    is_shown = select(and_(*conditions, *changed_lately(search))).where(EntryRow.id == row.entry_id)
    rows = select(*_columns(row)).where(is_shown.scalar_subquery())
    if wanted := list(conditions_of(search)):
        rows = rows.where(
            select(and_(*wanted)).where(SearchedVersionRow.version_id == row.version_id).scalar_subquery()
        )
    return rows.order_by(*search.order.by(*_columns(row))).limit(limit)


def worth_of_all(caller: Caller, search: Search, place: Place | None, limit: int | None) -> Select[Any]:
    """Matching entries among all: fast for rare matches, by the indexes of searches."""
    columns = _columns(WorthRow)
    conditions = [*conditions_of(search), *indexed_conditions_of(search)]
    if not caller.is_operator:
        conditions.append(SearchedVersionRow.seen_by.overlap([EVERYBODY, caller.tenant]))
    rows = select(*columns, WorthRow.version).join(
        SearchedVersionRow, SearchedVersionRow.version_id == WorthRow.version_id
    )
    rows = rows.where(*_of(search), *conditions, *after(search.order, columns, place))
    ordered = rows.order_by(*search.order.by(*columns)).offset(0).subquery()
    shown = [ordered.c.version == version_shown(EntryRow, caller), *visible_to(caller, EntryRow)]
    is_shown = select(and_(*shown, *changed_lately(search))).where(EntryRow.id == ordered.c.id)
    found = select(*(ordered.c[name] for name in (*WORTH_ORDER, "id"))).where(is_shown.scalar_subquery())
    return found.order_by(*search.order.by(*(ordered.c[name] for name in (*WORTH_ORDER, "id")))).limit(limit)


def _columns(row: type[WorthRow]) -> list[Any]:
    return [*(getattr(row, name) for name in WORTH_ORDER), row.entry_id.label("id")]


def _of(search: Search) -> list[Any]:
    return [WorthRow.task == search.label, WorthRow.k == search.k]


class WorthStore(Store):
    """What tables are worth, by version, task and k."""

    async def shown(self, heads: Sequence[Head], search: Search) -> list[Head]:
        """The heads with the worth that a search orders them by."""
        rows = select(WorthRow).where(WorthRow.version_id.in_([head.version_id for head in heads]), *_of(search))
        worth = {row.version_id: _to_worth(row) for row in (await self._session.execute(rows)).scalars()}
        return [replace(head, worth=worth.get(head.version_id)) for head in heads]

    async def of(self, version_id: int) -> tuple[Worth, ...]:
        """What the tables of a version are worth, by label and by k."""
        rows = select(WorthRow).where(WorthRow.version_id == version_id).order_by(WorthRow.task, WorthRow.k)
        return tuple(map(_to_worth, (await self._session.execute(rows)).scalars()))

    async def of_all(self, version_ids: Iterable[int]) -> dict[int, list[Worth]]:
        """The same of several versions, by version."""
        rows = select(WorthRow).where(one_of(WorthRow.version_id, version_ids)).order_by(WorthRow.task, WorthRow.k)
        worth: dict[int, list[Worth]] = {}
        for row in (await self._session.execute(rows)).scalars():
            worth.setdefault(row.version_id, []).append(_to_worth(row))
        return worth

    async def is_pending(self, version_id: int) -> bool:
        """Whether the worth of a version is to be computed."""
        pending = select(WorthRow.k).where(WorthRow.version_id == version_id, _IS_PENDING).limit(1)
        return (await self._session.execute(pending)).first() is not None

    async def store(self, version_id: int, tasks: Iterable[tuple[str, Sequence[Worth]]]) -> None:
        """Store the worth of a version by task, unless it is stored or the version is no longer searched."""
        row = select(SearchedVersionRow).where(SearchedVersionRow.version_id == version_id)
        searched = (await self._session.execute(row.with_for_update(key_share=True))).scalar_one_or_none()
        if searched is None or not await self.is_pending(version_id):
            return
        await self._session.execute(delete(WorthRow).where(WorthRow.version_id == version_id))
        where = {"version_id": version_id, "entry_id": searched.entry_id, "version": searched.version}
        rows = [where | {"task": task} | _columns_of(worth) for task, all_k in tasks for worth in all_k]
        if rows:
            await self._session.execute(insert(WorthRow), rows)

    async def give_up(self, version_id: int) -> None:
        """Say of a version that the computation of its worth failed."""
        pending = update(WorthRow).where(WorthRow.version_id == version_id, _IS_PENDING)
        await self._session.execute(pending.values(state=WorthState.FAILED.value))


_IS_PENDING = WorthRow.state == WorthState.PENDING.value


def _columns_of(worth: Worth) -> dict[str, Any]:
    order = dict(zip(WORTH_ORDER, worth.order, strict=True))
    return {
        **order,
        "k": worth.k,
        "state": worth.state.value,
        "configuration": worth.configuration,
        "masking": worth.masking,
        "expected": None if worth.expected is None else dict(worth.expected),
    }


def _to_worth(row: WorthRow) -> Worth:
    return Worth(row.task, row.k, WorthState(row.state), row.configuration, row.expected, row.masking)
