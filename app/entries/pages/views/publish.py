"""Views for publishing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

import numpy as np

from aegis_sdk.reading import ACCEPT_UNIQUE, Alone, as_sentence
from app.entries.api.conditional import etag
from app.entries.api.mapping import verdict_answer
from app.entries.model.entries import AttributeOutline, Audience, Head, Publication, Visibility
from app.entries.model.verdicts import StoredVerdict
from app.entries.pages.document_places import Place
from app.entries.pages.drafts import Draft
from app.entries.pages.raw_tables import RawTableError
from app.entries.pages.views.entry import state_of
from app.entries.pages.views.entry_index import SOME_K
from app.entries.pages.views.entry_words import REASONS, judged
from app.entries.service.admission import refuse_unvouched
from app.entries.service.publishing import Terms
from app.entries.service.small_counts import SmallCounts, SmallCountsGate
from app.pages.commands import Commands, aegis, curl
from app.pages.viewers import Viewer
from app.platform.database.arrays import unpack
from app.platform.errors import Fault, InvalidDocumentError, RefusalError

#: The largest number of attributes and of places of a verdict on a page.
LISTED: Final = 50

#: The file types that `aegis release` reads.
_READABLE: Final = frozenset({".csv", ".tsv", ".txt", ".parquet", ".gz"})

_UNIQUE: Final = (
    "Many records are alone on all columns that a configuration shares. Mask more, or tick the box to publish it "
    "anyway."
)

#: Characters that a terminal or a page would not show unchanged.
_HIDDEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True, slots=True)
class FaultLine:
    """A fault with its place."""

    place: Place
    detail: str


@dataclass(frozen=True, slots=True)
class FindingLine:
    """A place that discloses small counts."""

    place: Place
    why: str
    cells: int


@dataclass(frozen=True, slots=True)
class VerdictView:
    """The verdict on an entry before publication.

    Attributes:
        outcome: `pass`, `fail` or `undecided`.
        findings: the first places that fail.
        left_out: the number of further ones.
        words: the text of a pass.
    """

    outcome: str
    findings: tuple[FindingLine, ...] = ()
    left_out: int = 0
    words: str = ""


@dataclass(frozen=True, slots=True)
class Review:
    """A checked entry file.

    Attributes:
        draft: the file and the decisions about it.
        packed: the file as a form field.
        publication: the resulting publication.
        verdict: the verdict on its counts.
        small_counts: places of small counts that are not accepted yet, or never; empty if they need no acceptance.
        gate: the service's treatment of these.
        terms: the requirements for its tenant's entries.
        replaces: the entry that gets a new version; None for a new entry.
        faults: the reasons why it may not be published here, apart from small counts.
        warnings: warnings for the provider, one sentence each.
        problem: why the last attempt failed.
        alone: its declared share of lone records.
    """

    draft: Draft
    packed: str
    publication: Publication
    verdict: VerdictView
    small_counts: tuple[FaultLine, ...]
    gate: SmallCountsGate
    terms: Terms
    replaces: Head | None
    alone: Alone
    faults: tuple[FaultLine, ...] = ()
    warnings: tuple[str, ...] = ()
    problem: RefusalError | None = None

    @property
    def is_unique(self) -> bool:
        """Whether too many records are alone in a configuration."""
        return self.alone.is_much(offered=True)

    @property
    def alone_in_words(self) -> str:
        """Its share of lone records, in words."""
        return as_sentence(self.alone.line(offered=True))

    @property
    def is_known(self) -> bool:
        """Whether the latest version has the same content."""
        return self.replaces is not None and self.replaces.digest == self.publication.content.digest

    @property
    def is_possible(self) -> bool:
        """Whether it may be published after the remaining decisions."""
        is_refused = bool(self.small_counts) and self.gate.rule is SmallCounts.REFUSE
        return not (self.is_known or self.faults or is_refused)

    @property
    def asks_for_small_counts(self) -> bool:
        """Whether small counts have to be accepted."""
        return bool(self.small_counts) and self.gate.rule is SmallCounts.CONFIRM

    @property
    def seen(self) -> str:
        """The state of the entry that it replaces."""
        return "" if self.replaces is None else state_of(self.replaces)

    @property
    def audience(self) -> str:
        """The audience of a new entry, as decided so far."""
        return self.draft.audience or self.publication.visibility.audience.value

    @property
    def tenants(self) -> str:
        """The tenants of the audience, as typed."""
        return self.draft.tenants or "\n".join(self.publication.visibility.tenants)

    @property
    def tenant_fault(self) -> str:
        """The fault in the tenants; empty if there is none."""
        faults = self.problem.faults if isinstance(self.problem, InvalidDocumentError) else ()
        return next((fault.detail for fault in faults if fault.pointer.startswith("/visibility/")), "")

    @property
    def demands_sign_off(self) -> bool:
        """Whether it needs a sign-off before others see it."""
        return self.terms.demands_sign_off if self.replaces is None else self.replaces.policy.demands_sign_off

    @property
    def is_shown_at_once(self) -> bool:
        """Whether others would see the new version at once."""
        is_private = self.replaces is None or self.replaces.visibility.audience is Audience.PRIVATE
        return not is_private and not self.demands_sign_off

    @property
    def who_sees(self) -> str:
        """The visibility of the entry that it replaces, in words."""
        return "" if self.replaces is None else audience_words(self.replaces.visibility)

    @property
    def attributes(self) -> Sequence[AttributeOutline]:
        """The first attributes."""
        return self.publication.content.outline[:LISTED]

    @property
    def more_attributes(self) -> int:
        """The number of further attributes."""
        return max(len(self.publication.content.outline) - LISTED, 0)

    @property
    def configurations(self) -> int:
        """The number of configurations."""
        return int(self.publication.content.configuration_table.codes.shape[0])

    def offers(self) -> list[tuple[int, int]]:
        """The number of configurations that promise some group sizes."""
        packed = self.publication.content.configuration_table.privacy.get("k")
        if packed is None:
            return []
        vouched = unpack(packed)
        return [(k, int(np.count_nonzero(vouched >= k))) for k in SOME_K]


def verdict_view(verdict: StoredVerdict | None, places: Sequence[Place]) -> VerdictView:
    """A verdict with the places of its first findings; None if there is none yet."""
    if verdict is None:
        return VerdictView("undecided")
    if verdict.passed:
        return VerdictView("pass", words=judged(verdict))
    findings = verdict_answer(verdict).findings
    is_decided = any(finding.reason != "undecided" for finding in findings)
    lines = tuple(
        FindingLine(place, REASONS.get(finding.reason, finding.reason), finding.cells)
        for finding, place in zip(findings, places, strict=False)
    )
    return VerdictView("fail" if is_decided else "undecided", lines, len(findings) - len(lines))


def refuse_unique(alone: Alone) -> None:
    """Refuse an entry whose share of lone records has to be accepted.

    Raises:
        InvalidDocumentError: too many records are alone in a configuration.
    """
    if alone.is_much(offered=True):
        raise InvalidDocumentError(_UNIQUE)


def unvouched_faults(publication: Publication, terms: Terms, replaces: Head | None) -> tuple[Fault, ...]:
    """The faults of an entry that does not promise the privacy required of its tenant's entries."""
    required = terms.required
    if replaces is not None:
        required = required.stricter_of(replaces.policy.required_privacy)
    try:
        refuse_unvouched(publication.content.configuration_table, required)
    except InvalidDocumentError as error:
        return error.faults
    return ()


