"""The provider's part of data requests, unattended: approve by rules, fulfil, back off, and begin again.

Any number of agents may run with the same policy, on any number of machines: the lease of a request lets one of them
fulfil it, and if that one dies, another takes over.
"""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Final, Literal

from aegis_provider.handover.approving import approve
from aegis_provider.handover.fulfilling import Order, fulfil
from aegis_provider.handover.leasing import LEASED, SECONDS
from aegis_provider.handover.policy import Policy
from aegis_provider.handover.relinking import ends_soon, relink
from aegis_provider.handover.retrying import pause
from aegis_provider.workflow.results import Stage, unseen
from aegis_sdk import AegisError, Client, ConflictError
from aegis_sdk.wire import DataRequestHead

SHORTEST_PAUSE: Final = 5.0

RELINKING: Final = 3600.0
"""The seconds after which an agent looks again for links that end."""


@dataclass(frozen=True)
class Event:
    """Something that an agent did, or could not do.

    Attributes:
        kind: What: it approved a request, delivered, gave a new link, or failed.
        request: The request; `None` if the service does not answer.
        detail: The configuration, or why it failed.
        retry_in: After how many seconds it tries again; 0 if it has not failed.
    """

    kind: Literal["approved", "delivered", "relinked", "failed"]
    request: DataRequestHead | None
    detail: str
    retry_in: float = 0.0


@dataclass
class _Failures:
    """The failures of a request in a row, and when it is tried again."""

    number: int = 0
    not_before: float = 0.0


@dataclass
class Agent:
    """Does what its policy says.

    Attributes:
        service: The service, with a key of the provider.
        policy: What it may do.
        work: A directory for what is done until it is delivered. Agents on one machine may share it.
        lease_seconds: How long after this agent has died another one takes over.
        stage: Shows the progress.
        clock: The seconds that have passed, for the pauses between tries.
    """

    service: Client
    policy: Policy
    work: Path
    lease_seconds: int = SECONDS
    stage: Stage = unseen
    clock: Callable[[], float] = monotonic
    _failures: dict[str, _Failures] = field(default_factory=dict)
    _silent: int = 0
    _look_at_links: float = 0.0

    def round(self) -> Iterator[Event]:
        """Approve and fulfil all that can be now, and yield what is done. A failure ends only what it concerns."""
        try:
            for request in approve(self.service, self.policy):
                yield Event("approved", request, request.configuration or "")
            for request in reversed([*self.service.requests.list("approved", side="provider")]):
                if request.entry.name in self.policy.supplies and self._is_due(request):
                    yield from self._fulfilled(request)
            self._tidy()
            yield from self._relinked()
            self._silent = 0
        except AegisError as error:
            self._silent += 1
            yield Event("failed", None, str(error), self.rest)

    def _relinked(self) -> Iterator[Event]:
        """Give new links, once an hour, to what was delivered by links that end within a day."""
        if self.clock() < self._look_at_links:
            return
        self._look_at_links = self.clock() + RELINKING
        for request in self.service.requests.list("delivered", side="provider"):
            if request.entry.name in self.policy.supplies and ends_soon(self.service.requests.get(request.id)):
                try:
                    relink(self.service, request.id, self.policy.storage)
                except AegisError as error:
                    yield Event("failed", request, str(error), RELINKING)
                else:
                    yield Event("relinked", request, request.configuration or "")

    def _tidy(self) -> None:
        """Remove the masked tables of requests that nobody can fulfil any more, such as withdrawn ones."""
        for folder in self.work.iterdir() if self.work.is_dir() else ():
            if self.service.requests.get(folder.name).state != "approved":
                shutil.rmtree(folder, ignore_errors=True)  # another agent may have been faster

    @property
    def rest(self) -> float:
        """The seconds until the next round: more, the more often the service did not answer."""
        return pause(self._silent, SHORTEST_PAUSE)

    def _is_due(self, request: DataRequestHead) -> bool:
        failures = self._failures.get(request.id)
        return failures is None or failures.not_before <= self.clock()

    def _fulfilled(self, request: DataRequestHead) -> Iterator[Event]:
        supply = self.policy.supplies[request.entry.name]
        order = Order(
            self.service,
            request.id,
            supply.table,
            supply.plan,
            delimiter=supply.delimiter,
            ending=supply.ending,
            lease_seconds=self.lease_seconds,
            stage=self.stage,
        )
        try:
            fulfil(order, self.policy.storage, self.work)
        except ConflictError as error:
            if error.code != LEASED:  # another agent is at work, or has just been
                yield self._failed(request, error)
        except AegisError as error:
            yield self._failed(request, error)
        else:
            self._failures.pop(request.id, None)
            yield Event("delivered", request, request.configuration or "")

    def _failed(self, request: DataRequestHead, error: AegisError) -> Event:
        failures = self._failures.setdefault(request.id, _Failures())
        failures.number += 1
        wait = pause(failures.number, SHORTEST_PAUSE)
        failures.not_before = self.clock() + wait
        return Event("failed", request, str(error), wait)
