"""Why a request was refused (RFC 9457)."""

from pydantic import ConfigDict, Field

from aegis_sdk.wire.documents import Answer
from aegis_sdk.wire.examples import EXAMPLE_PROBLEM
from aegis_sdk.wire.values import Uuid


class ProblemFault(Answer):
    """One fault of the request's body."""

    pointer: str = Field(default="", description="JSON Pointer (RFC 6901) of the place; empty: the whole body")
    detail: str = Field(default="", description="What is wrong there")


class Problem(Answer):
    """A problem, sent as `application/problem+json`."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_PROBLEM]})

    type: str = Field(default="about:blank", description="URI of the kind of problem")
    title: str = Field(default="", description="Kind of problem, in words")
    status: int | None = Field(default=None, description="HTTP status")
    detail: str = Field(default="", description="What is wrong with this request")
    instance: str | None = Field(default=None, description="Path of the request")
    code: str = Field(default="", description="Kind of problem, as a stable slug for programs")
    errors: list[ProblemFault] = Field(default_factory=list, description="The first hundred faults of the body")
    entry: Uuid | None = Field(default=None, description="In a conflict, the id of the entry that has the name")
    possible: list[str] | None = Field(
        default=None, description="If a request for data is in another state, what the caller may do with it"
    )
    request_id: str | None = Field(default=None, description="If the service failed, the request's id")
