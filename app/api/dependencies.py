"""Dependencies of routes: the state of the process, the caller, services in a transaction, bodies, preconditions."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Annotated

import orjson
from fastapi import Depends, Header, Query, Request
from procrastinate import App

from app.api.bodies import SMALL_BODY, read_body
from app.api.errors import MalformedRequestError, PreconditionRequiredError
from app.api.mapping import visibility_body
from app.api.methods import PATCH_TYPES
from app.catalog.announcements import Announcements
from app.catalog.session import Database
from app.domain.callers import DEVELOPER, Caller, is_key
from app.domain.entries import Head
from app.domain.errors import RoleNotAllowedError, UnknownKeyError
from app.domain.lanes import Lane
from app.factory import Factory
from app.identity import TokenReader
from app.process.child import ChildProcess
from app.services.admission import Admission
from app.services.catalogue import require_publisher
from app.services.policy import Policy
from app.services.recent_versions import RecentVersions
from app.settings import LOOPBACK


@dataclass(frozen=True, slots=True)
class State:
    """The state of the process: made when it starts, and kept at `request.app.state.aegis`.

    Attributes:
        database: the catalogue's.
        queue: the queue of jobs.
        announcements: tell which advice has been answered.
        checking: the child processes that check entries.
        making: the child process that makes large answers.
        recent: what is known of the versions that were asked about lately.
        max_body_bytes: how large an entry may be.
        question_budget: how many questions a tenant with the coarse view may ask about a version.
        tenant_jobs: how many jobs of a tenant may run at the same time.
        policy: what disclosure control entries must have.
        admission: what is asked of new versions besides.
        development_mode: whether everybody may do everything.
        tokens: reads tokens of the trusted issuer; None if there is none.
    """

    database: Database
    queue: App
    announcements: Announcements
    checking: Mapping[Lane, ChildProcess]
    making: ChildProcess
    recent: RecentVersions
    max_body_bytes: int
    question_budget: int
    tenant_jobs: int
    policy: Policy
    admission: Admission
    development_mode: bool
    tokens: TokenReader | None = None


def get_state(request: Request) -> State:
    """The state of the process."""
    state: State = request.app.state.aegis
    return state


StateDependency = Annotated[State, Depends(get_state)]


async def get_caller(
    state: StateDependency, request: Request, authorization: Annotated[str | None, Header()] = None
) -> Caller:
    """The caller: the holder of the key or of the token, or the developer in development mode.

    This has a transaction of its own, since no transaction must stay open while a body is uploaded.
    """
    if state.development_mode:
        _refuse_other_name(request.headers.get("host", ""))
        return DEVELOPER
    scheme, _, key = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        raise UnknownKeyError(
            "Send an API key: 'Authorization: Bearer KEY' (the command aegis reads the key from AEGIS_API_KEY)."
        )
    if state.tokens is not None and not is_key(key.strip()):
        return await state.tokens.caller(key.strip())
    async with state.database.transaction() as session:
        return (await Factory(session, state.queue).keyring().recognise(key.strip())).caller


def _refuse_other_name(host: str) -> None:
    """Refuse a request without a key under a name that others own: a web page may have made it lead here."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if name.lower() not in LOOPBACK:
        raise RoleNotAllowedError(
            "This service has no keys and answers this machine only: call it http://127.0.0.1 or http://localhost."
        )


CallerDependency = Annotated[Caller, Depends(get_caller)]


async def get_publisher(caller: CallerDependency) -> Caller:
    """The caller, if it may publish; checked before the body is read."""
    require_publisher(caller)
    return caller


PublisherDependency = Annotated[Caller, Depends(get_publisher)]


async def get_factory(state: StateDependency) -> AsyncIterator[Factory]:
    """Services in one transaction. Their first statement begins it, and it is committed before the answer is sent."""
    async with state.database.transaction() as session:
        yield Factory(session, state.queue, state.tenant_jobs)


# With the default scope the commit would come after the answer, so a failed commit would still have answered 201.
FactoryDependency = Annotated[Factory, Depends(get_factory, scope="function")]


AcceptSmallCounts = Annotated[
    bool, Query(description="Publish exact counts of 1 to 4 as they are: whoever may read the counts may know them")
]


def get_admission(state: StateDependency, *, accept_small_counts: AcceptSmallCounts = False) -> Admission:
    """What is asked of a new version, and whether this call accepts its small counts."""
    gate = replace(state.admission.small_counts, is_confirmed=accept_small_counts)
    return replace(state.admission, small_counts=gate)


AdmissionDependency = Annotated[Admission, Depends(get_admission)]


async def get_body(state: StateDependency, request: Request) -> bytes:
    """The body as bytes; refused if it is too large or not declared as JSON."""
    return await read_body(request, state.max_body_bytes)


async def get_small_body(state: StateDependency, request: Request) -> bytes:
    """The body of a request that is always small, with a lower limit."""
    return await read_body(request, min(SMALL_BODY, state.max_body_bytes))


async def get_patch(state: StateDependency, request: Request) -> bytes:
    """The body of a PATCH request, also small."""
    return await read_body(request, min(SMALL_BODY, state.max_body_bytes), PATCH_TYPES)


BodyDependency = Annotated[bytes, Depends(get_body)]
SmallBodyDependency = Annotated[bytes, Depends(get_small_body)]
PatchDependency = Annotated[bytes, Depends(get_patch)]

Precondition = Callable[[Head], bool]


def etag(head: Head) -> str:
    """The entity tag of an entry: its version, 16 digits of its digest, and 8 of that of its visibility.

    Like everything else in a head, they are those that the caller sees.
    """
    visibility = orjson.dumps(visibility_body(head.visibility))
    return f'"{head.version}-{head.digest.rpartition(":")[2][:16]}-{sha256(visibility).hexdigest()[:8]}"'


def get_precondition(if_match: Annotated[str | None, Header()] = None) -> Precondition:
    """A check, by `If-Match`, whether a head is the one that the caller has seen."""
    if if_match is None:
        raise PreconditionRequiredError("Say which version to change: send If-Match with the ETag of the entry.")
    return _matcher(if_match)


def get_optional_precondition(if_match: Annotated[str | None, Header()] = None) -> Precondition:
    """The same check if `If-Match` is optional: without it, every head passes."""
    return _matcher("*" if if_match is None else if_match)


PreconditionDependency = Annotated[Precondition, Depends(get_precondition)]
OptionalPreconditionDependency = Annotated[Precondition, Depends(get_optional_precondition)]


def _matcher(if_match: str) -> Precondition:
    if if_match.strip() == "*":
        return lambda _head: True
    tags = {tag.strip() for tag in if_match.split(",")}
    if not all(len(tag) > 1 and tag.removeprefix("W/").startswith('"') and tag.endswith('"') for tag in tags):
        raise MalformedRequestError(f"If-Match must be * or entity tags in double quotes, not {if_match!r}.")
    return lambda head: etag(head) in tags
