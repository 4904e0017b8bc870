"""Views of the pages of an entry: the entry, one attribute, one configuration, and counts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urlencode

import markupsafe
from numpy.typing import NDArray

from aegis_advisor.evidence import ControlContent
from aegis_sdk import wire
from aegis_sdk.charts import Markup, category_bars, rendered
from aegis_sdk.reading import few_in_words, number, seen_by, small_counts
from app.entries.api.mapping import head_answer, verdict_answer
from app.entries.model.entries import CountKind, CountTable, Head, StoredVerdict, VersionMark
from app.entries.pages.entry_index import (
    ABOUT,
    ATTRIBUTES,
    CONFIGURATIONS,
    MASKINGS,
    NAMES,
    WHOLE,
    About,
    AttributeRow,
    ConfigurationRow,
    EntryIndex,
    MaskedValues,
    WholeAttribute,
    maskings_per_part,
)
from app.pages.commands import Commands, aegis, curl
from app.pages.slices import PER_PAGE, Slice, read_part
from app.pages.viewers import Viewer
from app.pages.words import count
from app.platform.database.arrays import unpack
from app.platform.errors import NotFoundError

_PASSED: Final = (
    "No exact count of {} is shown by a table, follows from all tables together, or has a probability above 0.9{}."
)
_FAILED: Final = "Counts of {}, which can be about single persons, may be read from the published counts."
_WAITING: Final = "The verdict on the counts is pending. Do not rely on them before it."

#: The reasons why a place fails.
REASONS: Final[Mapping[str, str]] = {
    "shown": "shown by a table",
    "certain": "certain from several tables together",
    "likely": "known with a probability above 0.9",
    "undecided": "not decided",
}

#: Promises of configurations: the criterion in words, and whether the number is a lower or an upper limit.
CRITERIA: Final = {
    "k": "at least this many records look alike",
    "l": "at least this many sensitive values in each class",
    "entropy_l": "sensitive values as varied as this many equally frequent ones",
    "t": "sensitive values of each class this near to the table's, by equal distance",
    "ordered_t": "the same, by ordered distance",
    "alpha": "no sensitive value has more than this share of a class",
    "beta": "no sensitive value is more than 1 + this many times as frequent in a class",
    "delta_disclosure": "frequencies of sensitive values within a factor exp of this",
    "epsilon": "differential privacy of the release",
    "reidentification": "an attacker re-identifies at most this share of people",
    "attribute_disclosure": "an attacker guesses a secret of at most this share of people",
    "membership": "an attacker tells members from others with at most this area under the curve",
}

#: The words that differ where privacy counts people.
OF_PEOPLE: Final = {
    "k": "at least this many people look alike",
    "l": "at least this many sensitive values among the people of each class",
    "alpha": "no sensitive value is that of more than this share of a class's people",
    "beta": "no sensitive value is 1 + this many times as frequent among a class's people",
}

#: Rows on a page of a domain, a configuration or joint counts, and the most maskings or classes beside them.
ROWS, COLUMNS, CLASSES = 100, 6, 12

#: The name of the counts of the unmasked attribute in addresses.
UNMASKED = ""


def judged(verdict: StoredVerdict | None) -> str:
    """A verdict in words."""
    if verdict is None:
        return _WAITING
    told = verdict_answer(verdict)
    return (_PASSED if verdict.passed else _FAILED).format(small_counts(told), few_in_words(told))


def control_words(control: ControlContent) -> Iterator[str]:
    """A sentence for each control of the counts."""
    base, least = control.rounded_to, control.min_cell
    if least is not None:
        yield f"Minimum cell: no count but 0 is below {count(least)}; rare values were merged or their tables rounded."
    if base is not None:
        once = " once, so that all tables agree with each other" if control.rounding else ""
        yield f"Rounding: every count was rounded up or down at random to a multiple of {count(base)}{once}."
    if (epsilon := control.epsilon) is not None:
        split = {"equal": " in equal parts", "cube_root": " by the cube root of their cells"}.get(
            control.split or "", ""
        )
        yield f"Noise: differential privacy with epsilon {number(epsilon)}, split over the tables{split}."
    if control.open_answers:
        yield "Open answers: everyone who sees the entry gets full answers about it."


@dataclass(frozen=True, slots=True)
class EntryPage:
    """A page about an entry or a part of it; `asked`: the version in its address, None for the latest."""

    head: Head | wire.Head
    asked: int | None

    @property
    def title(self) -> str:
        """The title of the entry, or else its name."""
        return self.head.title or self.head.name

    @property
    def place(self) -> str:
        """The address of the entry."""
        return f"/entries/{self.head.id}"

    def at(self, part: str = "", **query: object) -> str:
        """The address of the entry or a part of it, at the requested version; parameters of None are omitted."""
        given = {"version": self.asked, **query}
        asked = urlencode({name: value for name, value in given.items() if value is not None})
        return f"{self.place}{part}?{asked}" if asked else f"{self.place}{part}"


@dataclass(frozen=True, slots=True)
class EntryView(EntryPage):
    """An entry at a version, as the viewer may see it.

    Attributes:
        state: the state in forms that change the entry, so that nobody changes a state they have not seen.
        description: the description of the table, as sanitised HTML.
        is_latest: whether this is the latest version that the viewer may see.
        may_sign_off: whether the viewer may sign this version off, as far as known here.
    """

    head: wire.Head
    state: str
    description: markupsafe.Markup
    about: About
    attributes: Slice[AttributeRow]
    configurations: Slice[ConfigurationRow]
    versions: tuple[VersionMark, ...]
    is_latest: bool
    seen_by: str
    shows_counts: bool
    is_own: bool
    may_sign_off: bool
    verdict: wire.Verdict | None
    verdict_words: str
    controls: tuple[str, ...]
    preview: wire.Preview | None = None


def entry_view(
    viewer: Viewer,
    head: Head,
    asked: int | None,
    index: EntryIndex,
    versions: Sequence[VersionMark],
    verdict: StoredVerdict | None,
    pages: tuple[int, int],
) -> EntryView:
    """The view of an entry at the version `asked` for; `pages`: of its attributes and configurations, from 1."""
    about, caller = read_part(index.about, ABOUT), viewer.caller
    shown = head_answer(head)
    is_author = caller.subject is not None and head.published_by == caller.subject
    may_sign_off = head.awaits_sign_off and caller.may_sign_off and head.shows_counts_to(caller) and not is_author
    return EntryView(
        head=shown,
        state=state_of(head),
        description=markupsafe.Markup(about.description),  # noqa: S704 -- `html_of` made it
        asked=asked,
        about=about,
        attributes=Slice.of(index.attributes, pages[0], about.attributes, ATTRIBUTES),
        configurations=Slice.of(index.configurations, pages[1], about.configurations, CONFIGURATIONS),
        versions=tuple(versions),
        is_latest=not versions or head.version == versions[0].version,
        seen_by="everyone who uses this service" if shown.visibility == "all" else seen_by(shown.visibility),
        shows_counts=head.shows_counts_to(caller),
        is_own=head.belongs_to(caller),
        may_sign_off=may_sign_off,
        verdict=None if verdict is None else verdict_answer(verdict),
        verdict_words=judged(verdict),
        controls=tuple(control_words(about.control)),
    )


def state_of(head: Head) -> str:
    """The state of an entry in forms: its version and visibility."""
    return sha256(repr((head.version, head.keyed_digest, head.visibility)).encode()).hexdigest()


def is_seen(state: str) -> Callable[[Head], bool]:
    """Whether an entry is unchanged since the page whose form has this `state_of`."""
    return lambda head: state_of(head) == state


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
    if view.preview is not None:
        chosen = view.preview.configuration
        lines.append(aegis("entries", "preview", head.id, "--configuration", chosen, "--to", "preview"))
        calls.append(curl(viewer, f"/v1/entries/{head.id}/preview", {"configuration": chosen} | version))
    if view.shows_counts:
        calls.append(curl(viewer, f"/v1/entries/{head.id}/summaries", version))
    return Commands(tuple(lines), tuple(calls))


@dataclass(frozen=True, slots=True)
class AttributeView(EntryPage):
    """An attribute: a page of its values with their masked values by the maskings in `mapped`; `drawn`: the others."""

    row: AttributeRow
    values: Slice[tuple[str, ...]]
    mapped: tuple[str, ...]
    more_mapped: int
    drawn: tuple[MaskedValues, ...]


@dataclass(frozen=True, slots=True)
class ConfigurationView(EntryPage):
    """A configuration: a page of its attributes, each with its masking."""

    row: ConfigurationRow
    maskings: Slice[tuple[str, str]]


def whole_attribute(index: EntryIndex, name: str) -> WholeAttribute:
    """An attribute by its name (NotFoundError: there is none)."""
    names = read_part(index.names, NAMES)
    if name not in names:
        raise NotFoundError(f"The entry has no attribute {name!r}.")
    return read_part(index.wholes[names.index(name)], WHOLE)


def attribute_view(head: Head, asked: int | None, whole: WholeAttribute, number: int) -> AttributeView:
    """The view of an attribute, with one page of its domain."""
    mapped = [masking for masking in whole.maskings if masking.mapping is not None]
    shown = mapped[:COLUMNS]
    places: Slice[int] = Slice.cut(range(len(whole.domain)), number, ROWS)
    maps = [(masking.domain, masking.mapping) for masking in shown if masking.mapping is not None]
    rows = tuple((whole.domain[place], *(domain[mapping[place]] for domain, mapping in maps)) for place in places.rows)
    return AttributeView(
        head=head,
        asked=asked,
        row=whole.row,
        values=Slice(rows, places.number, places.pages, places.total, places.start),
        mapped=tuple(masking.id for masking in shown),
        more_mapped=len(mapped) - len(shown),
        drawn=tuple(masking for masking in whole.maskings if masking.mapping is None),
    )


def configuration_view(head: Head, asked: int | None, index: EntryIndex, place: int, number: int) -> ConfigurationView:
    """The view of the configuration at a place (NotFoundError: there is none)."""
    about, (page, at) = read_part(index.about, ABOUT), divmod(place, PER_PAGE)
    if place >= about.configurations:
        raise NotFoundError(f"The entry has no configuration at place {place}.")
    row = read_part(index.configurations[page], CONFIGURATIONS)[at]
    maskings: Sequence[tuple[str, str]] = row.maskings
    if index.maskings and not row.method:
        part, within = divmod(place, maskings_per_part(about.attributes))
        names, own = read_part(index.names, NAMES), read_part(index.maskings[part], MASKINGS)[within]
        maskings = list(zip(names, own, strict=True))
    return ConfigurationView(head, asked, row, Slice.cut(maskings, number, ROWS))


def part_commands(viewer: Viewer, head: Head, asked: int | None, part: str = "") -> Commands:
    """Commands that read the entry; `part`: the end of the API's address."""
    version: Mapping[str, str] = {} if asked is None else {"version": str(asked)}
    return Commands((aegis("search", head.name),), (curl(viewer, f"/v1/entries/{head.id}{part}", version),))


