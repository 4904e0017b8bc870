"""Problem details of refused HTTP requests (RFC 9457)."""

from pydantic import ConfigDict, Field

from aegis_sdk.wire.documents import Answer
from aegis_sdk.wire.examples import EXAMPLE_PROBLEM
from aegis_sdk.wire.values import Uuid


class ProblemFault(Answer):
    """One fault of the body."""

    pointer: str = Field(default="", description="JSON Pointer (RFC 6901) of the place; empty: the whole body")
    detail: str = Field(default="", description="The fault")


class Problem(Answer):
    """A problem, sent as `application/problem+json`."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_PROBLEM]})

    type: str = Field(default="about:blank", description="URI of the kind of problem")
    title: str = Field(default="", description="Title of the kind of problem")
    status: int | None = Field(default=None, description="HTTP status")
    detail: str = Field(default="", description="Details of this problem")
    instance: str | None = Field(default=None, description="Path of the HTTP request")
    code: str = Field(default="", description="Kind of problem, as a stable slug for programs")
    errors: list[ProblemFault] = Field(default_factory=list, description="The first hundred faults of the body")
    entry: Uuid | None = Field(default=None, description="In a conflict, the id of the entry with this name")
    possible: list[str] | None = Field(
        default=None, description="If a data request is in another state, the actions that the caller may take"
    )
    request_id: str | None = Field(default=None, description="If the service failed, the id of the HTTP request")
