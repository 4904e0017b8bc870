"""The provider's own storage, from which consumers fetch masked tables by a link.

File names contain the SHA-256 of the content, so a repeated upload never replaces another file, and a finished one is
not repeated.
"""

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast
from urllib.parse import quote, urlsplit

import httpx

from aegis_provider.errors import OutputError, ServiceError, needs_extra
from aegis_provider.files import written_whole
from aegis_provider.processes import Progress
from aegis_provider.release.table_file import PARQUET_ENDING
from aegis_sdk import Client
from aegis_sdk.cli.terminal import InputError
from aegis_sdk.reading import package_name
from aegis_sdk.wire import DataRequest, Link, MediaType

CSV_ENDING: Final = ".csv"


MEDIA_TYPES: Final[Mapping[str, MediaType]] = {
    CSV_ENDING: "text/csv",
    PARQUET_ENDING: "application/vnd.apache.parquet",
}


PACKAGE_TYPE: Final = "application/vnd.datapackage+json"


def file_name(request_id: str, sha256: str, ending: str) -> str:
    """Return the name in the storage of a request's masked table."""
    return f"{request_id}-{sha256}{ending}"


def withdraw(storage: "Storage", name: str) -> None:
    """Remove a masked table that was not delivered, and its package.

    Raises:
        OutputError: One of them cannot be removed.
    """
    storage.remove(name)
    storage.remove(package_name(name))


if TYPE_CHECKING:
    from obstore.store import AzureStore, GCSStore, S3Store

