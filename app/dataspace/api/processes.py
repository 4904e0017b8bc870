"""The routes of negotiations and of transfers, which have one form: a process is begun, read, and told of messages."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, Generic, TypeVar

import structlog
from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel

from aegis_sdk.wire import dataspace as dsp
from app.advice.service.advice import RecentVersions
from app.dataspace.api.refusals import DataspaceRoute, described
from app.dataspace.model.processes import process_id_of
from app.dataspace.service.messages import BASE, is_read
from app.dataspace.service.processes import ProcessService, Sender
from app.dataspace.service.sending import Due, SendingService
from app.dataspace.store import AnyProcess
from app.edge.dependencies import CallerDependency, FactoryDependency, SmallBodyDependency, require_room
from app.edge.state import State, StateDependency
from app.factory import Factory
from app.platform.callers import Caller
from app.platform.errors import Fault, InvalidDocumentError
from app.platform.http.bodies import validated
from app.platform.http.operations import JsonResponse, body

_log = structlog.get_logger(__name__)

AnyMessage = TypeVar("AnyMessage", bound=dsp.ContractRequestMessage | dsp.TransferRequestMessage | dsp.OfProcess)
_AnyService = TypeVar("_AnyService", bound=ProcessService[Any])

_PROCESS: Final = "/{process_id}"


@dataclass(frozen=True, slots=True)
class _Call:
    """What a route is called with, in this order: no transaction is open while the body arrives."""

    request: Request
    caller: CallerDependency
    document: SmallBodyDependency
    state: StateDependency
    factory: FactoryDependency


@dataclass(frozen=True, slots=True)
class Received(Generic[AnyMessage, _AnyService]):
    """A valid message of a consumer, and the service that acts on it.

    Attributes:
        pid: the process that it is about; empty if it begins one.
    """

    message: AnyMessage
    service: _AnyService
    caller: Caller
    state: State
    pid: str

    @property
    def sender(self) -> Sender:
        """Who has sent it about which process."""
        return Sender(self.caller, self.pid, self.message.consumer_pid)


_Act = Callable[[Received[AnyMessage, _AnyService]], Awaitable[AnyProcess]]


@dataclass(frozen=True, slots=True)
class Kind(Generic[AnyProcess, _AnyService]):
    """Negotiations or transfers: what they are called, and what answers for them.

    Attributes:
        model: the state of a process on the wire.
        written: makes one, with what a consumer that polls would have been sent.
        service: acts on messages.
        messages: knows what would have been sent.
    """

    noun: str
    model: type[BaseModel]
    written: Callable[[AnyProcess, Due[AnyProcess] | None], dsp.Message]
    service: Callable[[Factory, RecentVersions], _AnyService]
    messages: Callable[[Factory], SendingService[AnyProcess]]


class ProcessRoutes(Generic[AnyProcess, _AnyService]):
    """The routes of one kind of process, whose refusals have the form of `route`."""

    def __init__(self, kind: Kind[AnyProcess, _AnyService], route: type[DataspaceRoute]) -> None:
        self._kind: Kind[AnyProcess, _AnyService] = kind
        self._error = route.error
        self.router = APIRouter(prefix=f"{BASE}/{kind.noun}s", tags=["dataspace"], route_class=route)

    def add_reading(self) -> None:
        """Add the route that reads a process."""
        kind = self._kind

        async def read(
            process_id: str, caller: CallerDependency, state: StateDependency, factory: FactoryDependency
        ) -> Response:
            process = await kind.service(factory, state.recent).find(caller, process_id)
            said = await kind.messages(factory).said(process) if is_read(process) else None
            return JsonResponse(kind.written(process, said).written())

        self.router.add_api_route(
            _PROCESS,
            read,
            name=f"read_{kind.noun}",
            summary=f"Read a {kind.noun}",
            description=f"The state of a {kind.noun}.",
            responses=self._described(200),
        )

    def post(
        self, path: str, summary: str, model: type[AnyMessage], *, stores: bool = False
    ) -> Callable[[_Act[AnyMessage, _AnyService, AnyProcess]], _Act[AnyMessage, _AnyService, AnyProcess]]:
        """Make a route of what a message does; `stores` says whether it needs room on the disk."""
        begins = not path.startswith(_PROCESS)
        status = 201 if begins else 200

        def add(act: _Act[AnyMessage, _AnyService, AnyProcess]) -> _Act[AnyMessage, _AnyService, AnyProcess]:
            async def begin(call: Annotated[_Call, Depends()]) -> Response:
                return await self._acted(act, model, call)

            async def change(call: Annotated[_Call, Depends()], process_id: str) -> Response:
                return await self._acted(act, model, call, process_id)

            self.router.add_api_route(
                path,
                begin if begins else change,
                methods=["POST"],
                name=act.__name__,
                summary=summary,
                description=act.__doc__,
                status_code=status,
                dependencies=[Depends(require_room)] if stores else [],
                openapi_extra=body(model),
                responses=self._described(status, 413, 415, *([507] if stores else [])),
            )
            return act

        return add

    def _described(self, status: int, *refusals: int) -> dict[int | str, dict[str, Any]]:
        return described(self._error, status, self._kind.model, f"The {self._kind.noun}", *refusals)

    async def _acted(
        self,
        act: _Act[AnyMessage, _AnyService, AnyProcess],
        model: type[AnyMessage],
        call: _Call,
        pid: str | None = None,
    ) -> Response:
        """The state of the process that a message begins, or of the one with this id."""
        message = await validated(model, call.document)
        call.request.state.consumer_pid = message.consumer_pid  # a refusal repeats it
        if pid is not None and process_id_of(getattr(message, "provider_pid", None) or "") != process_id_of(pid):
            fault = Fault("/providerPid", f"This is {pid}.")
            raise InvalidDocumentError("The message is for another process.", (fault,))
        service = self._kind.service(call.factory, call.state.recent)
        process = await act(Received(message, service, call.caller, call.state, pid or ""))
        about = {self._kind.noun: process.id, "state": process.state.value, "data_request": process.request.id}
        _log.info(f"{self._kind.noun} {'begun' if pid is None else 'changed'}", **about, by=call.caller.subject)
        return JsonResponse(self._kind.written(process, None).written(), 201 if pid is None else 200)
