"""Entity tags of entries, by which a change names the state that it replaces (RFC 9110, section 8.8.3)."""

from collections.abc import Hashable
from hashlib import sha256

from pydantic_core import to_json

from app.entries.api.mapping import visibility_answer
from app.entries.model.entries import Head


def etag(head: Head) -> str:
    """The entity tag of an entry: its version, 16 digits of its digest, and 8 of that of its visibility.

    Like everything else in a head, they are those that the caller sees.
    """
    visibility = to_json(visibility_answer(head.visibility))
    return f'"{head.version}-{head.digest.rpartition(":")[2][:16]}-{sha256(visibility).hexdigest()[:8]}"'


def version_key(head: Head, in_full: bool) -> Hashable:  # noqa: FBT001 -- part of the key
    """The key of what is made of a version, for owners (`in_full`) or for others."""
    # The digest as well: after a backup is restored, another version may get the id.
    return head.version_id, head.keyed_digest, in_full
