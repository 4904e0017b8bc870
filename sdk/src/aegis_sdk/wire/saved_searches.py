"""Saved searches, which are told what they find by the events of webhooks."""

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field

from aegis_sdk.wire.delivery import Moment
from aegis_sdk.wire.documents import Answer, Request, Uuid
from aegis_sdk.wire.values import Identifier, UtcTime

_ASKED: Final[dict[str, Any]] = {"sort": "worth", "label": "income", "require": "k=10", "needs": "age,education"}

_EXAMPLE: Final[dict[str, Any]] = {
    "id": "9f1c7b0e-8a55-4d0b-b3f5-2f6f7d1f5c11",
    "tenant": "insurer",
    "search": _ASKED,
    "created_at": "2026-03-01T12:00:00Z",
    "created_by": "aegis_30a4a6be",
    "found_at": None,
}

_Long = Annotated[str, Field(max_length=2_000, pattern=r"^[^\u0000-\u001f\u007f-\u009f]*$")]


class SearchRequest(Request):
    """Asks to save a search: the parameters of the listing of entries, which says what they mean."""

    model_config = ConfigDict(json_schema_extra={"examples": [_ASKED]})

    query: Identifier | None = Field(default=None, description="Words that must all occur")
    keyword: Identifier | None = Field(default=None, description="Exact keyword")
    label: Identifier | None = Field(default=None, description="Exact name of a label, or the URI of its concept")
    attribute: Identifier | None = Field(default=None, description="Exact name of an attribute")
    license: _Long | None = Field(default=None, description="Exact licence")
    require: Identifier | None = Field(default=None, description="Privacy to promise, as in `k=10`")
    modified_since: Moment | None = Field(default=None, description="Only entries that have changed since")
    needs: _Long | None = Field(default=None, description="Attributes that must all be in it, separated by commas")
    sort: Literal["-created_at", "created_at", "-changed_at", "changed_at", "worth"] = Field(
        default="-created_at",
        description="`worth`: only what is worth more than all that there was when the search was saved, or last found "
        "something. Any other: every version that becomes visible",
    )
    tenant: Identifier | None = Field(
        default=None, description="Tenant of the search; only operators can name another tenant than their own"
    )


class SavedSearch(Answer):
    """A saved search."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    id: Uuid = Field(description="Id of the search")
    tenant: str = Field(description="Tenant of the search")
    search: dict[str, str] = Field(description="The parameters of the listing, without those that were not given")
    created_at: UtcTime = Field(description="When it was saved (RFC 3339, UTC)")
    created_by: str | None = Field(default=None, description="Creator: prefix of a key, or subject of a token")
    found_at: UtcTime | None = Field(default=None, description="When it last found something; null: never")


class SavedSearchList(Answer):
    """The saved searches of a tenant, oldest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_EXAMPLE]}]})

    items: list[SavedSearch] = Field(description="The searches")
