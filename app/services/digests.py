"""The content digest of an entry: SHA-256 of its RFC 8785 JSON, without `visibility`."""

import hashlib
from typing import Any

import numpy as np
import orjson
import rfc8785

from app.domain.documents import Document

#: What orjson may write otherwise than RFC 8785 wants, or may hold such a thing.
_DIFFERENT = frozenset({dict, list, float})


def digest(document: Document) -> str:
    """The digest of a document, its counts as lists or arrays: `sha256:` and 64 hexadecimal digits."""
    published = {name: value for name, value in document.items() if name != "visibility"}
    return f"sha256:{hashlib.sha256(canonical_json(published)).hexdigest()}"


def canonical_json(value: Any) -> bytes:  # noqa: ANN401 -- any JSON value
    """`value` as RFC 8785 JSON.

    orjson writes integers, texts, lists and arrays of them just so, many times faster than a serialiser in Python; it
    differs in the order of members and in how it writes floats, which are seen to here.
    """
    match value:
        case dict():
            members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
            return b"{%b}" % b",".join(orjson.dumps(name) + b":" + canonical_json(member) for name, member in members)
        case list() if not _DIFFERENT.isdisjoint(map(type, value)):
            return b"[%b]" % b",".join(map(canonical_json, value))
        case float():
            return rfc8785.dumps(value)
        case np.ndarray():
            return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
        case _:
            return orjson.dumps(value)
