"""What the page of an entry shows."""

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
    """An entry at a version, as its reader may see it.

    Attributes:
        state: what changes of this entry name, so that nobody changes what they have not seen.
        place: the address of the page.
        asked: the version in the address; None: the latest.
        shows_counts: whether the reader may read the counts.
        is_own: whether the reader may change the entry.
        may_sign_off: whether the reader may sign this version off, as far as this page can tell.
        verdict: on the counts; where it fails, for owners only.
        verdict_words: what it says.
        controls: what was done to the counts, in words.
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
        """What people call it."""
        return self.head.title or self.head.name

    @property
    def description(self) -> Markup:
        """What the table is, as sanitised HTML."""
        return Markup(self.about.description)  # noqa: S704 -- `html_of` made it

    @property
    def is_latest(self) -> bool:
        """Whether this is the latest version that the reader may see."""
        return not self.versions or self.head.version == self.versions[0].version

    def at(self, part: str = "", **query: object) -> str:
        """The address of this entry, or a part of it, at the version that was asked for."""
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
        viewer: who looks.
        head: the entry's, as the viewer may see it.
        asked: the version in the address.
        index: of this version, as the viewer may see it.
        versions: those that the viewer may see.
        verdict: on this version.
        pages: which of the attributes and which of the configurations, from 1.
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
    """What a change of an entry names: the version and who sees it."""
    return sha256(repr((head.version, head.keyed_digest, head.visibility)).encode()).hexdigest()


def is_seen(state: str) -> Callable[[Head], bool]:
    """Whether an entry is still as it was on the page whose form has sent this `state_of` it."""
    return lambda head: state_of(head) == state


def address(place: str, query: Mapping[str, object]) -> str:
    """A place with a query, without what is None."""
    asked = urlencode({name: value for name, value in query.items() if value is not None})
    return f"{place}?{asked}" if asked else place


def entry_commands(viewer: Viewer, view: EntryView) -> Commands:
    """The lines that read the same, and those that change it."""
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
