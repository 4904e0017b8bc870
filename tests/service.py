"""The service for tests: the real application and the real tasks, in the test's own process."""

import copy
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Self

import httpx
import orjson
from opentelemetry.trace import Tracer
from procrastinate import App

from aegis_sdk.wire import EXAMPLE_ENTRY
from app.advice.service import computation
from app.callers.service import Keyring
from app.entries.api.uploads import read_publication
from app.entries.model.entries import Publication
from app.entries.service.checks import NO_POLICY, Policy
from app.factory import Factory
from app.platform.callers import Role
from app.platform.process.child import ChildProcess
from app.platform.queue.lanes import JobWatch
from app.platform.queue.model import Lane
from app.platform.queue.queue import queue_app
from app.platform.telemetry import UNTRACED
from app.settings import Settings
from app.tenants.service import TenantService
from app.worker.tasks import Tasks
from tests.answers import hold_to_contract
from tests.kept import application, database_at

#: The parameters of a call that publishes small counts.
ACCEPTED = {"accept_small_counts": "true"}

#: A key that signs, the same in all processes.
AUDIT_KEY = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"


def example_entry(**changes: Any) -> dict[str, Any]:
    """Return a copy of the contract's example entry, which the caller may change."""
    return copy.deepcopy(EXAMPLE_ENTRY) | changes


def publication(document: dict[str, Any], policy: Policy = NO_POLICY) -> Publication:
    """Read an uploaded document as the service does."""
    return read_publication(orjson.dumps(document), policy)


@asynccontextmanager
async def running_app(
    database_url: str, tracer: Tracer = UNTRACED, **settings: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """Run the API on this database and yield a client, which checks every answer against the contract."""
    app = application(Settings(database_url=database_url, **settings), tracer=tracer)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        hooks = {"response": [hold_to_contract]}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1", timeout=30, event_hooks=hooks
        ) as client:
            yield client


@asynccontextmanager
async def keyring_of(database_url: str) -> AsyncIterator[Keyring]:
    """Yield the keyring, in its own transaction."""
    async with database_at(database_url, pool_size=1) as database, database.transaction() as session:
        yield Factory(session, queue_app(database_url)).keyring()


@asynccontextmanager
async def services_at(database_url: str) -> AsyncIterator[Factory]:
    """Yield all services, in a transaction of their own."""
    async with database_at(database_url, pool_size=1) as database, database.transaction() as session:
        yield Factory(session, queue_app(database_url))


@asynccontextmanager
async def tenants_of(database_url: str) -> AsyncIterator[TenantService]:
    """Yield the service for tenants, in its own transaction."""
    async with database_at(database_url, pool_size=1) as database, database.transaction() as session:
        yield Factory(session, queue_app(database_url)).tenants()


async def create_key(
    database_url: str, tenant: str, role: str, lifetime: timedelta | None = None, *, revoked: bool = False
) -> dict[str, str]:
    """Create a key and return the header that carries it."""
    async with keyring_of(database_url) as keyring:
        key, _ = await keyring.create(tenant, Role(role), lifetime)
        if revoked:
            await keyring.revoke(prefix_of(key))
    return {"Authorization": f"Bearer {key}"}


def prefix_of(key: str) -> str:
    """Return the readable part of a key, by which people name it."""
    return "_".join(key.split("_")[:2])


def state_of(tag: str) -> str:
    """Return what the tags of all representations of an entry have in common."""
    return tag.removeprefix("W/").strip('"').partition("+")[0]


async def publish(api: httpx.AsyncClient, entry: dict[str, Any] | None = None, **headers: str) -> dict[str, Any]:
    """Publish an entry (by default the example, which has small counts), accepting these, and return its head."""
    answer = await api.post("/v1/entries", params=ACCEPTED, json=entry or example_entry(), headers=headers)
    assert answer.status_code == 201, answer.text
    return {name: value for name, value in answer.json().items() if name != "warnings"}


async def ask(api: httpx.AsyncClient, entry_id: str, prefer: str = "respond-async", **question: Any) -> httpx.Response:
    """Ask for advice, without waiting by default."""
    body = json.dumps({"measure": "mutual_information"} | question)
    headers = {"Prefer": prefer, "Content-Type": "application/json"}
    return await api.post(f"/v1/entries/{entry_id}/advice", content=body, headers=headers)


class Worker:
    """The real tasks on the real queue."""

    def __init__(self, queue: App) -> None:
        self.queue = queue

    @classmethod
    @asynccontextmanager
    async def on(cls, database_url: str, watch: JobWatch | None = None) -> AsyncIterator[Self]:
        queue = queue_app(database_url)
        child = ChildProcess(computation.__name__, deadline=60)
        async with database_at(database_url, pool_size=2) as database, queue.open_async():
            Tasks(database, queue, dict.fromkeys(Lane, child), reconstruction_seconds=60, watch=watch).register()
            yield cls(queue)

    async def run(self) -> None:
        """Run every queued job, then return."""
        await self.queue.run_worker_async(wait=False, install_signal_handlers=False, listen_notify=False)
