"""The consumer's verification of a delivered table: measurements of the file, and differing counts."""

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from aegis_sdk.wire.bounded import LONG_LIST
from aegis_sdk.wire.configuration import Privacy
from aegis_sdk.wire.documents import Answer, Request
from aegis_sdk.wire.faults import Fault, refuse
from aegis_sdk.wire.sizes import json_size
from aegis_sdk.wire.tables import NoisyCount
from aegis_sdk.wire.values import COUNT_MAX, Count, Text, UtcTime

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

_EXAMPLE: Final[dict[str, Any]] = {
    "sha256": "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab",
    "size": 481_230,
    "records": 20_005,
    "privacy": {"k": 5, "l": 2, "t": 0.19},
    "cells_compared": 1_204,
    "cells_differing": 1,
    "differences": [_EXAMPLE_DIFFERENCE],
}

EXAMPLE_VERDICT: Final[dict[str, Any]] = _EXAMPLE | {"reason": "One record was changed after it was counted"}
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


class DeliveryVerdict(Request):
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

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        refuse("verdict", self._faults())
        return self

    def _faults(self) -> Iterator[Fault]:
        yield from _length_faults(self.differences)
        yield from self._file_faults()
        if self.cells_differing > self.cells_compared:
            yield ("cells_differing",), "More cells differ than were compared"
        if len(self.differences) > self.cells_differing or bool(self.differences) != bool(self.cells_differing):
            yield ("differences",), "Does not fit `cells_differing`: list the first differing cells"

    def _file_faults(self) -> Iterator[Fault]:
        if (self.sha256 is None) != (self.size is None):
            yield ("size",), "Required with `sha256`, and only then"
        if self.sha256 is None and (self.records is not None or self.privacy or self.cells_compared):
            yield ("sha256",), "Required with any result: give the digest of the checked file"


def _length_faults(differences: list[Difference]) -> Iterator[Fault]:
    if len(differences) > MOST_DIFFERENCES:
        yield ("differences",), f"Has {len(differences)} cells; give the first {MOST_DIFFERENCES}"
    given = json_size([difference.model_dump() for difference in differences])
    if given > LARGEST_DIFFERENCES:
        yield ("differences",), f"Has {given} bytes as JSON; at most {LARGEST_DIFFERENCES} are accepted"


class Verification(Answer):
    """The outcome of the consumer's verification; the request's state shows whether it was received or disputed."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE | {"verified_at": "2026-03-01T13:00:00Z"}]})

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
