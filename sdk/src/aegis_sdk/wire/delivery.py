"""Deliveries of data requests: the provider's lease, the link to the masked table, and the consumer's verification.

The table itself never passes the service.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, ConfigDict, Field

from aegis_sdk.wire.configuration import Privacy
from aegis_sdk.wire.documents import LONG_LIST, Answer, CheckedRequest, Fault, Request, Uuid, fault
from aegis_sdk.wire.examples import EXAMPLE_HEAD
from aegis_sdk.wire.values import (
    COUNT_MAX,
    DEPTH,
    Count,
    Identifier,
    JsonObject,
    NoisyCount,
    Text,
    UtcTime,
    is_deeper,
    json_size,
)

SHORTEST_LEASE: Final = 5
LONGEST_LEASE: Final = 3_600

_LEASE: Final[dict[str, Any]] = {"lease": "7d0c7c5e-0a53-4f0e-9a35-0f5a8be1a6c2"}

_LOWER_CASE = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"

LeaseId = Annotated[str, Field(pattern=_LOWER_CASE, json_schema_extra={"format": "uuid"})]


class LeaseRequest(Request):
    """Takes or renews the lease of a request."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"seconds": 60}, _LEASE | {"seconds": 60}]})

    lease: LeaseId | None = Field(default=None, description="The lease to renew; null: a new one")
    seconds: Annotated[int, Field(ge=SHORTEST_LEASE, le=LONGEST_LEASE)] = Field(
        default=60, description="Duration of the lease from now on, in seconds"
    )


class Lease(Answer):
    """The lease of a request: until it ends, only callers that know its id can deliver."""

    model_config = ConfigDict(json_schema_extra={"examples": [_LEASE | {"expires_at": "2026-03-01T12:01:00Z"}]})

    lease: Uuid = Field(description="Id of the lease; the delivery descriptor repeats it")
    expires_at: UtcTime = Field(description="End of the lease unless renewed (RFC 3339, UTC)")


LONGEST_LINK: Final = 4_000
LARGEST_CARD: Final = 131_072
"""The largest size of a release card as JSON, in bytes."""

_LINK: Final[dict[str, Any]] = {
    "url": "https://store.hospital.example/c17.csv?signature=4f1c",
    "expires_at": "2026-03-08T12:00:00Z",
}

_DELIVERY: Final[dict[str, Any]] = _LINK | {
    "media_type": "text/csv",
    "size": 481_230,
    "sha256": "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab",
    "records": 20_005,
    "configuration": "c17",
    "privacy": {"k": 5, "t": 0.19},
}

_CARD: Final[dict[str, Any]] = {"configuration": "c17", "suppressed": 185}

EXAMPLE_DESCRIPTOR: Final[dict[str, Any]] = _DELIVERY | {"entry_digest": EXAMPLE_HEAD["digest"], "card": _CARD}
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
        json_schema_extra={"examples": [_DELIVERY | {"card": _CARD, "delivered_at": "2026-03-01T12:00:00Z"}]}
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


MOST_DIFFERENCES: Final = 100
"""The largest number of differing cells that are listed."""
LARGEST_DIFFERENCES: Final = 65_536
"""The largest size of this list as JSON, in bytes."""
LONGEST_REASON: Final = 2_000

Rule = Literal["equal", "left_out", "rounded", "noise", "stars", "total", "unknown"]
"""The reasons for which a delivered count may differ from the published one."""

_EXAMPLE_DIFFERENCE: Final[dict[str, Any]] = {
    "attributes": ["age"],
    "maskings": ["age-2"],
    "values": ["20-39"],
    "label": "good",
    "published": 4_071,
    "delivered": 4_072,
    "rule": "equal",
}

_VERIFICATION: Final[dict[str, Any]] = {
    "sha256": "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab",
    "size": 481_230,
    "records": 20_005,
    "privacy": {"k": 5, "l": 2, "t": 0.19},
    "cells_compared": 1_204,
    "cells_differing": 1,
    "differences": [_EXAMPLE_DIFFERENCE],
}

EXAMPLE_VERDICT: Final[dict[str, Any]] = _VERIFICATION | {"reason": "One record was changed after it was counted"}
"""The outcome of a verification that disputes a delivery."""

_Names = Annotated[list[Text], Field(max_length=2)]


