"""Publishing an entry file: check, verdict, publication."""

from dataclasses import replace
from pathlib import Path, PurePath

import orjson
from anyio import to_thread
from fastapi import APIRouter, Request, Response

from aegis_sdk.reading import Alone
from aegis_sdk.wire import EXAMPLE_ENTRY, FAULTS_SHOWN
from app.edge.state import State, StateDependency, services_of
from app.entries.api.routes import note_published
from app.entries.api.uploads import read_publication_in
from app.entries.model.entries import Head, Publication
from app.entries.pages.entry_views import is_seen
from app.entries.pages.review import (
    READABLE,
    FaultLine,
    alone_in,
    places_of,
    publish_commands,
    release_line,
    review_of,
    upload_commands,
)
from app.entries.pages.upload import Draft, RawTableError, read_draft, read_upload
from app.entries.service.catalogue import require_publisher
from app.pages.forms import FormDependency, read_large_form
from app.pages.page import page, see
from app.pages.page_route import PageRoute
from app.pages.viewers import Viewer, ViewerDependency
from app.platform.errors import (
    InvalidDocumentError,
    NameTakenError,
    NotFoundError,
    QuotaExceededError,
    RefusalError,
    StaleVersionError,
)
from app.platform.http.bodies import SMALL_BODY
from app.platform.http.refusals import MalformedRequestError, status_and_title

router = APIRouter(route_class=PageRoute)

_UNIQUE = (
    "Many {} are alone on all columns that a configuration shares. Mask more, or tick the box to publish it anyway."
)


@router.get("/publish")
async def show_upload(
    request: Request, viewer: ViewerDependency, state: StateDependency, version_of: str = ""
) -> Response:
    """The form to choose an entry file, for a new entry or a new version."""
    if not viewer.caller.may_publish:
        return page(request, "publish_not_allowed.html", 403, commands=upload_commands(viewer), here="publish")
    return await _upload_page(request, viewer, state, version_of)


@router.post("/publish")
async def check_upload(request: Request, viewer: ViewerDependency, state: StateDependency) -> Response:
    """Check a file, and show its content and verdict. Nothing is stored."""
    require_publisher(viewer.caller)
    state.limits.refuse_full_disk()
    with state.limits.bodies.share() as take:
        try:
            draft = await read_upload(request, viewer, state.max_body_bytes, take)
        except RawTableError as error:
            return _raw_table_page(request, viewer, error)
        if not draft.file:
            nothing = MalformedRequestError("Choose an entry file first.")
            return await _upload_page(request, viewer, state, draft.entry_id, nothing)
        return await _review_page(request, viewer, state, draft)


@router.post("/publish/confirm")
async def publish(request: Request, viewer: ViewerDependency, state: StateDependency) -> Response:
    """Publish a checked file, and redirect to its entry."""
    require_publisher(viewer.caller)
    state.limits.refuse_full_disk()
    with state.limits.bodies.share() as take:
        form = await read_large_form(request, viewer, state.max_body_bytes + SMALL_BODY, take)
        draft = await to_thread.run_sync(read_draft, form, state.max_body_bytes)
        take(len(draft.document))
        try:
            head = await _publish(state, viewer, draft)
        except (InvalidDocumentError, NameTakenError, QuotaExceededError, StaleVersionError) as problem:
            return await _review_page(request, viewer, state, draft, problem)
    return see(f"/entries/{head.id}")


@router.post("/publish/example")
async def publish_example(
    request: Request, viewer: ViewerDependency, state: StateDependency, _: FormDependency
) -> Response:
    """Publish the example, in development mode only, and redirect to its entry."""
    if not state.development_mode:
        raise NotFoundError("The example exists only in development mode.")
    state.limits.refuse_full_disk()
    document = await to_thread.run_sync(_example, request.app.state.example, state.max_body_bytes)
    try:
        head = await _publish(state, viewer, Draft("", document, accepts_small_counts=True, accepts_unique=True))
    except NameTakenError as error:  # an older example, or a changed one
        return see(f"/entries/{error.entry_id}")
    return see(f"/entries/{head.id}")


