"""The contract's example, and ways to break it."""

import copy
import json
from collections.abc import Callable, Iterable
from typing import Any

from pydantic import BaseModel, ValidationError

from aegis_sdk.wire import EXAMPLE_ENTRY, EntryDocument, faults_of, read_entry

Path = tuple[str | int, ...]


def changed(path: Path, value: Any, document: dict[str, Any] = EXAMPLE_ENTRY) -> dict[str, Any]:
    """The document with this value at the path."""
    changed_document = copy.deepcopy(document)
    *parents, last = path
    part: Any = changed_document
    for step in parents:
        part = part[step]
    part[last] = value
    return changed_document


def without(path: Path) -> dict[str, Any]:
    """The example with nothing at the path."""
    document = changed(path, None)
    *parents, last = path
    part: Any = document
    for step in parents:
        part = part[step]
    del part[last]
    return document


def entry_pointers(document: Any) -> list[str]:
    """The pointers to the entry's faults, if it has some; they must be the same from JSON and from Python values."""
    body = json.dumps(document)
    fast, plain = (_faults(read, body) for read in (read_entry, EntryDocument.model_validate_json))
    assert fast == plain
    return fast


def _faults(read: Callable[[str], Any], body: str) -> list[str]:
    try:
        read(body)
    except ValidationError as error:
        return [fault.pointer for fault in faults_of(error)]
    return []


def assert_refused(values: Iterable[Any], *paths: Path, document: dict[str, Any] = EXAMPLE_ENTRY) -> None:
    """At each of these places, each of these values is a fault, and the only one."""
    told = {
        (pointer, repr(value)): entry_pointers(changed(path, value, document))
        for path, pointer in ((path, "".join(f"/{step}" for step in path)) for path in paths)
        for value in values
    }
    assert told == {(pointer, value): [pointer] for pointer, value in told}


def pointers(model: type[BaseModel], document: Any) -> list[str]:
    """The pointers to the faults of a document of this model, if it has some."""
    return _faults(model.model_validate_json, json.dumps(document))


def assert_read_whole(document: dict[str, Any]) -> None:
    """Reading a document, as pydantic does, loses and adds nothing."""
    _, entry = read_entry(json.dumps(document))
    assert entry == EntryDocument.model_validate_json(json.dumps(document))
    assert entry.model_dump(mode="json", exclude_unset=True) == document
