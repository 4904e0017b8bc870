"""Dependencies of routes: the state of the process, the caller, services in a transaction, bodies."""

from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import Depends, Header, Query, Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Query as QueryParameter

from app.edge.state import State, StateDependency, services_of
from app.entries.service.admission import Admission
from app.entries.service.catalogue import require_publisher
from app.factory import Factory
from app.platform.callers import DEVELOPER, LONGEST_TENANT, Caller, administered_tenant, is_key
from app.platform.errors import UnknownKeyError
from app.platform.http.bodies import SMALL_BODY, read_body
from app.platform.http.operations import timestamp
from app.platform.http.rate_limit import take_turn
from app.platform.http.refusals import PATCH_TYPES, MalformedRequestError, UnknownParameterError
from app.platform.http.request_scope import answer_headers, note_known, refuse_other_name

#: The OpenAPI document has a security scheme instead of this header (OpenAPI 3.1, section 4.8.12).
_Authorization = Annotated[str | None, Header(include_in_schema=False)]


#: The beginnings of the paths of operations that need a key.
KEYED: Final = ("/v1/", "/dsp/", "/catalog", "/datasets/")


async def refuse_odd_parameters(request: Request) -> None:
    """Refuse a query with an unknown parameter, or with a repeated one, of which a proxy might read the other value.

    The documentation pages accept any query, since links from other sites may have one.

    Raises:
        MalformedRequestError: a parameter is repeated.
        UnknownParameterError: the path has no such parameter.
    """
    given = Counter(name for name, _ in request.query_params.multi_items())
    if not given or not request.url.path.startswith((*KEYED, "/readyz")):
        return
    repeated = [name for name, times in given.items() if times > 1]
    if repeated:
        raise MalformedRequestError(f"The parameter {repeated[0][:100]!r} is given more than once.")
    parameters = get_flat_params(request.scope["route"].dependant)
    known = [parameter.alias for parameter in parameters if isinstance(parameter.field_info, QueryParameter)]
    if unknown := sorted(given.keys() - set(known)):
        raise UnknownParameterError(unknown, known)


async def get_caller(request: Request, state: StateDependency, authorization: _Authorization = None) -> Caller:
    """The caller: the holder of the key or of the token, or the developer in development mode.

    It has its own transaction, since none may stay open during an upload.
    """
    if state.development_mode:
        refuse_other_name(request.headers.get("host", ""))
        return DEVELOPER
    if len(request.headers.getlist("authorization")) > 1:
        raise MalformedRequestError("Send one Authorization header.")
    scheme, _, key = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        raise UnknownKeyError(
            "Send an API key: 'Authorization: Bearer KEY' (the command aegis reads the key from AEGIS_API_KEY)."
        )
    caller = await _holder(request, state, key.strip())
    note_known(request, lambda: _holder(request, state, key.strip()))
    if state.limits.requests is not None:
        take_turn(request, state.limits.requests, caller.tenant)
    return caller


async def _holder(request: Request, state: State, key: str) -> Caller:
    """The holder of a key or a token. Adds a response header if the key expires soon."""
    if state.tokens is not None and not is_key(key):
        return await state.tokens.caller(key)
    with state.limits.guess(request, key):
        async with state.database.transaction() as session:
            known = await Factory(session, state.queue).keyring().recognise(key)
    if known.expires_at is not None and known.expires_soon(datetime.now(UTC)):
        answer_headers(request).append(("Aegis-Key-Expires", timestamp(known.expires_at)))
    return known.caller


CallerDependency = Annotated[Caller, Depends(get_caller)]


async def get_administrator(caller: CallerDependency) -> Caller:
    """The caller if it is an administrator; checked first, also before a stored response."""
    administered_tenant(caller, None)
    return caller


AdministratorDependency = Annotated[Caller, Depends(get_administrator)]


async def get_publisher(caller: CallerDependency) -> Caller:
    """The caller, if it may publish; checked before the body is read."""
    require_publisher(caller)
    return caller


PublisherDependency = Annotated[Caller, Depends(get_publisher)]


async def require_room(state: StateDependency, _: CallerDependency) -> None:
    """Refuse to store more, before a body is read, if the disk is almost full.

    Raises:
        StorageFullError: it is.
    """
    state.limits.refuse_full_disk()


async def get_factory(state: StateDependency) -> AsyncIterator[Factory]:
    """Services in one transaction, which their first statement begins and which commits before the response."""
    async with state.database.transaction() as session:
        yield services_of(state, session)


# With the default scope, the commit would follow the response, so a failed commit would still have sent 201.
FactoryDependency = Annotated[Factory, Depends(get_factory, scope="function")]

Version = Annotated[int | None, Query(ge=1, description="Version number; the latest by default")]

AcceptSmallCounts = Annotated[
    bool, Query(description="Publish exact counts of 1 to 4 unchanged: everyone who may read the counts sees them")
]


def get_admission(state: StateDependency, *, accept_small_counts: AcceptSmallCounts = False) -> Admission:
    """The requirements of a new version, and whether this call accepts its small counts."""
    return state.admission.confirmed(is_confirmed=accept_small_counts)


AdmissionDependency = Annotated[Admission, Depends(get_admission)]


async def get_body(state: StateDependency, request: Request) -> AsyncIterator[bytes]:
    """The body in parts; refused if it is too large or not declared as JSON, or if too many bodies are being read."""
    with state.limits.bodies.share() as take:
        yield await read_body(request, state.max_body_bytes, take=take)


async def get_small_body(state: StateDependency, request: Request) -> bytes:
    """A body with a low size limit; empty if there is none and none is needed.

    Many clients declare JSON even without a body.
    """
    is_optional = not request.scope["route"].openapi_extra["requestBody"]["required"]
    headers = request.headers
    # RFC 9112, section 6.3
    has_no_body = headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
    if is_optional and "content-type" not in headers and has_no_body:
        return b""
    return await read_body(request, min(SMALL_BODY, state.max_body_bytes), may_be_empty=is_optional)


async def get_patch(state: StateDependency, request: Request) -> bytes:
    """The small body of a PATCH request."""
    return await read_body(request, min(SMALL_BODY, state.max_body_bytes), PATCH_TYPES)


BodyDependency = Annotated[bytes, Depends(get_body)]
SmallBodyDependency = Annotated[bytes, Depends(get_small_body)]
PatchDependency = Annotated[bytes, Depends(get_patch)]

OwnTenant = Annotated[
    str | None, Query(max_length=LONGEST_TENANT, description="Tenant; only operators may name another tenant")
]
