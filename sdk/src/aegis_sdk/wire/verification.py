"""The verdict on a delivered table: what its consumer has measured in the file, and where its counts differ."""

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
"""The most cells that a verdict lists."""
LARGEST_DIFFERENCES: Final = 65_536
"""The most bytes of these, as JSON."""
LONGEST_REASON: Final = 2_000

Rule = Literal["equal", "left_out", "rounded", "noise", "stars", "total", "unknown"]
"""How a delivered count may differ from the published one."""

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
"""A verdict that disputes a delivery."""

_Names = Annotated[list[Text], Field(max_length=2)]


class Difference(Request):
    """A count of the delivered table that the published one does not allow."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE_DIFFERENCE]})

    attributes: _Names = Field(
        description="The attribute, or the two of pair counts; none: the count is that of the label or of all records"
    )
    maskings: _Names = Field(description="The masking of each")
    values: _Names = Field(
        description="The masked value of each as published, or several of them with ` | ` between; none: all together"
    )
    label: Text | None = Field(default=None, description="The label value, likewise; null: all of them together")
    published: NoisyCount | None = Field(description="What the entry says; null if the rule is `unknown`")
    delivered: Count = Field(description="What was counted in the file")
    rule: Rule = Field(
        description="How they may differ. `equal`: not at all. `left_out`: by records that the configuration leaves "
        "out. `rounded`: by less than the base, too. `noise`: by the declared noise, too. `stars`: this is about cells "
        "that became `*`. `total`: this is about how many records or cells are missing in all. `unknown`: "
        "`delivered` is how many different texts the file has there that the entry does not list; they may be raw "
        "values, so they are only counted"
    )


class DeliveryVerdict(Request):
    """What a consumer has found out about the file that was delivered."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_VERDICT]})

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = Field(
        default=None, description="SHA-256 of the file that was checked; null: there was none, so give a reason"
    )
    size: Count | None = Field(default=None, description="Bytes of this file; null likewise")
    records: Count | None = Field(default=None, description="Number of its records; null: it could not be read")
    privacy: Privacy = Field(default_factory=dict, description="What was measured in it, by criterion")
    cells_compared: Annotated[int, Field(ge=0, le=COUNT_MAX)] = Field(
        default=0, description="How many counts were compared with published ones"
    )
    cells_differing: Annotated[int, Field(ge=0, le=COUNT_MAX)] = Field(
        default=0, description="How many of them are not as they may be"
    )
    differences: Annotated[list[Difference], LONG_LIST] = Field(
        default_factory=list,
        description=f"The first of these, at most {MOST_DIFFERENCES} with {LARGEST_DIFFERENCES} bytes as JSON",
    )
    reason: Annotated[Text, Field(min_length=1, max_length=LONGEST_REASON)] | None = Field(
        default=None, description="Why, for the other side and for the record"
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
            yield ("differences",), "Does not fit `cells_differing`: give the first of the cells that differ"

    def _file_faults(self) -> Iterator[Fault]:
        if (self.sha256 is None) != (self.size is None):
            yield ("size",), "Give it if and only if you give `sha256`"
        if self.sha256 is None and (self.records is not None or self.privacy or self.cells_compared):
            yield ("sha256",), "Give that of the file in which you have counted"


def _length_faults(differences: list[Difference]) -> Iterator[Fault]:
    if len(differences) > MOST_DIFFERENCES:
        yield ("differences",), f"Has {len(differences)} cells; give the first {MOST_DIFFERENCES}"
    given = json_size([each.model_dump() for each in differences])
    if given > LARGEST_DIFFERENCES:
        yield ("differences",), f"Has {given} bytes as JSON; at most {LARGEST_DIFFERENCES} are accepted"


class Verification(Answer):
    """What the consumer has found out about the delivered file; the request's state says how that ended."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE | {"verified_at": "2026-03-01T13:00:00Z"}]})

    sha256: str | None = Field(default=None, description="SHA-256 of the file that was checked; null: there was none")
    size: int | None = Field(default=None, description="Bytes of this file; null likewise")
    records: int | None = Field(default=None, description="Number of its records; null: it could not be read")
    privacy: dict[str, float] = Field(default_factory=dict, description="What the consumer measured in it")
    cells_compared: int = Field(description="How many counts were compared with published ones")
    cells_differing: int = Field(description="How many of them are not as they may be")
    differences: list[dict[str, Any]] | None = Field(
        default=None, description="The first of these, as they were posted; null: you may not read counts of the entry"
    )
    verified_at: UtcTime = Field(description="When the consumer said so (RFC 3339, UTC)")
