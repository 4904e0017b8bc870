"""The lease of a data request, so that only one program fulfils it."""

from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field

from aegis_sdk.wire.documents import Answer, Request
from aegis_sdk.wire.values import UtcTime, Uuid

SHORTEST_LEASE: Final = 5
LONGEST_LEASE: Final = 3_600

_EXAMPLE: Final[dict[str, Any]] = {"lease": "7d0c7c5e-0a53-4f0e-9a35-0f5a8be1a6c2"}

_LOWER_CASE = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"

LeaseId = Annotated[str, Field(pattern=_LOWER_CASE, json_schema_extra={"format": "uuid"})]


class LeaseRequest(Request):
    """Takes or renews the lease of a request."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"seconds": 60}, _EXAMPLE | {"seconds": 60}]})

    lease: LeaseId | None = Field(default=None, description="The lease to renew; null: a new one")
    seconds: Annotated[int, Field(ge=SHORTEST_LEASE, le=LONGEST_LEASE)] = Field(
        default=60, description="Duration of the lease from now on, in seconds"
    )


class Lease(Answer):
    """The lease of a request: until it ends, only callers that know its id can deliver."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE | {"expires_at": "2026-03-01T12:01:00Z"}]})

    lease: Uuid = Field(description="Id of the lease; the delivery descriptor repeats it")
    expires_at: UtcTime = Field(description="End of the lease unless renewed (RFC 3339, UTC)")
