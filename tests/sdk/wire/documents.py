"""The contract's example, and ways to break it."""

import copy
import json
from typing import Any

import pytest
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
    """The pointers to the entry's faults, which must be the same from JSON and from Python values."""
    body = json.dumps(document)
    with pytest.raises(ValidationError) as fast:
        read_entry(body)
    with pytest.raises(ValidationError) as plain:
        EntryDocument.model_validate_json(body)
    found = [fault.pointer for fault in faults_of(fast.value)]
    assert found == [fault.pointer for fault in faults_of(plain.value)]
    return found


def pointers(model: type[BaseModel], document: Any) -> list[str]:
    """The pointers to the faults of a document of this model."""
    with pytest.raises(ValidationError) as caught:
        model.model_validate_json(json.dumps(document))
    return [fault.pointer for fault in faults_of(caught.value)]
