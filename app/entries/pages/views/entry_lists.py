"""Views of one attribute, one configuration, and common parts of pages about parts of an entry."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.entries.model.entries import Head
from app.entries.pages.views.entry import address
from app.entries.pages.views.entry_index import EntryIndex, maskings_per_part
from app.entries.pages.views.entry_parts import (
    ABOUT,
    CONFIGURATIONS,
    MASKINGS,
    NAMES,
    WHOLE,
    AttributeRow,
    ConfigurationRow,
    MaskedDomain,
    WholeAttribute,
)
from app.pages.commands import Commands, aegis, curl
from app.pages.slices import PER_PAGE, Slice, read_part
from app.pages.viewers import Viewer
from app.platform.errors import NotFoundError

#: Rows on a page of a domain or a configuration, and the largest number of maskings beside a domain.
ROWS, COLUMNS = 100, 6


@dataclass(frozen=True, slots=True)
class PartPage:
    """A page about a part of an entry: its entry and its address."""

    title: str
    place: str
    asked: int | None

    @classmethod
    def of(cls, head: Head, asked: int | None) -> "PartPage":
        """The page about a part of the entry with this head."""
        return cls(head.title or head.name, f"/entries/{head.id}", asked)

    def at(self, part: str = "", **query: object) -> str:
        """The address of the entry or a part of it, at the requested version."""
        return address(f"{self.place}{part}", {"version": self.asked, **query})


@dataclass(frozen=True, slots=True)
class AttributeView:
    """An attribute: its values with their masked values by mapping.

    Attributes:
        values: a page of the domain: each value with its masked values by the maskings of `mapped`.
        mapped: the first maskings with a mapping.
        drawn: the other maskings, with the beginning of their domains.
    """

    entry: PartPage
    row: AttributeRow
    values: Slice[tuple[str, ...]]
    mapped: tuple[str, ...]
    more_mapped: int
    drawn: tuple[MaskedDomain, ...]


@dataclass(frozen=True, slots=True)
class ConfigurationView:
    """A configuration: a page of its attributes, each with its masking."""

    entry: PartPage
    row: ConfigurationRow
    maskings: Slice[tuple[str, str]]


def whole_attribute(index: EntryIndex, name: str) -> WholeAttribute:
    """An attribute by its name.

    Raises:
        NotFoundError: there is no such attribute.
    """
    names = read_part(index.names, NAMES)
    if name not in names:
        raise NotFoundError(f"The entry has no attribute {name!r}.")
    return read_part(index.wholes[names.index(name)], WHOLE)


def attribute_view(head: Head, asked: int | None, whole: WholeAttribute, number: int) -> AttributeView:
    """The view of an attribute, with one page of its domain."""
    mapped = [masking for masking in whole.maskings if masking.mapping is not None]
    shown = mapped[:COLUMNS]
    places: Slice[int] = Slice.cut(range(len(whole.domain)), number, ROWS)
    rows = tuple(tuple(_masked(whole, shown, place)) for place in places.rows)
    return AttributeView(
        entry=PartPage.of(head, asked),
        row=whole.row,
        values=Slice(rows, places.number, places.pages, places.total, places.start),
        mapped=tuple(masking.id for masking in shown),
        more_mapped=len(mapped) - len(shown),
        drawn=tuple(masking for masking in whole.maskings if masking.mapping is None),
    )


def _masked(whole: WholeAttribute, maskings: Sequence[MaskedDomain], place: int) -> Iterator[str]:
    yield whole.domain[place]
    for masking in maskings:
        yield masking.domain[masking.mapping[place]] if masking.mapping is not None else ""


def configuration_view(head: Head, asked: int | None, index: EntryIndex, place: int, number: int) -> ConfigurationView:
    """The view of the configuration at a place.

    Raises:
        NotFoundError: there is no configuration at this place.
    """
    about, (page, at) = read_part(index.about, ABOUT), divmod(place, PER_PAGE)
    if place >= about.configurations:
        raise NotFoundError(f"The entry has no configuration at place {place}.")
    row = read_part(index.configurations[page], CONFIGURATIONS)[at]
    maskings: Sequence[tuple[str, str]] = row.maskings
    if index.maskings and not row.method:
        part, within = divmod(place, maskings_per_part(about.attributes))
        names, own = read_part(index.names, NAMES), read_part(index.maskings[part], MASKINGS)[within]
        maskings = list(zip(names, own, strict=True))
    return ConfigurationView(PartPage.of(head, asked), row, Slice.cut(maskings, number, ROWS))


def part_commands(viewer: Viewer, head: Head, asked: int | None, part: str = "") -> Commands:
    """Commands that read the entry; `part`: the end of the API's address."""
    version: Mapping[str, str] = {} if asked is None else {"version": str(asked)}
    return Commands((aegis("search", head.name),), (curl(viewer, f"/v1/entries/{head.id}{part}", version),))
