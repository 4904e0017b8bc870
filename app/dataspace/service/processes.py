"""What the consumer's messages about negotiations and about transfers have in common."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final, Generic

from app.dataspace.model.processes import process_id_of
from app.dataspace.store import AnyProcess, ProcessStore
from app.platform.callers import Caller
from app.platform.errors import Fault, InvalidDocumentError, NotFoundError
from app.requests.model.data_requests import Side

OTHER_PID: Final = Fault("/consumerPid", "Give the id with which the process was begun, and each process its own.")


@dataclass(frozen=True, slots=True)
class Sender:
    """Who sends a message about which process.

    Attributes:
        pid: the provider's id of the process.
        consumer_pid: the consumer's.
    """

    caller: Caller
    pid: str
    consumer_pid: str


@dataclass(frozen=True, slots=True)
class ProcessService(Generic[AnyProcess]):
    """Processes of one kind for their consumers."""

    _processes: ProcessStore[AnyProcess]
    _noun: ClassVar[str]

    async def find(self, caller: Caller, pid: str, *, lock: bool = False) -> AnyProcess:
        """A process in which the caller is the consumer.

        Raises:
            NotFoundError: there is none, or it is not the caller's.
        """
        process = await self._processes.find(process_id_of(pid), lock=lock)
        sides = () if process is None else process.request.sides_of(caller)
        if process is None or Side.CONSUMER not in sides or not process.request.is_visible_to(caller):
            raise NotFoundError(f"There is no {self._noun} {pid}, or you may not see it.")
        return process

    async def _locked(self, sender: Sender) -> AnyProcess:
        """The process of a message, which the consumer calls by its own id, locked for the transaction."""
        process = await self.find(sender.caller, sender.pid, lock=True)
        if process.consumer_pid != sender.consumer_pid:
            raise InvalidDocumentError("The process has another consumerPid.", (OTHER_PID,))
        return process

    async def _moved(self, sender: Sender, state: StrEnum, **members: object) -> AnyProcess:
        """The process of a message in the state to which that leads."""
        await self._processes.set_state(process_id_of(sender.pid), state.value, **members)
        return await self.find(sender.caller, sender.pid)
