"""The search parameters of listings of entries."""

import re
from typing import Annotated

from fastapi import Depends, Query
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from aegis_sdk import wire
from app.entries.store.searches import Order, Search
from app.platform.errors import Fault, InvalidDocumentError
from app.tenants.api.required_privacy import privacy_in
from app.tenants.model import RequiredPrivacy

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def without_control_characters(text: str) -> str:
    """Refuse control characters: names and keywords have none, and PostgreSQL does not accept NUL."""
    if _CONTROL.search(text):
        raise PydanticCustomError("control_character", "A search text cannot contain control characters")
    return text


SearchText = Annotated[str, AfterValidator(without_control_characters)]
_QUERY = "Words, separated by blanks, that must all occur in the name, the title or a keyword"
_MODIFIED = "Only entries with a `changed_at` of this time or later (RFC 3339 with a time zone)"
_REQUIRE = f"Privacy that at least one configuration promises, as in `k=10`: {', '.join(wire.PRIVACY_CRITERIA)}"


def asked_search(
    query: Annotated[SearchText | None, Query(description=_QUERY, max_length=255)] = None,
    keyword: Annotated[SearchText | None, Query(description="Exact keyword", max_length=255)] = None,
    label: Annotated[SearchText | None, Query(description="Exact name of the label", max_length=255)] = None,
    attribute: Annotated[SearchText | None, Query(description="Exact name of an attribute", max_length=255)] = None,
    license: Annotated[SearchText | None, Query(description="Exact licence", max_length=300)] = None,  # noqa: A002 -- as documents have it
    require: Annotated[SearchText | None, Query(description=_REQUIRE, max_length=255)] = None,
    modified_since: Annotated[wire.Moment | None, Query(description=_MODIFIED)] = None,
    sort: Annotated[Order, Query(description="Time to sort by; `-`: latest first")] = Order.NEWEST,
) -> Search:
    """The search of these parameters."""
    return Search(query, keyword, label, attribute, license, guarantee_in(require or ""), modified_since, sort)


SearchDependency = Annotated[Search, Depends(asked_search)]


def guarantee_in(text: str) -> RequiredPrivacy:
    """Parse a privacy requirement like `k=10`; None if the text is empty.

    Raises:
        InvalidDocumentError: the text has another form, or the criterion is unknown.
    """
    try:
        return privacy_in(text)
    except InvalidDocumentError as error:
        raise InvalidDocumentError("The search is invalid.", (Fault("/require", error.detail),)) from None
