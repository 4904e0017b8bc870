"""The delivery descriptor: link and description of a data request's masked table, which never passes the service."""

import re
from datetime import datetime
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, ConfigDict, Field

from aegis_sdk.wire.configuration import Privacy
from aegis_sdk.wire.documents import Answer, Request
from aegis_sdk.wire.examples import EXAMPLE_HEAD
from aegis_sdk.wire.faults import fault
from aegis_sdk.wire.lease import LeaseId
from aegis_sdk.wire.sizes import DEPTH, is_deeper, json_size
from aegis_sdk.wire.values import COUNT_MAX, Identifier, JsonObject, UtcTime

LONGEST_LINK: Final = 4_000
LARGEST_CARD: Final = 131_072
"""The largest size of a release card as JSON, in bytes."""

_LINK: Final[dict[str, Any]] = {
    "url": "https://store.hospital.example/c17.csv?signature=4f1c",
    "expires_at": "2026-03-08T12:00:00Z",
}

_EXAMPLE: Final[dict[str, Any]] = _LINK | {
    "media_type": "text/csv",
    "size": 481_230,
    "sha256": "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab",
    "records": 20_005,
    "configuration": "c17",
    "privacy": {"k": 5, "t": 0.19},
}

_CARD: Final[dict[str, Any]] = {"configuration": "c17", "suppressed": 185}

EXAMPLE_DESCRIPTOR: Final[dict[str, Any]] = _EXAMPLE | {"entry_digest": EXAMPLE_HEAD["digest"], "card": _CARD}
"""A descriptor."""

_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)
_LAST_YEAR: Final = 9000


def _moment(value: object) -> object:
    """Refuse anything but an RFC 3339 text, since pydantic converts it, and years out of range in some time zone."""
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str) or not _RFC_3339.fullmatch(value) or int(value[:4]) > _LAST_YEAR:
        raise fault(f"Must be an RFC 3339 time such as 2026-03-01T12:00:00Z, up to the year {_LAST_YEAR}")
    return value


def _card(value: dict[str, object]) -> dict[str, object]:
    if is_deeper(value, DEPTH):
        raise fault(f"Is nested more than {DEPTH} levels deep")
    if (given := json_size(value)) > LARGEST_CARD:
        raise fault(f"Has {given} bytes as JSON; at most {LARGEST_CARD} are accepted")
    return value


Moment = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_moment)]
"""A point in time in the format of RFC 3339."""

MediaType: TypeAlias = Literal["text/csv", "application/vnd.apache.parquet"]
"""The formats of delivered files."""

Url = Annotated[str, Field(min_length=1, max_length=LONGEST_LINK)]


class Link(Request):
    """Another link to the file that was delivered."""

    model_config = ConfigDict(json_schema_extra={"examples": [_LINK]})

    url: Url = Field(description="Where the file is: HTTPS, on the public internet")
    expires_at: Moment | None = Field(default=None, description="Expiry of the link (RFC 3339); null: never")


class DeliveryDescriptor(Link):
    """Link and description of the masked table."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_DESCRIPTOR]})

    media_type: MediaType = Field(description="Format of the file")
    size: Annotated[int, Field(ge=1, le=COUNT_MAX)] = Field(description="Size in bytes")
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] = Field(description="SHA-256 of the file")
    records: Annotated[int, Field(ge=1, le=COUNT_MAX)] = Field(description="Number of records in the file")
    configuration: Identifier = Field(description="The approved configuration")
    entry_digest: Identifier = Field(description="Digest of the requested version of the entry")
    privacy: Privacy = Field(
        description="Privacy measured in the file, by criterion: at least what the configuration promises and the "
        "request requires"
    )
    card: Annotated[JsonObject, AfterValidator(_card)] | None = Field(
        default=None, description="The release card; null: none"
    )
    lease: LeaseId | None = Field(default=None, description="The provider's lease of the request; null: none")


class Delivery(Answer):
    """A delivered table and its link."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [_EXAMPLE | {"card": _CARD, "delivered_at": "2026-03-01T12:00:00Z"}]}
    )

    url: str = Field(description="URL of the file")
    expires_at: UtcTime | None = Field(default=None, description="Expiry of the link; null: never")
    media_type: str = Field(description="Format of the file")
    size: int = Field(description="Size in bytes")
    sha256: str = Field(description="SHA-256 of the file")
    records: int = Field(description="Number of records in the file")
    configuration: str = Field(description="Configuration of the file")
    privacy: dict[str, float] = Field(
        default_factory=dict, description="Privacy that the provider measured in the file"
    )
    card: dict[str, Any] | None = Field(default=None, description="The release card; null: none")
    delivered_at: UtcTime = Field(description="Time of the delivery (RFC 3339, UTC)")