def publish_commands(viewer: Viewer, review: Review) -> Commands:
    """Commands that publish the same file."""
    file = plain_name(review.draft.file).removesuffix(".gz") or "entry.json"
    words = ["--update"] * (review.replaces is not None)
    words += ["--accept-small-counts"] * bool(review.small_counts)
    words += [ACCEPT_UNIQUE] * review.is_unique
    asked = {"accept_small_counts": "true"} if review.small_counts else {}
    if review.replaces is None:
        return Commands((aegis("publish", file, *words),), (curl(viewer, "/v1/entries", asked, file=file),))
    place, state = f"/v1/entries/{review.replaces.id}", etag(review.replaces)
    return Commands(
        (aegis("publish", file, *words),), (curl(viewer, place, asked, method="PUT", file=file, replaces=state),)
    )


def upload_commands(viewer: Viewer) -> Commands:
    """Commands that publish a file."""
    return Commands((aegis("publish", "entry.json"),), (curl(viewer, "/v1/entries", file="entry.json"),))


def release_line(error: RawTableError) -> str:
    """The command that makes an entry from a table, on the provider's machine."""
    name = plain_name(error.file) or "TABLE.csv"
    if is_readable(error):
        return aegis("release", name, "--label", "LABEL", "--require", "k=5", "--output", "release")
    name = f"{PurePath(name).stem or 'TABLE'}.csv"
    return aegis("release", name, "--label", "LABEL", "--require", "k=5", "--output", "release")


def is_readable(error: RawTableError) -> bool:
    """Whether `aegis release` reads such files."""
    return PurePath(error.file).suffix.lower() in _READABLE


def plain_name(file: str) -> str:
    """The name of a file as an argument of a command: without folders, not an option; empty if it has hidden
    characters.
    """
    name = file.replace("\\", "/").rpartition("/")[2]
    if _HIDDEN.search(name):
        return ""
    return f"./{name}" if name.startswith("-") else name


def audience_words(visibility: Visibility) -> str:
    """The visibility of an entry, in words."""
    if visibility.audience is Audience.ALL:
        return "everyone who uses this service"
    if visibility.audience is Audience.TENANTS:
        return f"your own tenant and {', '.join(visibility.tenants)}"
    return "your own tenant"