@dataclass(frozen=True, slots=True)
class CountsView(EntryPage):
    """The counts of a label, and of a chosen attribute with it.

    Attributes:
        name: the label.
        others: all labels that may be chosen; empty if that is one.
        counted: the masking ids of the attribute's tables of counts (`UNMASKED`: none).
        chart: records by (masked) value.
        joint: a page of the values with their records by class; empty without joint counts.
        classes: the first classes; `more_classes`: the number of further ones.
    """

    name: str
    others: tuple[str, ...]
    label: Markup
    attribute: WholeAttribute | None = None
    counted: tuple[str, ...] = ()
    chosen: str = UNMASKED
    chart: Markup | None = None
    joint: Slice[tuple[str, tuple[int, ...]]] | None = None
    classes: tuple[str, ...] = ()
    more_classes: int = 0


def counted_label(head: Head, asked: str, whole: WholeAttribute | None) -> str:
    """The label whose counts are shown: the one asked for, or the default one with its own counts.

    Raises:
        NotFoundError: the entry has no such label.
    """
    if asked and asked not in head.labels and asked != head.label:
        raise NotFoundError(f"The entry has no label {asked!r}.")
    return head.label if not asked or (whole is not None and whole.row.name == asked) else asked


def counts_view(
    head: Head,
    asked: int | None,
    name: str,
    classes: Sequence[str],
    whole: WholeAttribute | None,
    tables: Sequence[CountTable],
    masking: str | None,
    number: int,
) -> CountsView:
    """The view of counts: page `number` of the values by a masking, by default the first masking with counts."""
    label = next(unpack(table.counts) for table in tables if table.kind is CountKind.LABEL_HISTOGRAM)
    chart = _chart("label", f"Records by {name}", classes, label)
    own = None if whole is None else whole.row.name
    others = tuple(one for one in head.labels if one != own)
    labels = (name, others if len(others) > 1 else ())
    if whole is None:
        return CountsView(head, asked, *labels, chart)
    counted = _counted(whole, tables)
    chosen = masking if masking is not None and masking in counted else next(iter(counted), UNMASKED)
    if chosen not in counted:
        return CountsView(head, asked, *labels, chart, whole)
    values = next((row.domain for row in whole.maskings if row.id == chosen), whole.domain)
    counts = counted[chosen]
    records = counts if counts.ndim == 1 else counts.sum(axis=1)
    title = f"Records by {whole.row.name}" + (f", masked by {chosen}" if chosen else "")
    return CountsView(
        head,
        asked,
        *labels,
        chart,
        whole,
        tuple(counted),
        chosen,
        _chart("attribute", title, values, records),
        None if counts.ndim == 1 else _joint(values, counts, number),
        tuple(classes[:CLASSES]),
        max(len(label) - CLASSES, 0),
    )


