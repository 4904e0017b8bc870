"""Entries over HTTP: publishing, reading, visibility, and the sign-off of versions."""

from functools import partial
from math import prod
from typing import Annotated

import structlog
from fastapi import APIRouter, Depends, Header, Query, Request, Response

from aegis_sdk import wire
from aegis_sdk.reading import CROISSANT
from app.edge.dependencies import (
    AdmissionDependency,
    BodyDependency,
    CallerDependency,
    FactoryDependency,
    PatchDependency,
    PublisherDependency,
    Version,
    require_room,
)
from app.edge.idempotency import OnceDependency
from app.edge.state import State, StateDependency, services_of
from app.entries.api.mapping import entry_head_json, entry_json, head_answer, page_answer, visibility_of, worth_answer
from app.entries.api.parameters import (
    OptionalPreconditionDependency,
    PreconditionDependency,
    ReadVersionDependency,
    SearchDependency,
    etag,
    etag_of_shown,
)
from app.entries.api.uploads import read_publication_in
from app.entries.model.documents import is_small
from app.entries.model.entries import CountTable, Publication, Visibility
from app.entries.service.catalogue import Published, TenantTerms
from app.factory import Factory
from app.platform.callers import Caller
from app.platform.http.bodies import validated
from app.platform.http.conditional import NOT_MODIFIED, REVALIDATED, KnownTagsDependency
from app.platform.http.negotiation import preferred, profiles
from app.platform.http.operations import JsonResponse, PageLimit, PageToken, answers, body, links

router = APIRouter(prefix="/v1", tags=["entries"])

_log = structlog.get_logger(__name__)


def note_published(state: State, published: Published) -> None:
    """Count an upload, and log the acceptance of small counts, without the counts."""
    head = published.head
    if published.is_new:
        state.metrics.published(is_first=head.version == 1)
    if published.is_new and head.accepted_small_counts:
        _log.warning("small counts accepted", entry=head.id, version=head.version)


#: Up to this many cells and bytes, this process builds the document itself, in a few milliseconds.
SMALL = 50_000


async def document_json(
    state: State,
    caller: Caller,
    visibility: Visibility,
    schema: bytes,
    configurations: bytes,
    tables: tuple[CountTable, ...],
    in_full: bool,  # noqa: FBT001 -- as in `entry_json`
) -> bytes:
    """Return the published document as JSON. A child process builds large ones; call this outside of transactions."""
    parts = (visibility, schema, configurations, tables, in_full)
    cells = sum(prod(table.counts.shape) for table in tables)
    if cells <= SMALL and is_small(schema, SMALL) and is_small(configurations, SMALL):
        return entry_json(*parts)
    return await state.making.run(entry_json, *parts, on_behalf_of=caller.tenant)


@router.post(
    "/entries",
    summary="Publish an entry",
    status_code=201,
    dependencies=[Depends(require_room)],
    openapi_extra=body(wire.EntryDocument),
    responses=answers(
        201,
        wire.PublishedHead,
        "The head of the new entry",
        *(400, 403, 409, 413, 415, 422, 507),
        headers=("Location", "ETag"),
    ),
)
async def publish_entry(
    caller: PublisherDependency,
    document: BodyDependency,
    state: StateDependency,
    admission: AdmissionDependency,
    once: OnceDependency,
) -> Response:
    """Adds an entry to the catalogue atomically. Its name must be new in the caller's tenant."""

    async def publish(factory: Factory, publication: Publication) -> Response:
        return _published(state, await factory.catalogue().publish(caller, publication, admission), 201)

    read = partial(read_publication_in, state.checking, caller.tenant, document, state.policy)
    return await once.answer(document, read, publish)


@router.get(
    "/entries",
    summary="List entries",
    responses=answers(200, wire.HeadPage, "One page, newest first or by `sort`", 422, headers=("Link",)),
)
async def list_entries(
    request: Request,
    caller: CallerDependency,
    factory: FactoryDependency,
    search: SearchDependency,
    limit: PageLimit = 50,
    page_token: PageToken = None,
    *,
    total: Annotated[bool, Query(description="Whether to count the entries on all pages")] = False,
) -> Response:
    """Lists the entries that the caller may see. `Link` has the next page and the first one."""
    page = await factory.catalogue().page(caller, search, limit, page_token, counted=total)
    return JsonResponse(page_answer(page), headers={"Link": links(request, page.next_page_token)})


