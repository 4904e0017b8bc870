"""How requests and answers differ: a request is read strictly, an answer tolerantly."""

from pydantic import BaseModel, ConfigDict, model_validator

from aegis_sdk.wire.faults import FAULTS_SHOWN, fault


class Request(BaseModel):
    """A part of a request: unknown fields and values of another type are refused; nothing is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _has_few_fields(cls, value: object) -> object:
        # Each unknown field is a fault: not of a million of them.
        if isinstance(value, dict) and len(value) > FAULTS_SHOWN:
            raise fault(f"Has {len(value)} fields where there are {len(cls.model_fields)}")
        return value


class Answer(BaseModel):
    """A part of an answer: fields and values that are new are accepted, so that old clients keep working."""

    model_config = ConfigDict(extra="allow", frozen=True)