class Difference(Request):
    """A count of the delivered table that contradicts the published one."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE_DIFFERENCE]})

    attributes: _Names = Field(
        description="The attribute, or the two of pair counts; none: a count of the label or of all records"
    )
    maskings: _Names = Field(description="Masking id of each")
    values: _Names = Field(
        description="The published masked value of each, or several of them separated by ` | `; none: all together"
    )
    label: Text | None = Field(default=None, description="The label value, likewise; null: all of them together")
    published: NoisyCount | None = Field(description="The published count; null if the rule is `unknown`")
    delivered: Count = Field(description="The count in the file")
    rule: Rule = Field(
        description="The difference allowed. `equal`: none. `left_out`: by records that the configuration leaves "
        "out. `rounded`: also by less than the base. `noise`: also by the declared noise. `stars`: the counts "
        "are of cells that became `*`. `total`: the counts are of all suppressed records or cells. `unknown`: "
        "`delivered` is the number of distinct texts in the file that the entry does not list; they may be raw "
        "values, so they are only counted"
    )


class DeliveryVerdict(CheckedRequest):
    """The outcome of a consumer's verification of the delivered file."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_VERDICT]})

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = Field(
        default=None, description="SHA-256 of the checked file; null: there is no file, so a reason is required"
    )
    size: Count | None = Field(default=None, description="Size of the file in bytes; null likewise")
    records: Count | None = Field(default=None, description="Number of records in the file; null: unreadable")
    privacy: Privacy = Field(default_factory=dict, description="Privacy measured in the file, by criterion")
    cells_compared: Annotated[int, Field(ge=0, le=COUNT_MAX)] = Field(
        default=0, description="Number of counts compared with published ones"
    )
    cells_differing: Annotated[int, Field(ge=0, le=COUNT_MAX)] = Field(
        default=0, description="Number of counts that contradict the published ones"
    )
    differences: Annotated[list[Difference], LONG_LIST] = Field(
        default_factory=list,
        description=f"The first differing cells, at most {MOST_DIFFERENCES} with {LARGEST_DIFFERENCES} bytes as JSON",
    )
    reason: Annotated[Text, Field(min_length=1, max_length=LONGEST_REASON)] | None = Field(
        default=None, description="Reason, for the other side and for the record"
    )

    def _faults(self) -> Iterator[Fault]:
        if len(self.differences) > MOST_DIFFERENCES:
            yield ("differences",), f"Has {len(self.differences)} cells; give the first {MOST_DIFFERENCES}"
        given = json_size([difference.model_dump() for difference in self.differences])
        if given > LARGEST_DIFFERENCES:
            yield ("differences",), f"Has {given} bytes as JSON; at most {LARGEST_DIFFERENCES} are accepted"
        if (self.sha256 is None) != (self.size is None):
            yield ("size",), "Required with `sha256`, and only then"
        if self.sha256 is None and (self.records is not None or self.privacy or self.cells_compared):
            yield ("sha256",), "Required with any result: give the digest of the checked file"
        if self.cells_differing > self.cells_compared:
            yield ("cells_differing",), "More cells differ than were compared"
        if len(self.differences) > self.cells_differing or bool(self.differences) != bool(self.cells_differing):
            yield ("differences",), "Does not fit `cells_differing`: list the first differing cells"


class Verification(Answer):
    """The outcome of the consumer's verification; the request's state shows whether it was received or disputed."""

    model_config = ConfigDict(json_schema_extra={"examples": [_VERIFICATION | {"verified_at": "2026-03-01T13:00:00Z"}]})

    sha256: str | None = Field(default=None, description="SHA-256 of the checked file; null: there was no file")
    size: int | None = Field(default=None, description="Size of the file in bytes; null likewise")
    records: int | None = Field(default=None, description="Number of records in the file; null: unreadable")
    privacy: dict[str, float] = Field(default_factory=dict, description="Privacy measured by the consumer")
    cells_compared: int = Field(description="Number of counts compared with published ones")
    cells_differing: int = Field(description="Number of counts that contradict the published ones")
    differences: list[dict[str, Any]] | None = Field(
        default=None, description="The first differing cells, as posted; null: you may not read counts of the entry"
    )
    verified_at: UtcTime = Field(description="Time of the verification (RFC 3339, UTC)")
