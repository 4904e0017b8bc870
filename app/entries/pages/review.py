"""The review of an entry file before publication. Nothing is stored."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

import numpy as np
from anyio import to_thread

from aegis_sdk.reading import ACCEPT_UNIQUE, Alone, as_sentence, small_counts
from app.edge.state import State, services_of
from app.entries.api.mapping import verdict_answer
from app.entries.api.parameters import etag
from app.entries.api.uploads import JUDGING_SECONDS, read_publication_in, run_patiently
from app.entries.model.documents import decompress
from app.entries.model.entries import Audience, Content, Head, Publication, StoredVerdict
from app.entries.pages.document_places import DocumentPlace, places_in
from app.entries.pages.entry_index import SOME_K
from app.entries.pages.entry_views import REASONS, judged, state_of
from app.entries.pages.upload import Draft
from app.entries.service.admission import SmallCounts, unvouched_faults
from app.entries.service.catalogue import TenantTerms, refuse_other_name
from app.entries.service.publications import VerdictInput, compute_verdict
from app.pages.commands import Commands, aegis, curl
from app.pages.viewers import Viewer
from app.platform.database.arrays import unpack
from app.platform.errors import InvalidDocumentError, RefusalError
from app.tenants.model import TenantPolicy

#: The largest number of attributes and of places of a verdict on a page.
LISTED: Final = 50

#: The file types that `aegis release` reads.
READABLE: Final = frozenset({".csv", ".tsv", ".txt", ".parquet", ".gz"})

#: Characters that a terminal or a page would not show unchanged.
_HIDDEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True, slots=True)
class FaultLine:
    """A fault with its place."""

    place: DocumentPlace
    detail: str


@dataclass(frozen=True, slots=True)
class FindingLine:
    """A place that discloses small counts."""

    place: DocumentPlace
    why: str
    cells: int


@dataclass(frozen=True, slots=True)
class VerdictView:
    """The verdict before publication (`pass`, `fail`, `undecided`); `left_out`: how many findings are not shown."""

    outcome: str
    findings: tuple[FindingLine, ...] = ()
    left_out: int = 0
    words: str = ""


@dataclass(frozen=True, slots=True)
class Review:
    """A checked entry file.

    Attributes:
        packed: the file as a form field.
        seen: the state of that entry; empty for a new one.
        small_counts: places of small counts that are not accepted yet, or never; empty if they need no acceptance.
        small: which counts are small, in words; `unit`: what its privacy counts, `records` or `people`.
        alone: its declared share of lone ones, in words; `is_unique`: whether too many records are alone.
        is_known: whether the latest version has the same content.
        is_possible: whether it may be published after the remaining decisions.
        offers: the number of configurations that promise some group sizes.
    """

    draft: Draft
    packed: str
    publication: Publication
    replaces: Head | None
    seen: str
    tenant: str
    verdict: VerdictView
    small_counts: tuple[FaultLine, ...]
    faults: tuple[FaultLine, ...]
    warnings: tuple[str, ...]
    problem: RefusalError | None
    small: str
    unit: str
    alone: str
    is_unique: bool
    is_known: bool
    is_possible: bool
    asks_for_small_counts: bool
    demands_sign_off: bool
    offers: tuple[tuple[int, int], ...]

    @property
    def tenant_fault(self) -> str:
        """The fault in the tenants of the audience; empty if there is none."""
        faults = self.problem.faults if isinstance(self.problem, InvalidDocumentError) else ()
        return next((fault.detail for fault in faults if fault.pointer.startswith("/visibility/")), "")

    @property
    def who_sees(self) -> str:
        """The visibility of the entry that it replaces, in words."""
        visibility = None if self.replaces is None else self.replaces.visibility
        if visibility is None or visibility.audience is Audience.PRIVATE:
            return "your own tenant"
        if visibility.audience is Audience.ALL:
            return "everyone who uses this service"
        return f"your own tenant and {', '.join(visibility.tenants)}"


async def review_of(state: State, viewer: Viewer, draft: Draft, problem: RefusalError | None = None) -> Review:
    """The resulting publication of a file, and the remaining decisions.

    Raises:
        MalformedRequestError: it is not JSON.
        InvalidDocumentError: it is not an entry, or this service does not accept it.
        NotFoundError: the entry for the new version is gone.
    """
    tenant, gate = viewer.caller.tenant, state.admission.small_counts
    publication = await read_publication_in(state.checking, tenant, draft.document, state.policy)
    content, replaces, terms = publication.content, *await _replaced(state, viewer, draft, publication)
    given = VerdictInput(content.schema, content.configurations, content.count_tables), JUDGING_SECONDS
    # The authoritative verdict comes later from a worker, with more time.
    verdict = await run_patiently(state.checking, tenant, compute_verdict, *given, size=len(draft.document))
    alone = await to_thread.run_sync(alone_in, content)
    is_known = replaces is not None and replaces.digest == content.digest
    small = () if is_known or gate.rule is SmallCounts.ACCEPT else publication.small_counts
    required = terms.required if replaces is None else terms.required.stricter_of(replaces.policy.required_privacy)
    unvouched = () if is_known else unvouched_faults(content.configuration_table, required)
    findings = verdict_answer(verdict).findings[:LISTED] if verdict else []
    pointers = [fault.pointer for fault in (*small, *unvouched)] + [finding.pointer for finding in findings]
    places = await places_of(state, viewer, draft.document, pointers)
    of_faults = iter(places)
    confirming = state.admission.confirmed(is_confirmed=gate.rule is not SmallCounts.ACCEPT)
    warnings = () if is_known or unvouched else confirming.warnings(publication, TenantPolicy(terms.required))
    return Review(
        draft=draft,
        packed=await to_thread.run_sync(draft.packed),
        publication=publication,
        replaces=replaces,
        seen="" if replaces is None else state_of(replaces),
        tenant=terms.tenant,
        small_counts=tuple(FaultLine(place, fault.detail) for fault, place in zip(small, of_faults, strict=False)),
        faults=tuple(FaultLine(place, fault.detail) for fault, place in zip(unvouched, of_faults, strict=False)),
        verdict=_verdict_view(verdict, list(of_faults)),
        warnings=tuple(warnings),
        problem=problem,
        small=small_counts(verdict_answer(StoredVerdict(True, (), rows_per_person=content.rows_per_person))),
        unit="records" if content.people is None else "people",
        alone=as_sentence(alone.line(offered=True)),
        is_unique=alone.is_much(offered=True),
        is_known=is_known,
        is_possible=not (is_known or unvouched or (small and gate.rule is SmallCounts.REFUSE)),
        asks_for_small_counts=bool(small) and gate.rule is SmallCounts.CONFIRM,
        demands_sign_off=terms.demands_sign_off if replaces is None else replaces.policy.demands_sign_off,
        offers=_offers(content),
    )


async def _replaced(
    state: State, viewer: Viewer, draft: Draft, publication: Publication
) -> tuple[Head | None, TenantTerms]:
    """The entry that gets a new version, if any, and the requirements for the entries of the viewer's tenant."""
    async with state.database.transaction() as session:
        catalogue = services_of(state, session).catalogue()
        terms = await catalogue.terms(viewer.caller, publication.name, state.admission)
        if not draft.entry_id:
            return terms.named, terms
        replaces = await catalogue.own_head(viewer.caller, draft.entry_id)
        refuse_other_name(publication, replaces)
        return replaces, terms