SCHEMES: Final = ("s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "adl")

_RETRIES: Final = 10


@contextmanager
def _failures(place: str) -> Iterator[None]:
    from obstore.exceptions import BaseError  # noqa: PLC0415 - an extra

    try:
        yield
    except (BaseError, ValueError, FileNotFoundError, PermissionError) as error:
        # Only the first line of the text describes the error.
        raise OutputError(f"{place}: {str(error).strip().splitlines()[0] or type(error).__name__}") from error


PART: Final = 1 << 22
"""Bytes per read and send."""

LINK_TIME: Final = timedelta(days=7)
"""Lifetime of a presigned link: the maximum of S3 and Google."""

_TIMEOUT: Final = 60.0


class Storage(Protocol):
    """A storage of files."""

    def put(self, file: Path, name: str, media_type: str, progress: Progress) -> Link:
        """Upload a file, unless it exists already, and return a link to it.

        Raises:
            OutputError: The file cannot be uploaded.
        """

    def size(self, name: str) -> int | None:
        """Return the size of a file in bytes; `None` if it does not exist.

        Raises:
            OutputError: The storage does not respond, or refuses.
        """

    def link(self, name: str) -> Link:
        """Return a new link to an existing file."""

    def remove(self, name: str) -> None:
        """Remove a file that was not delivered.

        Raises:
            OutputError: It cannot be removed.
        """


def storage_at(place: str, link: str | None = None) -> Storage:
    """Return the storage at a place.

    Args:
        place: A directory, `s3://bucket/prefix`, `az://container/prefix`, `gs://bucket/prefix`, or the address of a web
            server that takes PUT.
        link: The public address of its files; required for directories, optional for web servers.

    Raises:
        InputError: The place is not one of these, or a link is missing.
        OutputError: The URL of a bucket, or the configuration in the environment, is invalid.
        AegisError: The extra `storage` is not installed.
    """
    scheme = _scheme(place)
    if link is not None:
        _scheme(link)
    if scheme in SCHEMES:
        if link is not None:
            raise InputError(f"--link is for directories and web servers; {scheme} links are presigned")
        with needs_extra("storage"):
            from obstore.store import from_url  # noqa: PLC0415 - an extra
        with _failures(place):
            store = from_url(place, retry_config={"max_retries": _RETRIES})
        return _Bucket(place, cast("AzureStore | GCSStore | S3Store", store))
    if scheme in ("http", "https"):
        return _WebServer(place.rstrip("/"), (link or _without_login(place)).rstrip("/"))
    if "://" in place:
        raise InputError(f"{place}: not a directory and none of {', '.join(SCHEMES)}, http, https")
    if link is None:
        raise InputError(f"{place}: give the public address of this directory with --link")
    return _Directory(Path(place), link.rstrip("/"))


def _scheme(address: str) -> str:
    """Return the scheme of an address; empty for a path."""
    try:
        scheme = urlsplit(address).scheme
        if scheme and not httpx.URL(address).host:  # decodes the name
            raise InputError(f"{address}: has no host")
    except (httpx.InvalidURL, ValueError) as error:  # about its port, brackets, or IDNA name
        raise InputError(f"{address}: not an address: {error}") from error
    return scheme


def _without_login(url: str) -> str:
    """Return the address without the provider's name and password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


@dataclass(frozen=True)
class _Directory:
    """A directory that a web server publishes at `address`."""

    path: Path
    address: str

    def put(self, file: Path, name: str, media_type: str, progress: Progress) -> Link:  # noqa: ARG002 - a file
        target = self.path / name
        if self.size(name) != file.stat().st_size:
            with written_whole(target) as part, part.open("wb") as writing:
                writing.writelines(read(file, progress))
        return self.link(name)

    def size(self, name: str) -> int | None:
        target = self.path / name
        return target.stat().st_size if target.is_file() else None

    def link(self, name: str) -> Link:
        return Link(url=f"{self.address}/{quote(name)}")

    def remove(self, name: str) -> None:
        try:
            (self.path / name).unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(f"{self.path / name}: cannot be removed: {error.strerror}") from error


@dataclass(frozen=True)
class _Bucket:
    """A bucket or container with presigned links."""

    place: str
    store: "AzureStore | GCSStore | S3Store"

    def put(self, file: Path, name: str, media_type: str, progress: Progress) -> Link:
        if self.size(name) != file.stat().st_size:
            with _failures(self.place):  # parts are retried separately; the object appears whole or not at all
                parts = read(file, progress)
                self.store.put(name, parts, attributes={"Content-Type": media_type}, use_multipart=True)
        return self.link(name)

    def size(self, name: str) -> int | None:
        with _failures(self.place):
            try:
                return self.store.head(name)["size"]
            except FileNotFoundError:
                return None

    def link(self, name: str) -> Link:
        import obstore  # noqa: PLC0415 - an extra

        with _failures(self.place):
            url = obstore.sign(self.store, "GET", name, LINK_TIME)
        return Link(url=url, expires_at=datetime.now(UTC) + LINK_TIME)

    def remove(self, name: str) -> None:
        with _failures(self.place):
            self.store.delete(name)


@dataclass(frozen=True)
class _WebServer:
    """A web server that accepts files by PUT at `url` and serves them at `address`."""

    url: str
    address: str

    def put(self, file: Path, name: str, media_type: str, progress: Progress) -> Link:
        size = file.stat().st_size
        headers = {"Content-Type": media_type, "Content-Length": str(size)}
        if self.size(name) != size:
            url = f"{self.url}/{quote(name)}"
            retried(
                lambda: _asked("PUT", url, content=read(file, progress), headers=headers),
                lambda error: isinstance(error, _TransferError),
            )
        return self.link(name)

    def size(self, name: str) -> int | None:
        answer = _asked("HEAD", f"{self.url}/{quote(name)}", missing=True)
        return int(answer.headers.get("Content-Length", 0)) if answer.is_success else None

    def link(self, name: str) -> Link:
        return Link(url=f"{self.address}/{quote(name)}")

    def remove(self, name: str) -> None:
        _asked("DELETE", f"{self.url}/{quote(name)}", missing=True)


def _asked(method: str, url: str, *, missing: bool = False, **sent: Any) -> httpx.Response:  # noqa: ANN401 - as httpx
    """Send a request to a web server; `missing` permits a refusal, since the file may not exist."""
    shown = _without_login(url)
    with httpx.Client(timeout=_TIMEOUT) as http:
        try:
            answer = http.request(method, url, **sent)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _TransferError(f"{shown}: no answer to {method}: {error}") from error
    if answer.is_server_error:
        raise _TransferError(f"{shown}: the server answers {answer.status_code} to {method}")
    if not answer.is_success and not (missing and answer.is_client_error):
        raise OutputError(f"{shown}: the server answers {answer.status_code} to {method}")
    return answer


class _TransferError(OutputError):
    """A failed upload that may succeed on a retry."""


def read(file: Path, progress: Progress) -> Iterator[bytes]:
    """Yield the bytes of a file, and report their number."""
    done, size = 0, file.stat().st_size
    with file.open("rb") as reading:
        while part := reading.read(PART):
            yield part
            done += len(part)
            progress(done, size)


Result = TypeVar("Result")

TRIES: Final = 5
SHORTEST: Final = 0.5
LONGEST: Final = 300.0


def pause(failures: int, shortest: float = SHORTEST, longest: float = LONGEST) -> float:
    """Return the seconds to wait after this many consecutive failures, doubling each time.

    A random share is subtracted, so that clients that failed together do not retry together.
    """
    upper = min(longest, shortest * 2.0 ** min(failures, 32))
    return upper * random.uniform(0.5, 1.0)  # noqa: S311 - no secret


def retried(work: Callable[[], Result], may_pass: Callable[[Exception], bool], tries: int = TRIES) -> Result:
    """Return the result of some work, which is retried while its failures are transient.

    Raises:
        Exception: The last failure.
    """
    for failures in range(1, tries):
        try:
            return work()
        except Exception as error:
            if not may_pass(error):
                raise
            time.sleep(pause(failures))
    return work()


def relink(service: Client, request_id: str, storage: Storage) -> DataRequest:
    """Renew the link of a delivered request to the same file, and return the request.

    Raises:
        ServiceError: Nothing was delivered.
        OutputError: The storage does not have the file.
        AegisError: The service does not respond, or refuses.
    """
    delivery = service.requests.get(request_id).delivery
    if delivery is None:
        raise ServiceError(f"request {request_id}: nothing was delivered yet; use aegis requests fulfil")
    ending = next(ending for ending, each in MEDIA_TYPES.items() if each == delivery.media_type)
    name = file_name(request_id, delivery.sha256, ending)
    size = storage.size(name)
    if size != delivery.size:
        there = "is not there" if size is None else f"has {size} bytes, not {delivery.size}"
        raise OutputError(f"{name}: {there}; name the place that it was delivered to")
    link = storage.link(name)
    return service.requests.relink(request_id, link.url, link.expires_at)
