"""Places of faults in an entry file for people: attribute or masking, and line. Runs in a child process.

Numbers of people are not shown, because faults reach more people than may see the counts.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

#: Members with numbers that are, or reveal, numbers of people.
_COUNTS: Final = frozenset(
    {
        "counted_with",
        "histogram",
        "joint",
        "joint_trace",
        "joint_traces",
        "records",
        "suppressed",
        "suppressed_cells",
        "with_label",
        "with_labels",
        "within",
    }
)

#: The kinds of items in the lists of an entry, and the member with their names.
_LISTS: Final[Mapping[str, tuple[str, str]]] = {
    "attributes": ("attribute", "name"),
    "maskings": ("masking", "id"),
    "configurations": ("configuration", "id"),
    "pairs": ("pair", "attributes"),
}

#: The longest name and excerpt in characters, and the largest number of list items in an excerpt.
_LONGEST_NAME, _LONGEST_EXCERPT, _MOST_ITEMS = 60, 160, 8

_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()
_ELIDED: Final = "…"


@dataclass(frozen=True, slots=True)
class DocumentPlace:
    """A place in a document.

    Attributes:
        names: the pointer in words, with names; empty for the whole document.
        line: its line in the file, from 1; None if it is not known.
        excerpt: the value without numbers of people; empty if nothing can be shown.
    """

    pointer: str
    names: str = ""
    line: int | None = None
    excerpt: str = ""


def places_in(body: bytes, pointers: Sequence[str]) -> list[DocumentPlace]:
    """The places of pointers, in order."""
    source, places = _Source(body.decode(errors="replace")), []
    for pointer in pointers:
        steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
        try:
            path = source.path(steps)
            line = source.text.count("\n", 0, path[-1]) + 1
            places.append(DocumentPlace(pointer, _names(source, steps, path), line, _excerpt(source, steps, path)))
        except (ValueError, IndexError, RecursionError):  # the document is not JSON after all
            places.append(DocumentPlace(pointer))
    return places


class _Source:
    """The text of a document, with the positions of its members."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._known: dict[int, dict[str, int]] = {}

    def path(self, steps: Sequence[str]) -> list[int]:
        """The positions of the document, its member and so on, as far as they exist."""
        path = [self._after_blanks(self.text.startswith("\ufeff"))]
        for step in steps:
            members = self.members(path[-1])
            if step not in members:
                break
            path.append(members[step])
        return path

    def members(self, start: int) -> Mapping[str, int]:
        """The positions of the members of the object or list at this position; empty for other values."""
        if self.text[start] not in "{[":
            return {}
        if start not in self._known:
            self._known[start] = self._scanned(start)
        return self._known[start]

    def _scanned(self, start: int) -> dict[str, int]:
        members: dict[str, int] = {}
        at = self._after_blanks(start + 1)
        while self.text[at] not in "}]":
            name: object = len(members)
            if self.text[start] == "{":
                name, at = _DECODER.raw_decode(self.text, at)
                at = self._after_blanks(self._after_blanks(at) + 1)
            members[str(name)] = at
            at = self._after_blanks(_DECODER.raw_decode(self.text, at)[1])
            if self.text[at] == ",":
                at = self._after_blanks(at + 1)
        return members

    def member(self, start: int, *names: str) -> Any:  # noqa: ANN401 -- any JSON value
        """The nested member, by names, of the object at this position; None if there is none."""
        for name in names:
            members = self.members(start)
            if name not in members:
                return None
            start = members[name]
        return _DECODER.raw_decode(self.text, start)[0]

    def _after_blanks(self, at: int) -> int:
        match = _BLANKS.match(self.text, at)
        return at if match is None else match.end()


def _names(source: _Source, steps: Sequence[str], path: Sequence[int]) -> str:
    words: list[str] = []
    for at, (container, step) in enumerate(pairwise(["", *steps])):
        start = path[at + 1] if at + 1 < len(path) else None
        if container in _LISTS and step.isdigit():
            kind, member = _LISTS[container]
            name = None if start is None else source.member(start, member)
            words[-1] = f"{kind} {_short(name) or int(step) + 1}"
        elif step.isdigit():
            words.append(_cell(source, steps, path, at))
        else:
            words.append(_short(step))
    return ", ".join(words)


def _cell(source: _Source, steps: Sequence[str], path: Sequence[int], at: int) -> str:
    """The name of an item of a list: in tables of counts, a value or a label value."""
    step = steps[at]
    names = None
    if steps[at - 1] in {"histogram", "joint"} and "pairs" not in steps:
        names = source.member(path[min(at - 1, len(path) - 1)], "domain")
    elif at > 1 and steps[at - 2] == "joint" and "pairs" not in steps:
        names = source.member(path[0], "label", "domain")
    if isinstance(names, list) and int(step) < len(names):
        return _short(names[int(step)])
    return f"item {int(step) + 1}"


def _short(name: object) -> str:
    if isinstance(name, list):
        return " and ".join(_short(part) for part in name[:2])
    text = name if isinstance(name, str) else ""
    return text if len(text) <= _LONGEST_NAME else text[:_LONGEST_NAME] + _ELIDED


def _excerpt(source: _Source, steps: Sequence[str], path: Sequence[int]) -> str:
    known = steps[: len(path) - 1]
    if not _COUNTS.isdisjoint(steps):
        return ""
    text = _shown(source.member(path[-1]))
    if known and not known[-1].isdigit():
        text = f"{json.dumps(known[-1], ensure_ascii=False)}: {text}"
    return text if len(text) <= _LONGEST_EXCERPT else text[:_LONGEST_EXCERPT] + _ELIDED


def _shown(value: object) -> str:
    """A value to one level of members, without numbers of people."""
    if isinstance(value, dict):
        members = (f"{json.dumps(name, ensure_ascii=False)}: {_inner(value[name], name)}" for name in value)
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list):
        items = [_inner(item) for item in value[:_MOST_ITEMS]]
        return "[" + ", ".join(items + [_ELIDED] * (len(value) > _MOST_ITEMS)) + "]"
    return _inner(value)


def _inner(value: object, name: str = "") -> str:
    if isinstance(value, dict):
        return "{" + _ELIDED * bool(value) + "}"
    if isinstance(value, list):
        return "[" + _ELIDED * bool(value) + "]"
    return _ELIDED if name in _COUNTS else json.dumps(value, ensure_ascii=False)
