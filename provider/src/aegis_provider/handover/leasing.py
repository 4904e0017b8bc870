"""One program at a time fulfils a request: it has the lease, which it renews, and a folder, which records its steps."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Final

from aegis_provider.errors import OutputError
from aegis_provider.files import digest_of, held_alone
from aegis_provider.handover.storage import Storage, file_name, withdraw
from aegis_provider.workflow.folder import Folder
from aegis_sdk import AegisError, Client, ConflictError
from aegis_sdk.wire import DataRequest

SECONDS: Final = 60
"""Duration of a lease: the time after the death of a program until another takes over."""

LEASED: Final = "leased"
"""The error code while another program has the lease."""

_RENEWALS: Final = 4
"""Renewals per duration of a lease, so that a slow response does not end it."""


@dataclass(frozen=True)
class Held:
    """A lease. `lost`: set if another program has taken the lease, or the request has changed."""

    id: str
    lost: Event = field(default_factory=Event)


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


MASKED = "masked"


@contextmanager
def work_folder(work: Path, request_id: str) -> Iterator[Folder]:
    """Open the folder of a request for this program alone, or create one that only its owner can read.

    A killed program loses its lock, so another one can resume.

    Raises:
        InUseError: Another program uses it.
        OutputError: The folder cannot be used.
    """
    try:
        work.mkdir(mode=0o700, exist_ok=True)
        (work / request_id).mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{work}: cannot be used: {error.strerror}") from error
    with held_alone(work / request_id):
        yield Folder.open(work / request_id, ())


def abandon(folder: Folder, request: DataRequest, storage: Storage) -> None:
    """Remove the masked table of a request that can no longer be fulfilled, and its upload.

    Raises:
        OutputError: The folder cannot be removed.
    """
    delivered = None if request.delivery is None else request.delivery.sha256
    for file in folder.path.glob(f"{MASKED}.*"):
        if (sha256 := digest_of(file)) != delivered:
            with suppress(OutputError):  # the storage may be unreachable; the file was not delivered
                withdraw(storage, file_name(request.id, sha256, file.suffix))
    folder.remove()
