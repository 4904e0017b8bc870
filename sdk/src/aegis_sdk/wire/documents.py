"""How requests and answers differ: a request is read strictly, an answer tolerantly."""

from pydantic import BaseModel, ConfigDict


class Request(BaseModel):
    """A part of a request: unknown fields and values of another type are refused; nothing is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Answer(BaseModel):
    """A part of an answer: fields and values that are new are accepted, so that old clients keep working."""

    model_config = ConfigDict(extra="ignore", frozen=True)
