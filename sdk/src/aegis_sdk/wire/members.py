"""Objects with a repeated member are refused: readers disagree on which one counts (RFC 8259, section 4)."""

import json
import re
from collections import Counter
from collections.abc import Iterator

from aegis_sdk.wire.faults import Fault, refuse

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"(:?)')  # possessive: other matchers keep a state for each character

_NO_STRINGS = b"0123456789 \t\r\n,[]"
"""Most of a long body, and irrelevant to the number of members."""


def refuse_repeated_members(body: bytes | str, document: object) -> None:
    """Refuse a JSON body with repeated members, by comparing the number of its members with that of the parsed
    document.

    Raises:
        ValidationError: an object names a member twice.
    """
    text = body.encode() if isinstance(body, str) else body
    if sum(map(len, _STRING.findall(text.translate(None, _NO_STRINGS)))) != _members(document):
        refuse("document", _repeats(text))


def _members(document: object) -> int:
    """The number of members of all objects."""
    members, parts = 0, [document]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            members += len(part)
            parts.extend(one for one in part.values() if isinstance(one, dict | list))
        elif isinstance(part, list):
            parts.extend(one for one in part if isinstance(one, dict | list))
    return members


def _repeats(text: bytes) -> Iterator[Fault]:
    """A fault for each repeated member."""
    repeated: list[str] = []

    def keep_repeated(members: list[tuple[str, object]]) -> None:
        given = Counter(name for name, _ in members)
        if len(given) < len(members):
            repeated.extend(name for name, times in given.items() if times > 1)

    json.loads(text, object_pairs_hook=keep_repeated)
    for name in dict.fromkeys(repeated):
        yield (), f"The member {name!r} is given more than once in the same object"
