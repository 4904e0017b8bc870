"""Conversion between the domain's values for entries and the contract's JSON."""

from typing import Any

import orjson
from pydantic_core import to_jsonable_python

from aegis_sdk import wire
from app.entries.model.documents import (
    GENERATED_COUNTS,
    SMALL_GROUPS,
    changed,
    decompress,
    with_counts,
    with_shares,
    with_statistics,
    without,
    without_counts,
)
from app.entries.model.entries import Audience, CountTable, Head, HeadPage, StoredVerdict, Visibility
from app.entries.model.worth import Worth
from app.platform.members import answer_of


def head_answer(head: Head) -> wire.Head:
    """A head as listings show it."""
    worth = None if head.worth is None else worth_answer(head.worth)
    return answer_of(wire.Head, head, visibility=visibility_answer(head.visibility), worth=worth)


def worth_answer(worth: Worth) -> wire.Worth:
    """A worth in the contract's form."""
    return wire.Worth.model_validate(worth, from_attributes=True)


def page_answer(page: HeadPage) -> wire.HeadPage:
    """A page of heads."""
    items = list(map(head_answer, page.items))
    return wire.HeadPage(items=items, next_page_token=page.next_page_token, total=page.total)


def verdict_answer(verdict: StoredVerdict) -> wire.Verdict:
    """A verdict in the contract's form."""
    return wire.Verdict.model_validate(verdict, from_attributes=True)


def visibility_answer(visibility: Visibility) -> str | wire.SeenBy:
    """A visibility in the contract's form."""
    if visibility.audience is Audience.TENANTS:
        return wire.SeenBy(tenants=list(visibility.tenants))
    return visibility.audience.value


def visibility_of(published: object) -> Visibility:
    """A published visibility in the domain's form."""
    if isinstance(published, wire.VisibleTo):
        return Visibility(Audience.TENANTS, tuple(published.tenants))
    return Visibility(Audience(str(published)))


def entry_json(
    visibility: Visibility,
    schema: bytes,
    configurations: bytes,
    tables: tuple[CountTable, ...],
    in_full: bool,  # noqa: FBT001 -- a child process takes arguments by position
) -> bytes:
    """The JSON of `entry_document`, with the current visibility in place of a published one. Slow for large entries."""
    document = entry_document(schema, configurations, tables, in_full=in_full)
    current = changed(document, ("visibility",), lambda _: to_jsonable_python(visibility_answer(visibility)))
    return orjson.dumps(current, option=orjson.OPT_SERIALIZE_NUMPY)


def entry_document(
    schema: bytes, configurations: bytes, tables: tuple[CountTable, ...] = (), *, in_full: bool
) -> dict[str, Any]:
    """The published document: with counts if `tables` are given, else the schema.

    Others than owners (`in_full`) read neither numbers of suppressed records nor, but as shares, measured utilities.
    """
    stored = with_statistics(decompress(schema))
    document: dict[str, Any] = (with_counts(stored, tables) if tables else without_counts(stored)) | decompress(
        configurations
    )
    if not tables:
        document = without(document, GENERATED_COUNTS)
    if not in_full:
        document = with_shares(without(document, SMALL_GROUPS))
    return document


def entry_head_json(head: Head, verdict: StoredVerdict | None, document: bytes) -> bytes:
    """The JSON of `wire.EntryHead`. The schema, which can be large, is JSON already."""
    judged = None if verdict is None else verdict_answer(verdict).model_dump()
    shown = head_answer(head).model_dump(mode="json")
    return orjson.dumps(shown | {"verdict": judged, "schema": orjson.Fragment(document)})
