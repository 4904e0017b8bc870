"""The application. `create_app` builds it; only its start needs a database."""

import asyncio
import gc
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import cache

import structlog
import uvicorn
from anyio import to_thread
from fastapi import Depends, FastAPI
from opentelemetry.trace import Tracer
from prometheus_client import CollectorRegistry, ProcessCollector
from starlette.exceptions import HTTPException

from app import routes as registry
from app.about import reference_of
from app.advice.service.advice import RecentVersions
from app.advice.store.announcements import Announcements
from app.audit.service import AuditService, Signer, signer_of
from app.callers.identity.code_flow import code_flow, token_reader
from app.callers.service import SessionRules, refuse_open_door
from app.console import registry as console
from app.edge.dependencies import refuse_odd_parameters
from app.edge.state import Limits, State
from app.entries.api import uploads
from app.entries.service.admission import Admission, SmallCounts, SmallCountsGate
from app.entries.service.checks import Policy
from app.factory import Factory
from app.pages.page_route import with_pages
from app.platform.database.migrations import known_revisions, newest_revision
from app.platform.database.probe import Probe
from app.platform.database.session import Database
from app.platform.http import refusals as errors
from app.platform.http.middleware import middlewares
from app.platform.http.server import Server, listening_on, server_config
from app.platform.process.child import ChildProcess, keep_warm
from app.platform.queue.model import Lane
from app.platform.queue.queue import queue_app
from app.platform.telemetry import (
    UNTRACED,
    ApiMetrics,
    BuildCollector,
    ChildrenCollector,
    DatabaseCollector,
    PoolCollector,
    build_version,
    tracer_for,
)
from app.settings import Settings
from app.tenants.required_privacy import required_by

_log = structlog.get_logger(__name__)

_DESCRIPTION = (
    "Picks the masking configuration of a table that loses the least predictive utility, from summaries, "
    "without ever seeing a record."
)


