"""API keys, for administrators of their tenant and for operators."""

from datetime import UTC, datetime, timedelta

import structlog
from fastapi import APIRouter, Request, Response

from aegis_sdk import wire
from app.edge.dependencies import (
    AdministratorDependency,
    CallerDependency,
    FactoryDependency,
    OwnTenant,
    SmallBodyDependency,
)
from app.edge.idempotency import OnceDependency
from app.factory import Factory
from app.platform.callers import ApiKey, Caller, Role, is_prefix
from app.platform.errors import Fault, InvalidDocumentError
from app.platform.http.bodies import validated
from app.platform.http.operations import JsonResponse, PageLimit, PageToken, answers, body, links

router = APIRouter(prefix="/v1/keys", tags=["keys"])


@router.post(
    "",
    summary="Create a key",
    status_code=201,
    openapi_extra=body(wire.KeyRequest),
    responses=answers(
        201, wire.NewKey, "The key, shown only this once", 400, 409, 413, 415, 422, headers=("Location",)
    ),
)
async def create_key(caller: AdministratorDependency, document: SmallBodyDependency, once: OnceDependency) -> Response:
    """Creates a key for the caller's tenant. Operators may name another tenant, which is created if new."""

    async def create(factory: Factory, asked: wire.KeyRequest) -> Response:
        return _created(*await make_key(factory, caller, asked))

    return await once.answer(document, lambda: validated(wire.KeyRequest, document), create)


@router.get(
    "",
    summary="List keys",
    responses=answers(200, wire.KeyPage, "One page, newest first", 400, 422, headers=("Link",)),
)
async def list_keys(
    request: Request,
    caller: CallerDependency,
    factory: FactoryDependency,
    tenant: OwnTenant = None,
    limit: PageLimit = 50,
    page_token: PageToken = None,
) -> Response:
    """Lists the keys of the caller's tenant; operators see all, or those of one tenant."""
    if page_token is not None and not is_prefix(page_token):
        fault = Fault("/page_token", "Not a page token; use the next_page_token of the previous page.")
        raise InvalidDocumentError("The page token is invalid.", (fault,))
    page = await factory.key_administration().page(caller, tenant, limit, page_token)
    answer = wire.KeyPage(items=list(map(key_answer, page.items)), next_page_token=page.next_after)
    return JsonResponse(answer, headers={"Link": links(request, page.next_after)})


@router.delete(
    "/{prefix}",
    summary="Revoke a key",
    responses=answers(200, wire.Key, "The key, from now on refused", 404),
)
async def revoke_key(prefix: str, caller: CallerDependency, factory: FactoryDependency) -> Response:
    """Revokes a key at once. It stays in the list."""
    return JsonResponse(key_answer(await end_key(factory, caller, prefix)))


@router.post(
    "/{prefix}/successor",
    summary="Replace a key",
    status_code=201,
    openapi_extra=body(wire.RotationRequest),
    responses=answers(
        201, wire.NewKey, "The new key, shown only this once", 400, 404, 409, 413, 415, 422, headers=("Location",)
    ),
)
async def rotate_key(
    prefix: str,
    caller: AdministratorDependency,
    document: SmallBodyDependency,
    once: OnceDependency,
) -> Response:
    """Creates a key with the same tenant and role. The old key stays valid during the overlap."""

    async def rotate(factory: Factory, asked: wire.RotationRequest) -> Response:
        return _created(*await replace_key(factory, caller, prefix, asked))

    return await once.answer(document, lambda: validated(wire.RotationRequest, document), rotate)


def _created(text: str, key: ApiKey) -> JsonResponse:
    created = wire.NewKey(**dict(key_answer(key)), key=text)
    return JsonResponse(created, 201, {"Location": f"/v1/keys/{key.prefix}"})


_log = structlog.get_logger(__name__)


def key_answer(key: ApiKey) -> wire.Key:
    """A key as it is now."""
    return wire.Key(
        prefix=key.prefix,
        tenant=key.tenant,
        role=key.role,
        state=key.state(datetime.now(UTC)),
        created_at=key.created_at,
        expires_at=key.expires_at,
        last_used_at=key.last_used_at,
        replaces=key.replaces,
    )


async def make_key(services: Factory, caller: Caller, asked: wire.KeyRequest) -> tuple[str, ApiKey]:
    """Create a key and log it; its text cannot be read again."""
    lifetime = _days(asked.expires_days)
    text, key = await services.key_administration().create(caller, asked.tenant, Role(asked.role), lifetime)
    return text, _logged(caller, key)


async def replace_key(
    services: Factory, caller: Caller, prefix: str, asked: wire.RotationRequest
) -> tuple[str, ApiKey]:
    """Create the successor of a key and log it; its text cannot be read again."""
    overlap, lifetime = timedelta(hours=asked.overlap_hours), _days(asked.expires_days)
    text, key = await services.key_administration().rotate(caller, prefix, overlap, lifetime)
    return text, _logged(caller, key)


async def end_key(services: Factory, caller: Caller, prefix: str) -> ApiKey:
    """Revoke a key and log it."""
    key = await services.key_administration().revoke(caller, prefix)
    _log.info("key revoked", key=key.prefix, by=caller.subject)
    return key


def _logged(caller: Caller, key: ApiKey) -> ApiKey:
    _log.info("key created", key=key.prefix, role=key.role.value, replaces=key.replaces, by=caller.subject)
    return key


def _days(number: int | None) -> timedelta | None:
    return None if number is None else timedelta(days=number)
