"""The lease of a request, renewed while it is needed."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Final

from aegis_provider.errors import ServiceError
from aegis_sdk import AegisError, Client, ConflictError

SECONDS: Final = 60
"""Duration of a lease: the time after the death of a program until another takes over."""

LEASED: Final = "leased"
"""The error code while another program has the lease."""

_RENEWALS: Final = 4
"""Renewals per duration of a lease, so that a slow response does not end it."""


@dataclass(frozen=True)
class Held:
    """A lease.

    Attributes:
        id: Its id, for the delivery descriptor.
        lost: Set if another program has taken the lease, or the request has changed.
    """

    id: str
    lost: Event = field(default_factory=Event)

    def refuse_if_lost(self) -> None:
        """Stop if the lease was lost.

        Raises:
            ServiceError: Another program fulfils the request, or it can no longer be fulfilled.
        """
        if self.lost.is_set():
            raise ServiceError("the lease was lost: another program fulfils the request, or it has changed")


@contextmanager
def leased(service: Client, request_id: str, seconds: int = SECONDS) -> Iterator[Held]:
    """Take the lease of a request, renew it in the background, and release it at the end.

    If renewals fail for long enough, another program may take the request, and the service refuses this one's delivery.

    Raises:
        ConflictError: Another program has it, or the request is not approved.
        AegisError: The service does not respond, or does not let the caller fulfil requests.
    """
    held = Held(service.requests.lease(request_id, seconds).lease)
    done = Event()
    renewing = Thread(target=_renew, args=(service, request_id, seconds, held, done), daemon=True)
    renewing.start()
    try:
        yield held
    finally:
        done.set()
        renewing.join()
        with suppress(AegisError):  # the lease expires anyway
            service.requests.release(request_id, held.id)


def _renew(service: Client, request_id: str, seconds: int, held: Held, done: Event) -> None:
    while not done.wait(seconds / _RENEWALS):
        try:
            service.requests.lease(request_id, seconds, held.id)
        except ConflictError:
            held.lost.set()
            return
        except AegisError:
            continue  # the next try may succeed
