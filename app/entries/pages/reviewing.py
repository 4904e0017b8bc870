"""Reviews an entry file before publication. Nothing is stored."""

from collections.abc import Iterable, Sequence

from anyio import to_thread

from aegis_sdk.reading import Alone
from aegis_sdk.wire import FAULTS_SHOWN
from app.edge.state import State, services_of
from app.entries.api.mapping import verdict_answer
from app.entries.api.uploads import judge_in, read_publication_in, run_patiently
from app.entries.model.documents import decompress
from app.entries.model.entries import Content, Head, Publication
from app.entries.model.verdicts import StoredVerdict
from app.entries.pages.document_places import Place, places_in
from app.entries.pages.drafts import Draft
from app.entries.pages.views.publish import LISTED, FaultLine, Review, unvouched_faults, verdict_view
from app.entries.service.publishing import Terms
from app.entries.service.small_counts import SmallCounts
from app.pages.viewers import Viewer
from app.platform.errors import Fault, InvalidDocumentError, RefusalError
from app.tenants.model import TenantPolicy


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
