"""The review of an entry file before publication. Nothing is stored."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

import numpy as np
from anyio import to_thread

from aegis_sdk.reading import ACCEPT_UNIQUE, Alone, as_sentence
from aegis_sdk.wire import FAULTS_SHOWN
from app.edge.state import State, services_of
from app.entries.api.mapping import verdict_answer
from app.entries.api.parameters import etag
from app.entries.api.uploads import judge_in, read_publication_in, run_patiently
from app.entries.model.documents import decompress
from app.entries.model.entries import AttributeOutline, Audience, Content, Head, Publication, StoredVerdict, Visibility
from app.entries.pages.document_places import Place, places_in
from app.entries.pages.entry_index import SOME_K
from app.entries.pages.entry_views import REASONS, judged, state_of
from app.entries.pages.upload import Draft, RawTableError
from app.entries.service.admission import SmallCounts, SmallCountsGate, refuse_unvouched
from app.entries.service.catalogue import Terms
from app.pages.commands import Commands, aegis, curl
from app.pages.viewers import Viewer
from app.platform.database.arrays import unpack
from app.platform.errors import Fault, InvalidDocumentError, RefusalError
from app.tenants.model import TenantPolicy

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


async def review_of(state: State, viewer: Viewer, draft: Draft, problem: RefusalError | None = None) -> Review:
    """The resulting publication of a file, and the remaining decisions.

    Raises:
        MalformedRequestError: it is not JSON.
        InvalidDocumentError: it is not an entry, or this service does not accept it.
        NotFoundError: the entry for the new version is gone.
    """
    tenant = viewer.caller.tenant
    publication = await read_publication_in(state.checking, tenant, draft.document, state.policy)
    async with state.database.transaction() as session:
        catalogue = services_of(state, session).catalogue()
        terms = await catalogue.terms(viewer.caller, publication.name, state.admission)
        replaces = terms.named
        if draft.entry_id:
            replaces = await catalogue.own_head(viewer.caller, draft.entry_id)
            _refuse_other_name(publication, replaces)
    verdict = await judge_in(state.checking, tenant, publication.content, len(draft.document))
    return await _review(state, viewer, draft, publication, terms, replaces, verdict, problem)


async def _review(
    state: State,
    viewer: Viewer,
    draft: Draft,
    publication: Publication,
    terms: Terms,
    replaces: Head | None,
    verdict: StoredVerdict | None,
    problem: RefusalError | None,
) -> Review:
    gate = state.admission.small_counts
    is_known = replaces is not None and replaces.digest == publication.content.digest
    small = () if is_known or gate.rule is SmallCounts.ACCEPT else publication.small_counts
    unvouched = () if is_known else unvouched_faults(publication, terms, replaces)
    findings = [finding.pointer for finding in (verdict_answer(verdict).findings if verdict else [])[:LISTED]]
    pointers = [fault.pointer for fault in (*small, *unvouched)] + findings
    places = iter(await places_of(state, viewer, draft.document, pointers))
    return Review(
        draft=draft,
        packed=await to_thread.run_sync(draft.packed),
        publication=publication,
        small_counts=_lines(small, places),
        faults=_lines(unvouched, places),
        verdict=verdict_view(verdict, list(places)),
        gate=gate,
        terms=terms,
        replaces=replaces,
        alone=await to_thread.run_sync(alone_in, publication.content),
        warnings=() if is_known or unvouched else _warnings(state, publication, terms),
        problem=problem,
    )


def alone_in(content: Content) -> Alone:
    """The declared shares of lone records in the configurations of an entry. Slow for large entries."""
    return Alone.of(decompress(content.schema) | decompress(content.configurations))


def _warnings(state: State, publication: Publication, terms: Terms) -> tuple[str, ...]:
    """Warnings for the provider about the sign-off and small counts that must be accepted."""
    is_asked = state.admission.small_counts.rule is not SmallCounts.ACCEPT
    admission = state.admission.confirmed(is_confirmed=is_asked)
    return tuple(admission.warnings(publication, TenantPolicy(terms.required)))


async def fault_lines(
    state: State, viewer: Viewer, document: bytes, error: InvalidDocumentError
) -> tuple[FaultLine, ...]:
    """The first faults of a file, with their places."""
    faults = error.faults[:FAULTS_SHOWN]
    places = await places_of(state, viewer, document, [fault.pointer for fault in faults])
    return _lines(faults, iter(places))


async def places_of(state: State, viewer: Viewer, document: bytes, pointers: Sequence[str]) -> list[Place]:
    """The places of pointers; the pointers alone if that takes longer than people wait."""
    if not pointers:
        return []
    tenant = viewer.caller.tenant
    places = await run_patiently(state.checking, tenant, places_in, document, pointers, size=len(document))
    return places or [Place(pointer) for pointer in pointers]


def _refuse_other_name(publication: Publication, head: Head) -> None:
    if publication.name != head.name:
        fault = Fault("/name", f"The name must stay {head.name!r}.")
        raise InvalidDocumentError("A version cannot rename its entry.", (fault,))


def _lines(faults: Iterable[Fault], places: Iterable[Place]) -> tuple[FaultLine, ...]:
    return tuple(FaultLine(place, fault.detail) for fault, place in zip(faults, places, strict=False))
