"""Parameters of requests for entries: search criteria, and preconditions of changes.

`If-Match` identifies the state to change (RFC 9110, section 13.1.1).
"""

import re
from collections.abc import Callable, Hashable
from dataclasses import replace
from hashlib import sha256
from typing import Annotated

from fastapi import Depends, Query, Request
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError, to_json

from aegis_sdk import wire
from app.entries.api.mapping import head_answer, verdict_answer, visibility_answer
from app.entries.model.entries import Head, StoredVerdict
from app.entries.model.worth import ASKED_K, answering
from app.entries.store.searches import Order, Search
from app.platform.errors import Fault, InvalidDocumentError
from app.platform.http.conditional import IfMatch, entity_tags, header_lines, hex_digits
from app.platform.http.refusals import PreconditionRequiredError
from app.tenants.model import RequiredPrivacy
from app.tenants.required_privacy import privacy_in

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def without_control_characters(text: str) -> str:
    """Refuse control characters: names and keywords have none, and PostgreSQL does not accept NUL."""
    if _CONTROL.search(text):
        raise PydanticCustomError("control_character", "A search text cannot contain control characters")
    return text


SearchText = Annotated[str, AfterValidator(without_control_characters)]
_QUERY = (
    "Words, separated by blanks, that must all occur in the name, the title, a keyword, or the name of a label or an "
    "attribute"
)
_SORT = (
    "Time to sort by; `-`: latest first. `worth`: by the lower end of what a model should reach for the `label` on the "
    "best table with the required k, or the next higher of 2, 5, 10 and 20; entries without it come last"
)
_NEEDS = "Names of attributes that must all be in it, separated by commas, or the URIs of their concepts"
_MODIFIED = "Only entries with a `changed_at` of this time or later (RFC 3339 with a time zone)"
_REQUIRE = (
    f"Privacy that at least one configuration promises, as in `k=10`: {', '.join(wire.PRIVACY_CRITERIA)}; with "
    "`,unit=person`, only of entries that count people"
)


def asked_search(
    query: Annotated[SearchText | None, Query(description=_QUERY, max_length=255)] = None,
    keyword: Annotated[SearchText | None, Query(description="Exact keyword", max_length=255)] = None,
    label: Annotated[
        SearchText | None, Query(description="Exact name of a label, or the URI of its concept", max_length=255)
    ] = None,
    attribute: Annotated[SearchText | None, Query(description="Exact name of an attribute", max_length=255)] = None,
    license: Annotated[SearchText | None, Query(description="Exact licence", max_length=300)] = None,  # noqa: A002 -- as documents have it
    require: Annotated[SearchText | None, Query(description=_REQUIRE, max_length=255)] = None,
    modified_since: Annotated[wire.Moment | None, Query(description=_MODIFIED)] = None,
    sort: Annotated[Order, Query(description=_SORT)] = Order.NEWEST,
    needs: Annotated[SearchText | None, Query(description=_NEEDS, max_length=2_000)] = None,
) -> Search:
    """The search of these parameters."""
    needed = tuple(dict.fromkeys(filter(None, (needs or "").split(","))))
    asked = Search(query, keyword, label, attribute, license, guarantee_in(require or ""), modified_since, sort, needed)
    return by_worth(asked) if sort is Order.WORTH else asked


def by_worth(search: Search) -> Search:
    """The search in the order of worth: for its label and the least known k of at least its own, 2 by default.

    Raises:
        InvalidDocumentError: it names no label, or a k for which the worth is not known.
    """
    if search.label is None:
        fault = Fault("/sort", "Tables are worth something for a label: give one as `label`.")
        raise InvalidDocumentError("The search is invalid.", (fault,))
    required = dict(search.required.at_least)
    k = answering(required.pop("k", ASKED_K[0]))
    if k is None:
        known = ", ".join(map(str, ASKED_K))
        detail = f"The worth is known for k of {known}: require no more, or sort by time."
        raise InvalidDocumentError("The search is invalid.", (Fault("/require", detail),))
    return replace(search, required=replace(search.required, at_least=required), k=k)


SearchDependency = Annotated[Search, Depends(asked_search)]


def guarantee_in(text: str) -> RequiredPrivacy:
    """Parse a requirement like `k=10` or `k=10,unit=person`, or none (InvalidDocumentError: it is not one)."""
    try:
        return privacy_in(text)
    except InvalidDocumentError as error:
        raise InvalidDocumentError("The search is invalid.", (Fault("/require", error.detail),)) from None


Precondition = Callable[[Head], bool]


def etag_of_shown(head: Head, verdict: StoredVerdict | None) -> str:
    """The tag of an entry with its mutable parts: verdict and sign-off."""
    shown = head_answer(head), None if verdict is None else verdict_answer(verdict)
    return f'{etag(head)[:-1]}+{hex_digits(to_json(shown), 8)}"'


def get_precondition(request: Request, if_match: IfMatch = None) -> Precondition:
    """A check by `If-Match` whether the caller has seen this head."""
    if if_match is None:
        raise PreconditionRequiredError("Send If-Match with the ETag of the entry, to name the version to change.")
    return _matcher(header_lines(request, "if-match"))


def get_read_version(request: Request, if_match: IfMatch = None) -> Precondition:
    """The same check, but refusing `*`, if the caller must have read this very state."""
    if if_match is not None and header_lines(request, "if-match").strip() == "*":
        raise PreconditionRequiredError("Send If-Match with the ETag of the version that you have read, not *.")
    return get_precondition(request, if_match)


def get_optional_precondition(request: Request, if_match: IfMatch = None) -> Precondition:
    """The same check with an optional `If-Match`: without it, every head passes."""
    return _matcher("*" if if_match is None else header_lines(request, "if-match"))


PreconditionDependency = Annotated[Precondition, Depends(get_precondition)]
ReadVersionDependency = Annotated[Precondition, Depends(get_read_version)]
OptionalPreconditionDependency = Annotated[Precondition, Depends(get_optional_precondition)]


def _matcher(header: str) -> Precondition:
    tags = entity_tags("If-Match", header)
    if tags is None:
        return lambda _head: True
    states = {f'{tag[:-1].partition("+")[0]}"' for tag in tags}  # a weak tag begins with W/ and matches none
    return lambda head: etag(head) in states


def etag(head: Head) -> str:
    """The entity tag of an entry as the caller sees it: version and digits of the digests of content and visibility."""
    visibility = to_json(visibility_answer(head.visibility))
    return f'"{head.version}-{head.digest.rpartition(":")[2][:16]}-{sha256(visibility).hexdigest()[:8]}"'


def version_key(head: Head, in_full: bool) -> Hashable:  # noqa: FBT001 -- part of the key
    """The cache key of results from a version, for owners (`in_full`) or for others."""
    # With the digest, because another version may get the id after a backup is restored.
    return head.version_id, head.keyed_digest, in_full