JSON, JSON_LD = "application/json", "application/ld+json"


def wants_croissant(accept: str | None) -> bool:
    """Whether a caller prefers JSON-LD, by the profile of Croissant or any."""
    named = profiles(accept)
    return preferred(accept, (JSON, JSON_LD)) == JSON_LD and (not named or CROISSANT in named)


@router.get(
    "/entries/{entry_id}",
    summary="Read an entry's head and schema",
    responses=answers(
        200,
        wire.EntryHead,
        "The head with the schema: everything but the counts",
        404,
        422,
        headers=("ETag",),
    )
    | {303: {"description": "Where the entry is in Croissant, if the caller prefers `application/ld+json`"}}
    | NOT_MODIFIED,
)
async def read_entry(
    entry_id: str,
    caller: CallerDependency,
    state: StateDependency,
    known: KnownTagsDependency,
    version: Version = None,
    accept: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> Response:
    """Returns the attributes, maskings and configurations of an entry, without counts."""
    async with state.database.transaction() as session:
        catalogue = Factory(session, state.queue).catalogue()
        head = await catalogue.head(caller, entry_id, version)
        if wants_croissant(accept):
            query = "" if version is None else f"?version={version}"
            place = f"/datasets/{head.id}.croissant.json{query}"
            return Response(status_code=303, headers={"Location": place, "Vary": "Accept"})
        verdict = await catalogue.verdict(caller, head)
        headers = {"ETag": etag_of_shown(head, verdict), "Cache-Control": REVALIDATED, "Vary": "Accept"}
        if (unchanged := known.unchanged(headers["ETag"], headers)) is not None:
            return unchanged
        schema, configurations = await catalogue.schema(head)
    parts = (head.visibility, schema, configurations, (), head.shows_counts_to(caller))
    document = await document_json(state, caller, *parts)
    return JsonResponse(entry_head_json(head, verdict, document), headers=headers)


@router.get(
    "/entries/{entry_id}/worth",
    summary="Read what an entry's tables are worth",
    responses=answers(200, wire.WorthList, "What a model should reach, by label and by k", 404, 422),
)
async def read_worth(
    entry_id: str, caller: CallerDependency, factory: FactoryDependency, version: Version = None
) -> JsonResponse:
    """Returns for each label what a model should reach on the best table, for each k at which that changes."""
    catalogue = factory.catalogue()
    worth = await catalogue.worth(await catalogue.head(caller, entry_id, version))
    return JsonResponse(wire.WorthList(items=list(map(worth_answer, worth))))


@router.get(
    "/entries/{entry_id}/summaries",
    summary="Read an entry as published",
    responses=answers(200, wire.EntryDocument, "The entry, counts included", 403, 404, 422, headers=("ETag",))
    | NOT_MODIFIED,
)
async def read_summaries(
    entry_id: str,
    caller: CallerDependency,
    state: StateDependency,
    known: KnownTagsDependency,
    version: Version = None,
) -> Response:
    """Returns the entry with its counts, for providers and reviewers of its own tenant and for operators."""
    async with state.database.transaction() as session:
        catalogue = Factory(session, state.queue).catalogue()
        head = await catalogue.countable_head(caller, entry_id, version)
        headers = {"ETag": etag(head)}
        if (unchanged := known.unchanged(headers["ETag"], headers)) is not None:
            return unchanged
        parts = await catalogue.summaries(head)
    document = await document_json(state, caller, head.visibility, *parts, in_full=True)
    return JsonResponse(document, headers=headers)


@router.put(
    "/entries/{entry_id}",
    summary="Publish a new version of an entry",
    dependencies=[Depends(require_room)],
    openapi_extra=body(wire.EntryDocument),
    responses=answers(
        200,
        wire.PublishedHead,
        "The head, with a new version unless the content equals that of the latest one",
        *(400, 403, 404, 412, 413, 415, 422, 428, 507),
        headers=("ETag",),
    ),
)
async def replace_entry(
    entry_id: str,
    caller: PublisherDependency,
    is_current: PreconditionDependency,
    document: BodyDependency,
    state: StateDependency,
    admission: AdmissionDependency,
) -> Response:
    """Adds a version, since versions are immutable. The name cannot change; `PATCH` changes the visibility."""
    publication = await read_publication_in(state.checking, caller.tenant, document, state.policy)
    async with state.database.transaction() as session:
        catalogue = services_of(state, session).catalogue()
        replaced = await catalogue.replace(caller, entry_id, publication, is_current, admission)
    return _published(state, replaced, 200)


@router.delete(
    "/entries/{entry_id}",
    summary="Delete an entry",
    status_code=204,
    responses=answers(
        204, None, "The entry, its versions and its advice are deleted; the name is free", 400, 403, 404, 412
    ),
)
async def delete_entry(
    entry_id: str,
    caller: PublisherDependency,
    factory: FactoryDependency,
    is_current: OptionalPreconditionDependency,
) -> Response:
    """Deletes every version and all advice on it. `If-Match` is optional."""
    await factory.catalogue().delete(caller, entry_id, is_current)
    return Response(status_code=204)


def _published(state: State, published: Published, status: int) -> JsonResponse:
    """Respond to an upload, and count it."""
    note_published(state, published)
    head = published.head
    headers = {"ETag": etag(head)}
    if status == 201:  # noqa: PLR2004 -- Created
        headers["Location"] = f"/v1/entries/{head.id}"
    answer = wire.PublishedHead(**dict(head_answer(head)), warnings=list(published.warnings))
    return JsonResponse(answer, status, headers)


@router.patch(
    "/entries/{entry_id}",
    summary="Change the visibility of an entry",
    openapi_extra=body(wire.VisibilityPatch),
    responses=answers(
        200,
        wire.Head,
        "The head; the version stays the same",
        *(400, 403, 404, 412, 413, 415, 422),
        headers=("ETag",),
    ),
)
async def set_visibility(
    entry_id: str,
    caller: PublisherDependency,
    is_current: OptionalPreconditionDependency,
    document: PatchDependency,
    factory: FactoryDependency,
) -> Response:
    """Makes the entry `private`, visible to `all`, or visible to the named tenants. `If-Match` is optional."""
    visibility = visibility_of((await validated(wire.VisibilityPatch, document)).visibility)
    head = await factory.catalogue().set_visibility(caller, entry_id, visibility, is_current)
    return JsonResponse(head_answer(head), headers={"ETag": etag(head)})


@router.put(
    "/entries/{entry_id}/sign-off",
    summary="Sign a version off",
    responses=answers(
        200, wire.Head, "The head; others see this version now", 400, 403, 404, 412, 422, 428, headers=("ETag",)
    ),
)
async def sign_off(
    entry_id: str,
    caller: CallerDependency,
    is_current: ReadVersionDependency,
    factory: FactoryDependency,
    version: Version = None,
) -> Response:
    """Shows others a version that awaits its sign-off. For operators, and for reviewers of its tenant who did not
    publish it. `If-Match` identifies the version that was read. Signing off again has no effect.
    """
    head = await factory.catalogue().sign_off(caller, entry_id, version, is_current)
    _log.info("version signed off", entry=head.id, version=head.version, by=caller.subject)
    return JsonResponse(head_answer(head), headers={"ETag": etag(head)})


@router.get(
    "/publishing",
    summary="Read the requirements for publishing",
    responses=answers(200, wire.PublishingTerms, "The requirements for the caller's entries", 403, 422),
)
async def read_terms(
    caller: PublisherDependency,
    state: StateDependency,
    factory: FactoryDependency,
    name: Annotated[wire.EntryName | None, Query(description="Name of the future entry")] = None,
) -> JsonResponse:
    """Returns the requirements that do not depend on the counts, so that providers know them before they make an
    entry.
    """
    return JsonResponse(_answer(state, await factory.catalogue().terms(caller, name, state.admission)))


def _answer(state: State, terms: TenantTerms) -> wire.PublishingTerms:
    return wire.PublishingTerms(
        tenant=terms.tenant,
        named=None if terms.named is None else head_answer(terms.named),
        require=terms.required.numbers,
        unit=terms.required.unit,
        small_counts=state.admission.small_counts.rule,
        min_cell=state.policy.min_cell,
        require_noise=state.policy.demands_noise,
        max_epsilon=state.policy.max_epsilon,
        sign_off=terms.demands_sign_off,
        max_bytes=state.max_body_bytes,
    )
