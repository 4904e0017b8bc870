"""Visibility of entries, and the sign-off of their versions."""

import structlog
from fastapi import APIRouter, Response

from aegis_sdk import wire
from app.edge.dependencies import CallerDependency, FactoryDependency, PatchDependency, PublisherDependency, Version
from app.entries.api.conditional import OptionalPreconditionDependency, ReadVersionDependency, etag
from app.entries.api.mapping import head_answer, visibility_of
from app.platform.http.bodies import validated
from app.platform.http.json_response import JsonResponse
from app.platform.http.operations import answers, body

_log = structlog.get_logger(__name__)

router = APIRouter(prefix="/v1/entries", tags=["entries"])


@router.patch(
    "/{entry_id}",
    summary="Change the visibility of an entry",
    openapi_extra=body(wire.VisibilityPatch),
    responses=answers(
        200,
        wire.Head,
        "The head; the version stays the same",
        400,
        403,
        404,
        412,
        413,
        415,
        422,
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
    "/{entry_id}/sign-off",
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
