"""Entity tags of entries, by which a change names the state that it replaces (RFC 9110, section 8.8.3)."""

from hashlib import sha256

import orjson

from app.entries.api.mapping import visibility_body
from app.entries.model.entries import Head


def etag(head: Head) -> str:
    """The entity tag of an entry: its version, 16 digits of its digest, and 8 of that of its visibility.

    Like everything else in a head, they are those that the caller sees.
    """
    visibility = orjson.dumps(visibility_body(head.visibility))
    return f'"{head.version}-{head.digest.rpartition(":")[2][:16]}-{sha256(visibility).hexdigest()[:8]}"'
