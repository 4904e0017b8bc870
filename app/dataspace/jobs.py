"""Sends messages of the Dataspace Protocol to counterparts, by the rules of webhooks: addresses, time and size."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, Generic
from urllib.parse import quote

import structlog
from procrastinate import App

from app.audit.service import Signer
from app.dataspace.model.offers import participant_of
from app.dataspace.model.processes import Negotiation, Transfer
from app.dataspace.service.messages import is_read, negotiation_message, transfer_message
from app.dataspace.service.sending import Due, SendingService
from app.dataspace.store import AnyProcess
from app.factory import Factory
from app.platform.database.session import Database
from app.webhooks.jobs import CONCURRENCY, POLLING, EventSender
from app.webhooks.model import Outcome

_log = structlog.get_logger(__name__)

#: The kind of token that goes with a message.
CALLBACK: Final = "aegis-dsp-callback"

#: How long it is valid.
_VALID: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class _Kind(Generic[AnyProcess]):
    """A kind of process: its path below a callback address, and its messages."""

    path: str
    messages: Callable[[Factory], SendingService[AnyProcess]]
    written: Callable[[Due[AnyProcess]], tuple[str, dict[str, Any]]]


_NEGOTIATIONS: Final = _Kind("negotiations", Factory.negotiation_messages, negotiation_message)
_TRANSFERS: Final = _Kind("transfers", Factory.transfer_messages, transfer_message)


class Messenger:
    """Sends what is due, outside of any transaction.

    A process is claimed while its message is sent. If this worker dies, the claim expires, and the message is sent
    again; a counterpart that has it already refuses it, which counts as a failed attempt.
    """

    def __init__(self, database: Database, queue: App, sender: EventSender, signer: Signer | None) -> None:
        self._database, self._queue, self._sender, self._signer = database, queue, sender, signer
        self._busy = 0

    async def run(self) -> None:
        """Send until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                try:
                    await self._start(group)
                except Exception as error:  # noqa: BLE001 -- it must go on after the database was unavailable
                    _log.warning("messages interrupted", error=type(error).__name__)
                await asyncio.sleep(POLLING)

    async def run_once(self) -> None:
        """Send what is due now, up to the limit of concurrent messages."""
        async with asyncio.TaskGroup() as group:
            await self._start(group)

    async def _start(self, group: asyncio.TaskGroup) -> None:
        for claim in (partial(self._claimed, _NEGOTIATIONS), partial(self._claimed, _TRANSFERS)):
            while self._busy < CONCURRENCY and (send := await claim()) is not None:
                self._busy += 1
                group.create_task(self._freed(send))

    async def _freed(self, send: Awaitable[None]) -> None:
        try:
            await send
        except Exception as error:  # noqa: BLE001 -- the claim ends by itself
            _log.warning("message interrupted", error=type(error).__name__)
        finally:
            self._busy -= 1

    async def _claimed(self, kind: _Kind[AnyProcess]) -> Awaitable[None] | None:
        """Claim a message; return what sends it, or None if there is none."""
        async with self._database.transaction() as session:
            due = await kind.messages(Factory(session, self._queue)).claim()
        return None if due is None else self._send(kind, due)

    async def _send(self, kind: _Kind[AnyProcess], due: Due[AnyProcess]) -> None:
        path, message = kind.written(due)
        pid = quote(due.process.consumer_pid, safe=":")  # a colon needs no escape (RFC 3986, section 3.3)
        outcome = await self._sent(due.process, f"{kind.path}/{pid}/{path}", message)
        async with self._database.transaction() as session:
            await kind.messages(Factory(session, self._queue)).record(due, outcome)

    async def _sent(self, process: Negotiation | Transfer, path: str, message: Mapping[str, Any]) -> Outcome:
        if is_read(process):
            return Outcome(200)
        headers = {"Content-Type": "application/json", "User-Agent": "Aegis"}
        if self._signer is not None:
            headers["Authorization"] = f"Bearer {self._token(self._signer, process)}"
        url = f"{process.callback.rstrip('/')}/{path}"
        return await self._sender.post(url, headers, json.dumps(message).encode())

    def _token(self, signer: Signer, process: Negotiation | Transfer) -> str:
        """A token that only this service can sign, for this callback address and the next minutes."""
        now = datetime.now(UTC)
        claims = {
            "iss": participant_of(process.request.provider),
            "sub": process.pid,
            "aud": process.callback,
            "iat": int(now.timestamp()),
            "exp": int((now + _VALID).timestamp()),
        }
        return signer.sign(CALLBACK, claims)
