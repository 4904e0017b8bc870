"""Preconditions for changes of entries (RFC 9110, section 13.1.1): `If-Match` identifies the state to change."""

from collections.abc import Callable, Hashable
from hashlib import sha256
from typing import Annotated

from fastapi import Depends, Request
from pydantic_core import to_json

from app.entries.api.mapping import head_answer, verdict_answer, visibility_answer
from app.entries.model.entries import Head
from app.entries.model.verdicts import StoredVerdict
from app.platform.http.conditional import IfMatch, entity_tags, header_lines, hex_digits
from app.platform.http.refusals import PreconditionRequiredError

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
    """The entity tag of an entry: its version, 16 digits of its digest, and 8 of that of its visibility.

    All are those that the caller sees.
    """
    visibility = to_json(visibility_answer(head.visibility))
    return f'"{head.version}-{head.digest.rpartition(":")[2][:16]}-{sha256(visibility).hexdigest()[:8]}"'


def version_key(head: Head, in_full: bool) -> Hashable:  # noqa: FBT001 -- part of the key
    """The cache key of results from a version, for owners (`in_full`) or for others."""
    # With the digest, because another version may get the id after a backup is restored.
    return head.version_id, head.keyed_digest, in_full
