"""Catalogue entries."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from aegis_sdk import wire
from app.edge.dependencies import (
    AdmissionDependency,
    BodyDependency,
    CallerDependency,
    FactoryDependency,
    PublisherDependency,
    Version,
    require_room,
)
from app.edge.idempotency import OnceDependency
from app.edge.state import State, StateDependency, services_of
from app.entries.api.after_publishing import note_published
from app.entries.api.conditional import OptionalPreconditionDependency, PreconditionDependency, etag, etag_of_shown
from app.entries.api.documents import document_json
from app.entries.api.mapping import entry_head_json, head_answer, page_answer
from app.entries.api.search import SearchDependency
from app.entries.api.uploads import read_publication_in
from app.entries.model.entries import Publication
from app.entries.service.publishing import Published
from app.factory import Factory
from app.platform.http.conditional import NOT_MODIFIED, REVALIDATED, KnownTagsDependency
from app.platform.http.json_response import JsonResponse
from app.platform.http.operations import answers, body
from app.platform.http.paging import PageLimit, PageToken, links

router = APIRouter(prefix="/v1/entries", tags=["entries"])


@router.post(
    "",
    summary="Publish an entry",
    status_code=201,
    dependencies=[Depends(require_room)],
    openapi_extra=body(wire.EntryDocument),
    responses=answers(
        201,
        wire.PublishedHead,
        "The head of the new entry",
        400,
        403,
        409,
        413,
        415,
        422,
        507,
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

    async def read() -> Publication:
        return await read_publication_in(state.checking, caller.tenant, document, state.policy)

    async def publish(factory: Factory, publication: Publication) -> Response:
        return _published(state, await factory.catalogue().publish(caller, publication, admission), 201)

    return await once.answer(document, read, publish)


@router.get(
    "",
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


@router.get(
    "/{entry_id}",
    summary="Read an entry's head and schema",
    responses=answers(
        200,
        wire.EntryHead,
        "The head with the schema: everything but the counts",
        404,
        422,
        headers=("ETag",),
    )
    | NOT_MODIFIED,
)
async def read_entry(
    entry_id: str,
    caller: CallerDependency,
    state: StateDependency,
    known: KnownTagsDependency,
    version: Version = None,
) -> Response:
    """Returns the attributes, maskings and configurations of an entry, without counts."""
    async with state.database.transaction() as session:
        catalogue = Factory(session, state.queue).catalogue()
        head = await catalogue.head(caller, entry_id, version)
        verdict = await catalogue.verdict(caller, head)
        headers = {"ETag": etag_of_shown(head, verdict), "Cache-Control": REVALIDATED}
        if (unchanged := known.unchanged(headers["ETag"], headers)) is not None:
            return unchanged
        schema, configurations = await catalogue.schema(head)
    parts = (head.visibility, schema, configurations, (), head.shows_counts_to(caller))
    document = await document_json(state, caller, *parts)
    return JsonResponse(entry_head_json(head, verdict, document), headers=headers)


@router.get(
    "/{entry_id}/summaries",
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
    "/{entry_id}",
    summary="Publish a new version of an entry",
    dependencies=[Depends(require_room)],
    openapi_extra=body(wire.EntryDocument),
    responses=answers(
        200,
        wire.PublishedHead,
        "The head, with a new version unless the content equals that of the latest one",
        400,
        403,
        404,
        412,
        413,
        415,
        422,
        428,
        507,
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
    "/{entry_id}",
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
