"""Questions of all tenants, for operators."""

from typing import Any, Final

from pydantic import ConfigDict, Field

from aegis_sdk.wire.documents import Answer
from aegis_sdk.wire.examples import EXAMPLE_ADVICE_REQUEST, EXAMPLE_HEAD
from aegis_sdk.wire.values import UtcTime, Uuid

_EXAMPLE: Final[dict[str, Any]] = {
    "advice": "0197f3a2-7b42-7c0d-9e15-6a1d2c3b4e5f",
    "tenant": "insurer",
    "entry": {"id": EXAMPLE_HEAD["id"], "version": 1},
    "request": EXAMPLE_ADVICE_REQUEST,
    "view": "coarse",
    "asked_at": "2026-03-01T12:00:00Z",
}


class AskedVersion(Answer):
    """The version of an entry in a question."""

    id: Uuid = Field(description="Id of the entry")
    version: int = Field(description="Version number, from 1")


class QuestionRecord(Answer):
    """A question of a tenant."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    advice: Uuid = Field(description="Id of the advice, as the tenant knows it")
    tenant: str = Field(description="Tenant that asked")
    entry: AskedVersion = Field(description="The entry")
    request: dict[str, Any] = Field(title="Question", description="The question, as `AdviceRequest`")
    view: str = Field(description="Level of detail of the tenant's answer: `full` or `coarse`")
    asked_at: UtcTime = Field(description="Time of the first call (RFC 3339, UTC)")


class QuestionPage(Answer):
    """A page of questions, newest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_EXAMPLE], "next_page_token": None}]})

    items: list[QuestionRecord] = Field(description="The questions")
    next_page_token: str | None = Field(default=None, description="Token for the next page; null on the last page")
