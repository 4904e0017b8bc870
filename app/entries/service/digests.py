"""The content digest of an entry: SHA-256 of its RFC 8785 JSON, without `visibility`."""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import orjson
import rfc8785

from app.entries.model.documents import Document

#: Types whose values or items orjson may write differently from RFC 8785.
_DIFFERENT = frozenset({dict, list, float})


def digest(document: Document) -> str:
    """The digest of a document whose counts are lists or arrays: `sha256:` and 64 hexadecimal digits."""
    sha256 = hashlib.sha256()
    for part in canonical_parts({name: value for name, value in document.items() if name != "visibility"}):
        sha256.update(part)
    return f"sha256:{sha256.hexdigest()}"


def canonical_parts(value: Any) -> Iterator[bytes]:  # noqa: ANN401 -- any JSON value
    """`value` as RFC 8785 JSON, in parts, since joining them at every level would copy megabytes several times.

    For integers, texts, and lists or arrays of them, orjson conforms to RFC 8785 and is many times faster than Python.
    The order of members and the format of floats differ, so this function handles them.
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
    """The key by which RFC 8785 sorts the members of an object."""
    return member[0].encode("utf-16-be")
