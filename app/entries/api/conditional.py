"""Conditional requests (RFC 9110, section 13): entity tags, `If-Match` before changes, `If-None-Match` before reads.

A tag names a state of a resource. What comes after a `+` in it says which representation of this state was sent: what
was known of its verdict and sign-off, and its content coding. A change depends on the state alone.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Annotated, Any

import orjson
from fastapi import Depends, Header, Request, Response

from app.advice.service.advice import SeenAdvice
from app.entries.api.entity_tags import etag
from app.entries.api.mapping import head_body
from app.entries.model.entries import Head
from app.entries.model.verdicts import StoredVerdict
from app.platform.http.refusals import MalformedRequestError, PreconditionRequiredError

#: For what may be kept by its reader, who asks each time whether it has changed.
REVALIDATED = "private, no-cache"

#: The same for what is no secret.
PUBLIC = "public, no-cache"

_TAG = re.compile(r'[ \t]*(?:((?:W/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|\Z)')

#: What `If-Match` and `If-None-Match` may be, for the OpenAPI document: `*`, or a list, which may have empty elements.
_TAG_PATTERN = r'(W/)?"[!#-~\x80-\xff]*"[ \t]*'
_TAGS_PATTERN = rf"^[ \t]*(\*[ \t]*|(,[ \t]*)*{_TAG_PATTERN}(,[ \t]*({_TAG_PATTERN})?)*)$"

_CODED = re.compile(r'\+(?:gzip|zstd)"\Z')

Precondition = Callable[[Head], bool]


def etag_of_shown(head: Head, verdict: StoredVerdict | None) -> str:
    """The tag of an entry that is shown with what changes without a new version: its verdict, its sign-off."""
    shown = [head_body(head), None if verdict is None else asdict(verdict)]
    return f'{etag(head)[:-1]}+{_digits(orjson.dumps(shown), 8)}"'


def etag_of_advice(seen: SeenAdvice) -> str | None:
    """The tag of an advice in the caller's view. None while it still changes; a failed one may be tried again."""
    advice = seen.advice
    if not advice.status.is_final:
        return None
    told = (
        *(advice.id, seen.view, seen.is_stale, advice.status, advice.model_version),
        *(advice.digest, advice.elapsed_ms, advice.problem),
    )
    return f'"{_digits(repr(told).encode(), 32)}"'


def etag_of(body: bytes) -> str:
    """The tag of an answer that is the same for everybody."""
    return f'"{_digits(body, 32)}"'


def with_coding(tag: str, coding: str) -> str:
    """The tag of the same answer in a content coding."""
    return f'{tag[:-1]}+{coding}"'


class KnownTags:
    """The tags in `If-None-Match`: the caller keeps what they belong to. None of the header: it keeps nothing."""

    def __init__(self, header: str | None) -> None:
        tags = () if header is None else _tags("If-None-Match", header)
        self._any = tags is None
        self._known = {_CODED.sub('"', tag.removeprefix("W/")): tag for tag in tags or ()}

    def unchanged(self, tag: str, headers: Mapping[str, str]) -> Response | None:
        """The answer 304, with the caller's own tag, if it keeps what the answer 200 with these headers would be."""
        kept = tag if self._any else self._known.get(tag)
        return None if kept is None else Response(status_code=304, headers={**headers, "ETag": kept})


_IfNoneMatch = Annotated[
    str | None,
    Header(
        description="Tags of what the caller keeps; if one is still true, the answer is 304",
        json_schema_extra={"pattern": _TAGS_PATTERN},
    ),
]

_IfMatch = Annotated[
    str | None,
    Header(
        description="Tag of what the caller has seen; if it has changed since, the answer is 412",
        json_schema_extra={"pattern": _TAGS_PATTERN},
    ),
]


async def get_known_tags(request: Request, if_none_match: _IfNoneMatch = None) -> KnownTags:
    """The tags in all lines of `If-None-Match`."""
    return KnownTags(None if if_none_match is None else _lines(request, "if-none-match"))


def get_precondition(request: Request, if_match: _IfMatch = None) -> Precondition:
    """A check, by `If-Match`, whether a head is the one that the caller has seen."""
    if if_match is None:
        raise PreconditionRequiredError("Say which version to change: send If-Match with the ETag of the entry.")
    return _matcher(_lines(request, "if-match"))


def get_read_version(request: Request, if_match: _IfMatch = None) -> Precondition:
    """The same check if the caller must have read the very state: `*` says of nothing that it was read."""
    if if_match is not None and _lines(request, "if-match").strip() == "*":
        raise PreconditionRequiredError("Say which version you have read: send If-Match with its ETag, not *.")
    return get_precondition(request, if_match)


def get_optional_precondition(request: Request, if_match: _IfMatch = None) -> Precondition:
    """The same check if `If-Match` is optional: without it, every head passes."""
    return _matcher("*" if if_match is None else _lines(request, "if-match"))


KnownTagsDependency = Annotated[KnownTags, Depends(get_known_tags)]
PreconditionDependency = Annotated[Precondition, Depends(get_precondition)]
ReadVersionDependency = Annotated[Precondition, Depends(get_read_version)]
OptionalPreconditionDependency = Annotated[Precondition, Depends(get_optional_precondition)]

#: The answer of conditional reads, for the OpenAPI document.
NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "The caller keeps it already, as `ETag` says"}}


def _matcher(header: str) -> Precondition:
    tags = _tags("If-Match", header)
    if tags is None:
        return lambda _head: True
    states = {f'{tag[:-1].partition("+")[0]}"' for tag in tags}  # a weak one begins with W/ and equals none
    return lambda head: etag(head) in states


def _lines(request: Request, name: str) -> str:
    return ", ".join(request.headers.getlist(name))


def _tags(name: str, header: str) -> tuple[str, ...] | None:
    """The tags of a list; None for `*`.

    Raises:
        MalformedRequestError: it is neither.
    """
    if header.strip(" \t") == "*":
        return None
    tags = tuple(_each_tag(name, header))
    if not tags:
        raise _malformed(name)
    return tags


def _each_tag(name: str, header: str) -> Iterator[str]:
    place = 0
    while place < len(header):
        element = _TAG.match(header, place)
        if element is None:
            raise _malformed(name)
        if element[1] is not None:  # a list may have empty elements (RFC 9110, section 5.6.1)
            yield element[1]
        place = element.end()


def _malformed(name: str) -> MalformedRequestError:
    return MalformedRequestError(f"{name} must be * or entity tags in double quotes, with commas between.")


def _digits(content: bytes, number: int) -> str:
    return sha256(content).hexdigest()[:number]