def _verdict_view(verdict: StoredVerdict | None, places: Sequence[DocumentPlace]) -> VerdictView:
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


def _offers(content: Content) -> tuple[tuple[int, int], ...]:
    """The number of configurations that promise some group sizes; empty without any promise."""
    packed = content.configuration_table.privacy.get("k")
    if packed is None:
        return ()
    vouched = unpack(packed)
    return tuple((k, int(np.count_nonzero(vouched >= k))) for k in SOME_K)


def alone_in(content: Content) -> Alone:
    """The declared shares of lone records in the configurations of an entry. Slow for large entries."""
    return Alone.of(decompress(content.schema) | decompress(content.configurations))


async def places_of(state: State, viewer: Viewer, document: bytes, pointers: Sequence[str]) -> list[DocumentPlace]:
    """The places of pointers; the pointers alone if that takes longer than people wait."""
    if not pointers:
        return []
    tenant = viewer.caller.tenant
    places = await run_patiently(state.checking, tenant, places_in, document, pointers, size=len(document))
    return places or [DocumentPlace(pointer) for pointer in pointers]


def publish_commands(viewer: Viewer, review: Review) -> Commands:
    """Commands that publish the same file."""
    file = _plain_name(review.draft.file).removesuffix(".gz") or "entry.json"
    words = ["--update"] * (review.replaces is not None)
    words += ["--accept-small-counts"] * bool(review.small_counts)
    words += [ACCEPT_UNIQUE] * review.is_unique
    asked = {"accept_small_counts": "true"} if review.small_counts else {}
    call = curl(viewer, "/v1/entries", asked, file=file)
    if (head := review.replaces) is not None:
        call = curl(viewer, f"/v1/entries/{head.id}", asked, method="PUT", file=file, replaces=etag(head))
    return Commands((aegis("publish", file, *words),), (call,))


def upload_commands(viewer: Viewer) -> Commands:
    """Commands that publish a file."""
    return Commands((aegis("publish", "entry.json"),), (curl(viewer, "/v1/entries", file="entry.json"),))


def release_line(file: str, *, is_readable: bool) -> str:
    """The command that makes an entry from a table, on the provider's machine."""
    name = _plain_name(file) or "TABLE.csv"
    if not is_readable:
        name = f"{PurePath(name).stem or 'TABLE'}.csv"
    return aegis("release", name, "--label", "LABEL", "--require", "k=5", "--output", "release")


def _plain_name(file: str) -> str:
    """A file name as an argument of a command: without folders, not an option; empty if it has hidden characters."""
    name = file.replace("\\", "/").rpartition("/")[2]
    if _HIDDEN.search(name):
        return ""
    return f"./{name}" if name.startswith("-") else name
