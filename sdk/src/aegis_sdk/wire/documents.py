"""Base classes of requests, which are read strictly, and of responses, which are read tolerantly."""

from pydantic import BaseModel, ConfigDict, model_validator

from aegis_sdk.wire.faults import FAULTS_SHOWN, fault


class Request(BaseModel):
    """A part of a request body. Unknown fields and values of the wrong type are refused; nothing is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _has_few_fields(cls, value: object) -> object:
        # Each unknown field would be a fault of its own, and there could be a million.
        if isinstance(value, dict) and len(value) > FAULTS_SHOWN:
            raise fault(f"Has {len(value)} fields, but only {len(cls.model_fields)} are known")
        return value


class Answer(BaseModel):
    """A part of a response. New fields and values are accepted, so that old clients keep working."""

    model_config = ConfigDict(extra="allow", frozen=True)
