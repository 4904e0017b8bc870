"""Renews links to delivered tables: presigned links expire, and storages move."""

from datetime import UTC, datetime, timedelta
from typing import Final

from aegis_provider.errors import OutputError, ServiceError
from aegis_provider.handover.storage import Storage
from aegis_provider.handover.work_folder import ending_of, file_name
from aegis_sdk import Client
from aegis_sdk.wire import DataRequest

SOON: Final = timedelta(days=1)


def relink(service: Client, request_id: str, storage: Storage) -> DataRequest:
    """Renew the link of a delivered request to the same file, and return the request.

    Args:
        service: The service.
        request_id: The request.
        storage: The storage of the file.

    Raises:
        ServiceError: Nothing was delivered.
        OutputError: The storage does not have the file.
        AegisError: The service does not respond, or refuses.
    """
    delivery = service.requests.get(request_id).delivery
    if delivery is None:
        raise ServiceError(f"request {request_id}: nothing was delivered yet; use aegis requests fulfil")
    name = file_name(request_id, delivery.sha256, ending_of(delivery.media_type))
    size = storage.size(name)
    if size != delivery.size:
        there = "is not there" if size is None else f"has {size} bytes, not {delivery.size}"
        raise OutputError(f"{name}: {there}; name the place that it was delivered to")
    link = storage.link(name)
    return service.requests.relink(request_id, link.url, link.expires_at)


def ends_soon(request: DataRequest) -> bool:
    """Return whether the link to a delivered table expires within a day, or has expired."""
    expires_at = None if request.delivery is None else request.delivery.expires_at
    return expires_at is not None and expires_at < datetime.now(UTC) + SOON