def create_app(
    settings: Settings,
    on_ready: Callable[[], Awaitable[None]] | None = None,
    tracer: Tracer = UNTRACED,
    example: str = "",
    database: Database | None = None,
) -> FastAPI:
    """Build the application for `settings`; await `on_ready` once it can respond.

    In development mode, the console offers to publish `example`, an entry file. `database` is a pool that stays open,
    for tests; by default, the application opens and closes its own.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with running_state(settings, app.state.metrics, database) as state:
            _observe(app.state.registry, state)
            app.state.aegis = state
            if on_ready is not None:
                await on_ready()
            yield

    metrics = CollectorRegistry()
    app = FastAPI(
        title="Aegis",
        version=build_version(),
        description=_DESCRIPTION,
        lifespan=lifespan,
        middleware=middlewares(settings, metrics, tracer),
        openapi_url=None,  # `app.about` serves it
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.registry = metrics
    app.state.metrics = ApiMetrics(metrics)
    app.state.example = example
    errors.register(app)
    if settings.console:
        app.add_exception_handler(HTTPException, with_pages(errors.refused_by_framework))
    consoles = console.ROUTERS if settings.console else ()
    app.state.routes = [*app.routes, *(route for router in (*consoles, *registry.ROUTERS) for route in router.routes)]
    for router in consoles:  # before the API, whose `/` serves programs
        app.include_router(router, include_in_schema=False)
    for router in registry.ROUTERS:
        app.include_router(router, dependencies=[Depends(refuse_odd_parameters)])
    # FastAPI's documented way to change the document.
    app.openapi = cache(lambda: registry.openapi(app, registry.ROUTERS))  # type: ignore[method-assign]
    app.state.reference = cache(lambda: reference_of(app.openapi()))
    return app


def _observe(registry: CollectorRegistry, state: State) -> None:
    ProcessCollector(registry=registry)
    registry.register(BuildCollector())
    registry.register(PoolCollector(state.database))
    registry.register(DatabaseCollector(state.probe))
    children = {f"check_{lane.value}": child for lane, child in state.checking.items()}
    registry.register(ChildrenCollector({**children, "answer": state.making}))


@asynccontextmanager
async def running_state(
    settings: Settings, metrics: ApiMetrics, shared: Database | None = None
) -> AsyncIterator[State]:
    """Child processes for the duration of the block, and database connections unless they are `shared`.

    Raises:
        OpenDoorError: no key exists yet, and others can reach the host.
    """
    url = settings.database_url
    if url is None:
        message = "the API needs a database: set AEGIS_DATABASE_URL, or use `aegis-server serve`"
        raise ValueError(message)
    database = shared or Database(url, pool_size=settings.pool_size)
    announcements, queue, probe = Announcements(url), queue_app(url), Probe(url)
    tokens = token_reader(settings)
    try:
        for read in (newest_revision, known_revisions):  # from files, so that no check of the database waits for that
            await to_thread.run_sync(read)
        async with database.transaction() as session:
            development_mode = await refuse_open_door(Factory(session, queue).keyring(), settings)
            signer = await _ready_log(Factory(session, queue).audit(), settings)
        # Small counts need consent only once a service has keys.
        usual = SmallCounts.ACCEPT if development_mode else SmallCounts.CONFIRM
        small_counts = usual if settings.small_counts is None else SmallCounts(settings.small_counts)
        checking = uploads.checking_children()
        making = ChildProcess(uploads.__name__, uploads.DEADLINE, uploads.MOST_WAITING)
        async with _warm(checking[Lane.LIGHT], [*checking.values(), making]), announcements.listening():
            yield State(
                database=database,
                probe=probe,
                queue=queue,
                announcements=announcements,
                checking=checking,
                making=making,
                recent=RecentVersions(),
                max_body_bytes=settings.max_body_bytes,
                question_budget=settings.question_budget,
                tenant_jobs=settings.tenant_jobs,
                policy=Policy(settings.min_cell, settings.require_noise, settings.max_epsilon),
                admission=Admission(SmallCountsGate(small_counts), required_by(settings)),
                development_mode=development_mode,
                metrics=metrics,
                limits=Limits.by(settings, development_mode=development_mode),
                webhooks_allow_private=settings.webhooks_allow_private,
                links_allow_private=settings.links_allow_private,
                session_rules=SessionRules(timedelta(hours=settings.console_session_hours), settings.oidc_issuer),
                console_origin=settings.console_origin,
                tokens=tokens,
                code_flow=code_flow(settings, tokens),
                signer=signer,
            )
    finally:
        await probe.close()
        if shared is None:
            await database.close()


@asynccontextmanager
async def _warm(first: ChildProcess, later: Sequence[ChildProcess]) -> AsyncIterator[None]:
    """Start one process at once and the others in the background, for the duration of the block."""
    # If it dies first, the first call starts another.
    warming = asyncio.gather(first.warm(), return_exceptions=True)
    keeping = asyncio.create_task(keep_warm(later))
    try:
        yield
    finally:
        # Cancelling the start of the child could leave a process behind, so wait for it.
        await asyncio.wait([warming])
        keeping.cancel()


async def _ready_log(audit: AuditService, settings: Settings) -> Signer | None:
    """The signer of receipts, after publishing its key. Warns if the log is unprotected or unsigned."""
    if await audit.log.is_changeable():
        _log.warning("audit log can be changed by the service's own role: set AEGIS_OWNER_DATABASE_URL")
    signer = signer_of(settings.audit_key, settings.audit_key_file)
    if signer is None:
        _log.warning("no receipts and no signed heads: set AEGIS_AUDIT_KEY_FILE")
    else:
        await audit.use(signer)
        if (await audit.log.keys())[-1].id != signer.key_id:
            _log.warning("audit key was replaced by another one, and signs no heads", kid=signer.key_id)
    return signer


def run(settings: Settings, example: str = "") -> None:
    """Serve until SIGTERM. When ready, print curl commands with `example` as the entry file."""

    async def ready() -> None:
        # Each full collection of the modules and routes, which stay, would hold up all requests for 0.2 seconds.
        gc.collect()
        gc.freeze()
        host, port = listening.getsockname()[:2]
        sys.stdout.write(_greeting(host, port, example or "entry.json", has_console=settings.console))
        sys.stdout.flush()

    with tracer_for(settings.traces_endpoint, "aegis-api") as tracer:
        app = create_app(settings, ready, tracer, example)
        server, listening = listening_server(settings, app)
        server.run(sockets=[listening, *_metrics_sockets(settings, app)])


def listening_server(settings: Settings, app: FastAPI) -> tuple[Server, socket.socket]:
    """The server of an application, and its bound socket, so that the greeting can name the port."""
    config = server_config(settings, app)
    return Server(config, app, settings.drain_seconds), listening_on(config)


def _metrics_sockets(settings: Settings, app: FastAPI) -> Iterator[socket.socket]:
    """The socket for the metrics, if they have a port of their own."""
    if settings.metrics_port is None:
        return
    listening = listening_on(uvicorn.Config(app, settings.metrics_host, settings.metrics_port, log_config=None))
    app.state.metrics_port = listening.getsockname()[1]
    _log.info("metrics served", port=app.state.metrics_port)
    yield listening


def _greeting(host: str, port: int, example: str, *, has_console: bool) -> str:
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    json_header = "-H 'Content-Type: application/json'"
    find_id = r"""grep -oE '"(id|entry)": ?"[0-9a-f-]{36}"' | cut -d '"' -f 4"""
    place = f"The console is at {url}/\n\n" if has_console else ""
    return f"""
{place}Aegis listens on {url}

  curl -s {url}/readyz
  curl -s {url}/v1/measures
  ENTRY=$(curl -s {json_header} --data-binary @{example} {url}/v1/entries | {find_id})
  curl -s {json_header} -d '{{"measure": "mutual_information", "limit": 3}}' {url}/v1/entries/$ENTRY/advice

If API keys exist, add -H "Authorization: Bearer $AEGIS_API_KEY". Ctrl-C stops the service.

"""