def _chart(name: str, title: str, values: Sequence[str], counts: NDArray[Any]) -> Markup:
    named = [*values, *(f"class {place + 1}" for place in range(len(values), len(counts)))]
    return rendered(category_bars(name, title, list(zip(named, counts.tolist(), strict=True))))


def _counted(whole: WholeAttribute, tables: Sequence[CountTable]) -> Mapping[str, NDArray[Any]]:
    """The counts of an attribute by masking; joint counts rather than a histogram."""
    counts: dict[str, NDArray[Any]] = {}
    for table in sorted(tables, key=lambda table: (-1 if table.masking is None else table.masking, table.kind)):
        if table.kind in (CountKind.HISTOGRAM, CountKind.JOINT):
            counts[UNMASKED] = unpack(table.counts)
        elif table.kind is CountKind.MASKED_JOINT and table.masking is not None:
            counts[whole.maskings[table.masking].id] = unpack(table.counts)
    return counts


def _joint(values: Sequence[str], counts: NDArray[Any], number: int) -> Slice[tuple[str, tuple[int, ...]]]:
    places: Slice[int] = Slice.cut(range(len(values)), number, ROWS)
    shown = counts[:, :CLASSES]
    rows = tuple((values[place], tuple(shown[place].tolist())) for place in places.rows)
    return Slice(rows, places.number, places.pages, places.total, places.start)
