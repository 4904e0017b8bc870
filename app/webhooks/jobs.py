"""Delivers events to tenants' addresses, but never into private networks, and with limits of time and size."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any, Final

import anyio
import anyio.to_thread
import httpcore
import httpx
import structlog
from procrastinate import App
from prometheus_client import CollectorRegistry

from aegis_sdk._links import is_public
from app.factory import Factory
from app.platform.database.session import Database
from app.platform.telemetry import WebhookMetrics
from app.webhooks.model import DueDelivery, Outcome, signed_headers
from app.webhooks.store.webhooks import DeliveryStore

_log = structlog.get_logger(__name__)

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

#: The timeout in seconds for name resolution, connection, request and response together.
SECONDS: Final = 10.0

#: The most bytes of a response that are read and discarded.
_MOST_READ: Final = 65_536

#: The most concurrent name lookups, so that a slow name server does not block more threads.
_LOOKUPS: Final = 16


class PrivateAddressError(Exception):
    """A name resolves to an address outside the public internet."""


class AsyncCheckedNetwork(httpcore.AsyncNetworkBackend):
    """Connects to names, after checking all addresses of a name.

    It connects to the checked address itself, so a name that changes in between has no effect.
    """

    def __init__(self, resolve: Resolve, *, allow_private: bool) -> None:
        self._resolve = resolve
        self._allow_private = allow_private
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 -- the library's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first address that accepts a connection.

        Raises:
            PrivateAddressError: one of its addresses is not public.
            httpcore.ConnectError: the name has no address, or none accepts a connection.
        """
        addresses = await self._resolve(host, port)
        if not self._allow_private and not all(map(is_public, addresses)):
            raise PrivateAddressError
        error = httpcore.ConnectError("the name has no address")
        for address in addresses:
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except httpcore.ConnectError as failed:
                error = failed
        raise error


def resolver() -> Resolve:
    """A function that returns all addresses of a name by this machine's resolver."""
    limiter = anyio.CapacityLimiter(_LOOKUPS)

    async def resolve(host: str, port: int) -> Sequence[str]:
        resolved = await anyio.to_thread.run_sync(
            partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM), abandon_on_cancel=True, limiter=limiter
        )
        return list(dict.fromkeys(str(address[0]) for *_, address in resolved))

    return resolve


class EventSender:
    """Posts to tenants' addresses without redirects and proxies, and returns only the status.

    Args:
        allow_private: whether addresses of private networks are allowed, as in development.
        resolve: finds the addresses of a name; by default, this machine's resolver.
        tls: the check of certificates; by default, that of httpx.
        seconds: the timeout of an attempt.
    """

    def __init__(
        self,
        *,
        allow_private: bool,
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self._network = AsyncCheckedNetwork(resolve or resolver(), allow_private=allow_private)
        self._tls = tls or httpx.create_ssl_context()
        self._seconds = seconds

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Outcome:
        """Post a body and return the outcome."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._post(httpx.URL(url), headers, body)
        except PrivateAddressError:
            return Outcome(error="address_refused")
        except (TimeoutError, httpcore.TimeoutException):
            return Outcome(error="timeout")
        except Exception as error:  # noqa: BLE001 -- whatever it is, the attempt has failed and must count
            _log.info("webhook unreachable", error=type(error).__name__)
            return Outcome(error="unreachable")

    async def _post(self, url: httpx.URL, headers: Mapping[str, str], body: bytes) -> Outcome:
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        sent = [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
        async with (
            httpcore.AsyncConnectionPool(ssl_context=self._tls, network_backend=self._network) as pool,
            pool.stream("POST", target, headers=sent, content=body) as answer,
        ):
            await _drained(answer)
            outcome = Outcome(answer.status)
            return outcome if outcome.is_success else replace(outcome, retry_after=_retry_after(answer.headers))


async def _drained(answer: httpcore.Response) -> None:
    """Read a response to its end unless it is long."""
    read = 0
    async for part in answer.aiter_stream():
        read += len(part)
        if read > _MOST_READ:
            return


def _retry_after(headers: Iterable[tuple[bytes, bytes]]) -> timedelta | None:
    """The wait that a response asks for (RFC 9110, section 10.2.3); None if it does not."""
    given = next((value.decode("latin-1").strip() for name, value in headers if name.lower() == b"retry-after"), "")
    if given.isascii() and given.isdigit():
        return timedelta(seconds=min(int(given[:9]), 10**8))
    try:
        moment = parsedate_to_datetime(given).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return max(moment - datetime.now(UTC), timedelta())


#: The most webhooks that a worker serves concurrently.
CONCURRENCY = 8

#: The most events of a webhook before others have their turn.
BATCH = 50

#: Seconds between two polls for due events.
POLLING = 0.5


class Deliverer:
    """Serves the webhooks with due events.

    A webhook is claimed while it is served. Nothing is lost if this process dies: the claim expires, and events that
    were sent but not recorded are sent again with the same id.
    """

    def __init__(
        self,
        database: Database,
        queue: App,
        sender: EventSender,
        concurrency: int = CONCURRENCY,
        metrics: WebhookMetrics | None = None,
    ) -> None:
        self._metrics = metrics or WebhookMetrics(CollectorRegistry())
        self._database = database
        self._queue = queue
        self._sender = sender
        self._concurrency = concurrency
        self._served = 0

    async def run(self) -> None:
        """Deliver until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                try:
                    await self._start(group)
                except Exception as error:  # noqa: BLE001 -- it must go on after the database was unavailable
                    _log.warning("deliveries interrupted", error=type(error).__name__)
                await asyncio.sleep(POLLING)

    async def run_once(self) -> None:
        """Serve the webhooks with events due now, up to the limit of concurrent ones."""
        async with asyncio.TaskGroup() as group:
            await self._start(group)

    async def _start(self, group: asyncio.TaskGroup) -> None:
        while self._served < self._concurrency:
            async with self._database.transaction() as session:
                webhook_id = await DeliveryStore(session).claim()
            if webhook_id is None:
                return
            self._served += 1
            group.create_task(self._serve(webhook_id))

    async def _serve(self, webhook_id: str) -> None:
        """Send a webhook its due events, until an attempt fails or it is the turn of others."""
        try:
            for _ in range(BATCH):
                async with self._database.transaction() as session:
                    due = await DeliveryStore(session).next_due(webhook_id)
                if due is None or not await self._deliver(due):
                    break
            async with self._database.transaction() as session:
                await DeliveryStore(session).release(webhook_id)
        except Exception as error:  # noqa: BLE001 -- the claim ends by itself
            _log.warning("delivery interrupted", webhook=webhook_id, error=type(error).__name__)
        finally:
            self._served -= 1

    async def _deliver(self, due: DueDelivery) -> bool:
        body = due.body()
        headers = {"Content-Type": "application/json", "User-Agent": "Aegis"}
        headers |= signed_headers(due.id, datetime.now(UTC), body, due.secrets)
        outcome = await self._sender.post(due.url, headers, body)
        self._metrics.attempted("delivered" if outcome.is_success else outcome.error or "refused")
        async with self._database.transaction() as session:
            await Factory(session, self._queue).deliveries().record(due, outcome)
        return outcome.is_success
