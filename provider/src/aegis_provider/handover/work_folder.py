"""The folder for fulfilling a request: it records finished steps, and one program at a time uses it."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from aegis_provider.digests import digest_of
from aegis_provider.errors import OutputError, ServiceError
from aegis_provider.handover.storage import Storage
from aegis_provider.release.table_file import PARQUET_ENDING
from aegis_provider.workflow.folder import Folder
from aegis_sdk.wire import DataRequest, MediaType

CSV_ENDING: Final = ".csv"
MEDIA_TYPES: Final[Mapping[str, MediaType]] = {
    CSV_ENDING: "text/csv",
    PARQUET_ENDING: "application/vnd.apache.parquet",
}


def file_name(request_id: str, sha256: str, ending: str) -> str:
    """Return the name in the storage of a request's masked table."""
    return f"{request_id}-{sha256}{ending}"


def ending_of(media_type: str) -> str:
    """Return the file ending of a media type."""
    return next(ending for ending, each in MEDIA_TYPES.items() if each == media_type)


_MASKED = "masked"


class InUseError(ServiceError):
    """Another program on this machine fulfils the request in the same folder."""


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
        descriptor = os.open(work / request_id, os.O_RDONLY)
    except OSError as error:
        raise OutputError(f"{work}: cannot be used: {error.strerror}") from error
    try:
        _lock(work / request_id, descriptor)
        yield Folder.open(work / request_id, ())
    finally:
        os.close(descriptor)


def _lock(path: Path, descriptor: int) -> None:
    """Lock a directory until its descriptor is closed; fail if it was removed meanwhile."""
    if sys.platform == "win32":
        return
    import fcntl  # noqa: PLC0415 - Windows has none

    in_use = InUseError(f"{path}: another program works here")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_it = os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError as error:
        raise in_use from error
    if not is_it:
        raise in_use


def masked_file(ending: str) -> str:
    """Return the name of the masked table in its folder."""
    return f"{_MASKED}{ending}"


def abandon(folder: Folder, request: DataRequest, storage: Storage) -> None:
    """Remove the masked table of a request that can no longer be fulfilled, and its upload.

    Raises:
        OutputError: The folder cannot be removed.
    """
    delivered = None if request.delivery is None else request.delivery.sha256
    for file in folder.path.glob(f"{_MASKED}.*"):
        if (sha256 := digest_of(file)) != delivered:
            with suppress(OutputError):  # the storage may be unreachable; the file was not delivered
                storage.remove(file_name(request.id, sha256, file.suffix))
    folder.remove()
