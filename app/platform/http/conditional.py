"""Conditional requests (RFC 9110, section 13): entity tags, `If-Match` before changes, `If-None-Match` before reads.

A tag names the state of a resource. The part after a `+` names the representation: the verdict and sign-off it shows,
and its content coding. Changes compare only the state.
"""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Response

from app.platform.http.refusals import MalformedRequestError

#: For a response that its reader may store but must revalidate.
REVALIDATED = "private, no-cache"

#: The same for public content.
PUBLIC = "public, no-cache"

_TAG = re.compile(r'[ \t]*(?:((?:W/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|\Z)')

#: The form of `If-Match` and `If-None-Match` for the OpenAPI document: `*`, or a list, which may have empty elements.
_TAG_PATTERN = r'(W/)?"[!#-~\x80-\xff]*"[ \t]*'

_TAGS_PATTERN = rf"^[ \t]*(\*[ \t]*|(,[ \t]*)*{_TAG_PATTERN}(,[ \t]*({_TAG_PATTERN})?)*)$"

_CODED = re.compile(r'\+gzip"\Z')


def etag_of(body: bytes) -> str:
    """The tag of a response that does not depend on its reader."""
    return f'"{hex_digits(body, 32)}"'


class KnownTags:
    """The tags of what the caller has stored, from `If-None-Match`; none without the header."""

    def __init__(self, header: str | None) -> None:
        tags = () if header is None else entity_tags("If-None-Match", header)
        self._any = tags is None
        self._known = {_CODED.sub('"', tag.removeprefix("W/")): tag for tag in tags or ()}

    def unchanged(self, tag: str, headers: Mapping[str, str]) -> Response | None:
        """The response 304, with the caller's own tag, if it has stored the response 200 with these headers."""
        kept = tag if self._any else self._known.get(tag)
        return None if kept is None else Response(status_code=304, headers={**headers, "ETag": kept})


_IfNoneMatch = Annotated[
    str | None,
    Header(
        description="Tags of what the caller has stored; if one is current, the response is 304",
        json_schema_extra={"pattern": _TAGS_PATTERN},
    ),
]

IfMatch = Annotated[
    str | None,
    Header(
        description="Tag of what the caller has seen; if it has changed since, the response is 412",
        json_schema_extra={"pattern": _TAGS_PATTERN},
    ),
]


async def get_known_tags(request: Request, if_none_match: _IfNoneMatch = None) -> KnownTags:
    """The tags in all lines of `If-None-Match`."""
    return KnownTags(None if if_none_match is None else header_lines(request, "if-none-match"))


KnownTagsDependency = Annotated[KnownTags, Depends(get_known_tags)]

#: The response of conditional reads, for the OpenAPI document.
NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "The caller's stored copy is current"}}


def header_lines(request: Request, name: str) -> str:
    """The values of all lines of a header, as one list."""
    return ", ".join(request.headers.getlist(name))


def entity_tags(name: str, header: str) -> tuple[str, ...] | None:
    """The tags of a list; None for `*`.

    Raises:
        MalformedRequestError: the header is neither.
    """
    if header.strip(" \t") == "*":
        return None
    tags, place = [], 0
    while place < len(header) and (element := _TAG.match(header, place)):
        if element[1] is not None:  # a list may have empty elements (RFC 9110, section 5.6.1)
            tags.append(element[1])
        place = element.end()
    if place < len(header) or not tags:
        raise MalformedRequestError(f"{name} must be * or entity tags in double quotes, with commas between.")
    return tuple(tags)


def hex_digits(content: bytes, number: int) -> str:
    """The first hexadecimal digits of the SHA-256 of `content`."""
    return sha256(content).hexdigest()[:number]
