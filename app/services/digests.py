"""The content digest of an entry: SHA-256 of its RFC 8785 JSON, without `visibility`."""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import orjson
import rfc8785

from app.domain.documents import Document

#: What orjson may write otherwise than RFC 8785 wants, or may hold such a thing.
_DIFFERENT = frozenset({dict, list, float})


def digest(document: Document) -> str:
    """The digest of a document, its counts as lists or arrays: `sha256:` and 64 hexadecimal digits."""
    sha256 = hashlib.sha256()
    for part in canonical_parts({name: value for name, value in document.items() if name != "visibility"}):
        sha256.update(part)
    return f"sha256:{sha256.hexdigest()}"


def canonical_parts(value: Any) -> Iterator[bytes]:  # noqa: ANN401 -- any JSON value
    """`value` as RFC 8785 JSON, in parts: joined at every level, tens of megabytes would be copied several times.

    orjson writes integers, texts, lists and arrays of them just so, many times faster than a serialiser in Python; it
    differs in the order of members and in how it writes floats, which are seen to here.
    """
    match value:
        case dict():
            yield b"{"
            for index, (name, member) in enumerate(sorted(value.items(), key=_utf_16)):
                yield b"%b%b:" % (b"," if index else b"", orjson.dumps(name))
                yield from canonical_parts(member)
            yield b"}"
        case list() if not _DIFFERENT.isdisjoint(map(type, value)):
            yield b"["
            for index, item in enumerate(value):
                yield b"," if index else b""
                yield from canonical_parts(item)
            yield b"]"
        case float():
            yield rfc8785.dumps(value)
        case np.ndarray():
            yield orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
        case _:
            yield orjson.dumps(value)


def _utf_16(member: tuple[str, object]) -> bytes:
    """What RFC 8785 sorts the members of an object by."""
    return member[0].encode("utf-16-be")
