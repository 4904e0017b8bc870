"""The view of an entry."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urlencode

from markupsafe import Markup

from aegis_sdk import wire
from app.entries.api.mapping import head_answer, verdict_answer
from app.entries.model.entries import Head, VersionMark
from app.entries.model.verdicts import StoredVerdict
from app.entries.pages.views.entry_index import EntryIndex
from app.entries.pages.views.entry_parts import ABOUT, ATTRIBUTES, CONFIGURATIONS, About, AttributeRow, ConfigurationRow
from app.entries.pages.views.entry_words import control_words, judged, visible_to
from app.pages.commands import Commands, aegis, curl
from app.pages.slices import Slice, read_part
from app.pages.viewers import Viewer


@dataclass(frozen=True, slots=True)
class EntryView:
    """An entry at a version, as the viewer may see it.

    Attributes:
        state: the state in forms that change the entry, so that nobody changes a state they have not seen.
        place: the address of the page.
        asked: the version in the address; None: the latest.
        shows_counts: whether the viewer may read the counts.
        is_own: whether the viewer may change the entry.
        may_sign_off: whether the viewer may sign this version off, as far as known here.
        verdict: the verdict on the counts; places of failures for owners only.
        verdict_words: the verdict in words.
        controls: the controls of the counts, in words.
    """

    head: wire.Head
    state: str
    place: str
    asked: int | None
    about: About
    attributes: Slice[AttributeRow]
    configurations: Slice[ConfigurationRow]
    versions: tuple[VersionMark, ...]
    seen_by: str
    shows_counts: bool
    is_own: bool
    may_sign_off: bool
    verdict: wire.Verdict | None
    verdict_words: str
    controls: tuple[str, ...]

    @property
    def title(self) -> str:
        """The title, or else the name."""
        return self.head.title or self.head.name

    @property
    def description(self) -> Markup:
        """The description of the table, as sanitised HTML."""
        return Markup(self.about.description)  # noqa: S704 -- `html_of` made it

    @property
    def is_latest(self) -> bool:
        """Whether this is the latest version that the viewer may see."""
        return not self.versions or self.head.version == self.versions[0].version

    def at(self, part: str = "", **query: object) -> str:
        """The address of this entry or a part of it, at the requested version."""
        return address(f"{self.place}{part}", {"version": self.asked, **query})


def entry_view(
    viewer: Viewer,
    head: Head,
    asked: int | None,
    index: EntryIndex,
    versions: Sequence[VersionMark],
    verdict: StoredVerdict | None,
    pages: tuple[int, int],
) -> EntryView:
    """The view of an entry.

    Args:
        head: the head as the viewer may see it.
        asked: the version in the address.
        index: the index of this version, as the viewer may see it.
        versions: the versions that the viewer may see.
        verdict: the verdict on this version.
        pages: the page numbers of attributes and configurations, from 1.
    """
    about, caller = read_part(index.about, ABOUT), viewer.caller
    shown = head_answer(head)
    return EntryView(
        head=shown,
        state=state_of(head),
        place=f"/entries/{head.id}",
        asked=asked,
        about=about,
        attributes=Slice.of(index.attributes, pages[0], about.attributes, ATTRIBUTES),
        configurations=Slice.of(index.configurations, pages[1], about.configurations, CONFIGURATIONS),
        versions=tuple(versions),
        seen_by=visible_to(shown.visibility),
        shows_counts=head.shows_counts_to(caller),
        is_own=head.belongs_to(caller),
        may_sign_off=_may_sign_off(viewer, head),
        verdict=None if verdict is None else verdict_answer(verdict),
        verdict_words=judged(verdict),
        controls=tuple(control_words(about.control)),
    )


def _may_sign_off(viewer: Viewer, head: Head) -> bool:
    caller = viewer.caller
    is_author = caller.subject is not None and head.published_by == caller.subject
    return head.awaits_sign_off and caller.may_sign_off and head.shows_counts_to(caller) and not is_author


def state_of(head: Head) -> str:
    """The state of an entry in forms: its version and visibility."""
    return sha256(repr((head.version, head.keyed_digest, head.visibility)).encode()).hexdigest()


def is_seen(state: str) -> Callable[[Head], bool]:
    """Whether an entry is unchanged since the page whose form has this `state_of`."""
    return lambda head: state_of(head) == state


def address(place: str, query: Mapping[str, object]) -> str:
    """An address with a query; None values are omitted."""
    asked = urlencode({name: value for name, value in query.items() if value is not None})
    return f"{place}?{asked}" if asked else place


def entry_commands(viewer: Viewer, view: EntryView) -> Commands:
    """Commands that read the entry, and those that change it."""
    head = view.head
    version = {} if view.asked is None else {"version": str(view.asked)}
    lines = [aegis("search", head.name)]
    if view.may_sign_off:
        lines.append(aegis("entries", "sign-off", head.id, "--version", str(head.version)))
    if view.is_own:
        lines += [aegis("entries", "visibility", head.id), aegis("entries", "delete", head.id)]
    calls = [curl(viewer, f"/v1/entries/{head.id}", version)]
    if view.shows_counts:
        calls.append(curl(viewer, f"/v1/entries/{head.id}/summaries", version))
    return Commands(tuple(lines), tuple(calls))
