"""What a listing searches for, and what searches read of each version."""

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, delete, exists, func, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.catalog.tables import EntryRow, OfferedPrivacyRow, SearchedVersionRow
from app.domain.entries import Content
from app.domain.required_privacy import NOTHING_REQUIRED, RequiredPrivacy

_TRIGRAM = 3
_WILDCARD = re.compile(r"[\\%_]")
_FACETS = ("keyword", "label", "attribute", "license")


@dataclass(frozen=True, slots=True)
class Search:
    """The search criteria of a listing, all of which an entry meets; None for a criterion that is not used.

    Attributes:
        query: words, separated by blanks; each is a part of the name, the title or a keyword, in any case.
        keyword: a whole keyword.
        label: the whole name of the label.
        attribute: the whole name of an attribute.
        license: the whole licence.
        required: what at least one configuration vouches for.
    """

    query: str | None = None
    keyword: str | None = None
    label: str | None = None
    attribute: str | None = None
    license: str | None = None
    required: RequiredPrivacy = NOTHING_REQUIRED

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the query, each once."""
        return tuple(dict.fromkeys((self.query or "").split()))

    @property
    def facets(self) -> list[str]:
        """What an entry must have in full, as `SearchedVersionRow` has it."""
        asked = ((name, getattr(self, name)) for name in _FACETS)
        return [_facet(name, text) for name, text in asked if text is not None]


def conditions_of(search: Search) -> Iterator[ColumnElement[bool]]:
    """The conditions that the `SearchedVersionRow` of a version meets if the search finds it; none for no criteria."""
    for word in search.words:
        yield from _has_word(word)
    if search.facets:
        yield SearchedVersionRow.facets.contains(search.facets)
    for criterion, limit in search.required.at_least.items():
        yield _offers(criterion, OfferedPrivacyRow.highest >= limit)
    for criterion, limit in search.required.at_most.items():
        yield _offers(criterion, OfferedPrivacyRow.lowest <= limit)


def _has_word(word: str) -> Iterator[ColumnElement[bool]]:
    text, escaped = SearchedVersionRow.text, _WILDCARD.sub(r"\\\g<0>", word)
    yield text.like(func.lower(f"%{escaped}%"))
    if len(word) >= _TRIGRAM:
        # Implied by the condition above, but there is an index for it.
        yield func.trigrams(text).op("@>", is_comparison=True)(func.trigrams(func.lower(word)))


def _offers(criterion: str, enough: ColumnElement[bool]) -> ColumnElement[bool]:
    is_of_version = OfferedPrivacyRow.version_id == SearchedVersionRow.version_id
    return exists().where(is_of_version, OfferedPrivacyRow.criterion == criterion, enough)


async def add_searched(session: AsyncSession, entry_id: uuid.UUID, version: int, version_id: int, c: Content) -> None:
    """Store what searches read of a version."""
    name = select(EntryRow.name).where(EntryRow.id == entry_id).scalar_subquery()
    # Neither names nor words have line breaks, so that no word is found across two of them.
    joined = func.concat_ws("\n", name, c.title, *c.keywords)
    row: dict[str, Any] = {"version_id": version_id, "entry_id": entry_id, "version": version}
    row |= {"text": func.lower(joined), "facets": _facets_of(c)}
    await session.execute(insert(SearchedVersionRow).values(row))
    if c.offered:
        offered = [
            {"version_id": version_id, "criterion": criterion, "lowest": lowest, "highest": highest}
            for criterion, (lowest, highest) in c.offered.items()
        ]
        await session.execute(insert(OfferedPrivacyRow), offered)


async def delete_superseded(session: AsyncSession, entry_id: uuid.UUID) -> None:
    """Delete what searches read of versions that no listing shows any more."""
    shown = select(func.coalesce(EntryRow.released_version, EntryRow.latest_version)).where(EntryRow.id == entry_id)
    is_before = SearchedVersionRow.version < shown.scalar_subquery()
    await session.execute(delete(SearchedVersionRow).where(SearchedVersionRow.entry_id == entry_id, is_before))


def _facets_of(content: Content) -> list[str]:
    keywords = [_facet("keyword", keyword) for keyword in content.keywords]
    attributes = [_facet("attribute", attribute.name) for attribute in content.outline]
    return [*keywords, *attributes, _facet("label", content.label), _facet("license", content.license)]


def _facet(name: str, text: str) -> str:
    return f"{name}:{text}"
