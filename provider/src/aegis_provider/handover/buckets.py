"""Buckets of S3, Azure and Google. obstore reads their credentials from the environment, as other tools do."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Protocol, cast

from aegis_provider.errors import OutputError
from aegis_provider.extras import needs_extra

if TYPE_CHECKING:
    from obstore.store import AzureStore, GCSStore, S3Store

SCHEMES: Final = ("s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "adl")

_RETRIES: Final = 10


class Bucket(Protocol):
    """What is needed of a bucket."""

    def size(self, name: str) -> int | None:
        """The size of an object in bytes; None if there is none."""

    def put(self, name: str, parts: Iterable[bytes], media_type: str) -> None:
        """Upload an object, in parts that are retried one by one. It appears whole or not at all."""

    def remove(self, name: str) -> None:
        """Remove an object, if there is one."""

    def signed(self, name: str, length: timedelta) -> str:
        """A link by which anybody can fetch an object for some time."""


def opened_bucket(place: str) -> Bucket:
    """Return the bucket at a URL.

    Raises:
        OutputError: The URL, or what the environment says of it, is invalid.
        AegisError: obstore is not installed.
    """
    with needs_extra("storage"):
        from obstore.store import from_url  # noqa: PLC0415 - an extra
    with _failures(place):
        store = from_url(place, retry_config={"max_retries": _RETRIES})
        return _ObjectStore(place, cast("AzureStore | GCSStore | S3Store", store))


class _ObjectStore:
    def __init__(self, place: str, store: "AzureStore | GCSStore | S3Store") -> None:
        self._place, self._store = place, store

    def size(self, name: str) -> int | None:
        with _failures(self._place):
            try:
                return self._store.head(name)["size"]
            except FileNotFoundError:
                return None

    def put(self, name: str, parts: Iterable[bytes], media_type: str) -> None:
        with _failures(self._place):
            self._store.put(name, iter(parts), attributes={"Content-Type": media_type}, use_multipart=True)

    def remove(self, name: str) -> None:
        with _failures(self._place):
            self._store.delete(name)

    def signed(self, name: str, length: timedelta) -> str:
        import obstore  # noqa: PLC0415 - an extra

        with _failures(self._place):
            return obstore.sign(self._store, "GET", name, length)


@contextmanager
def _failures(place: str) -> Iterator[None]:
    from obstore.exceptions import BaseError  # noqa: PLC0415 - an extra

    try:
        yield
    except (BaseError, ValueError, FileNotFoundError, PermissionError) as error:
        # The text has many lines; the first says what, and the others where in the library.
        raise OutputError(f"{place}: {str(error).strip().splitlines()[0] or type(error).__name__}") from error