def _example(file: str, limit: int) -> bytes:
    """The example entry: the configured file, or else the contract's."""
    try:
        with Path(file).open("rb") as opened:
            document = opened.read(limit + 1)
    except OSError:
        document = b""
    return document if 0 < len(document) <= limit else orjson.dumps(EXAMPLE_ENTRY)


async def _publish(state: State, viewer: Viewer, draft: Draft) -> Head:
    """Publish a draft. Content that is already published, for example by a second click, is left unchanged."""
    visibility = draft.visibility()
    publication = await read_publication_in(state.checking, viewer.caller.tenant, draft.document, state.policy)
    if visibility is not None:
        publication = replace(publication, visibility=visibility)
    alone = None if draft.accepts_unique else await to_thread.run_sync(alone_in, publication.content)
    try:
        return await _stored(state, viewer, draft, publication, alone)
    except NameTakenError:  # perhaps by the same form, sent concurrently: then its entry is known now
        return await _stored(state, viewer, draft, publication, alone)


async def _stored(state: State, viewer: Viewer, draft: Draft, publication: Publication, alone: Alone | None) -> Head:
    """Store the draft; `alone`: its share of lone records, unless accepted."""
    admission = state.admission.confirmed(is_confirmed=draft.accepts_small_counts)
    async with state.database.transaction() as session:
        catalogue = services_of(state, session).catalogue()
        named = (await catalogue.terms(viewer.caller, publication.name, admission)).named
        if named is not None and named.digest == publication.content.digest and draft.entry_id in {"", named.id}:
            return named
        if alone is not None and alone.is_much(offered=True):
            raise InvalidDocumentError(_UNIQUE.format("people" if alone.of_people else "records"))
        if draft.entry_id:
            published = await catalogue.replace(
                viewer.caller, draft.entry_id, publication, is_seen(draft.seen), admission
            )
        else:
            published = await catalogue.publish(viewer.caller, publication, admission)
    note_published(state, published)
    return published.head


async def _upload_page(
    request: Request,
    viewer: Viewer,
    state: State,
    version_of: str,
    problem: RefusalError | None = None,
    draft: Draft | None = None,
) -> Response:
    """The form to choose a file, with the faults of the last one."""
    head = None
    faults: tuple[FaultLine, ...] = ()
    if version_of:
        async with state.database.transaction() as session:
            head = await services_of(state, session).catalogue().own_head(viewer.caller, version_of)
    if draft is not None and isinstance(problem, InvalidDocumentError):
        shown = problem.faults[:FAULTS_SHOWN]
        places = await places_of(state, viewer, draft.document, [fault.pointer for fault in shown])
        faults = tuple(FaultLine(place, fault.detail) for fault, place in zip(shown, places, strict=False))
    return page(
        request,
        "publish.html",
        _status(request, problem),
        head=head,
        problem=problem,
        file="" if draft is None else draft.file,
        faults=faults,
        commands=upload_commands(viewer),
        most=state.max_body_bytes,
        here="publish",
    )


async def _review_page(
    request: Request, viewer: Viewer, state: State, draft: Draft, problem: RefusalError | None = None
) -> Response:
    """The content and verdict of a file with the remaining decisions, or the reasons for a refusal."""
    try:
        review = await review_of(state, viewer, draft, problem)
    except (InvalidDocumentError, MalformedRequestError) as error:
        return await _upload_page(request, viewer, state, draft.entry_id, error, draft)
    status, commands = _status(request, problem), publish_commands(viewer, review)
    return page(request, "publish_review.html", status, review=review, commands=commands, here="publish")


def _raw_table_page(request: Request, viewer: Viewer, error: RawTableError) -> Response:
    is_readable = PurePath(error.file).suffix.lower() in READABLE
    return page(
        request,
        "publish_raw_table.html",
        _status(request, error),
        error=error,
        line=release_line(error.file, is_readable=is_readable),
        is_readable=is_readable,
        commands=upload_commands(viewer),
        here="publish",
    )


def _status(request: Request, problem: RefusalError | None) -> int:
    """The HTTP status of a page with this problem, which is counted like a refusal of the API."""
    if problem is None:
        return 200
    request.app.state.metrics.refused(problem.code)
    return status_and_title(problem)[0]
