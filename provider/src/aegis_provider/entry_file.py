"""The entry as a document, and as a file that a person can read before publishing it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from aegis_provider.errors import PlanError
from aegis_provider.output import written_whole
from aegis_sdk.wire import EntryDocument, faults_of, publishable

_WIDTH = 110
_SHORTEST = 3
"""Minimum characters per item, including a comma and a blank, or the brackets."""

# One encoder for all values, because `json.dumps` makes a new one for each.
_encode = json.JSONEncoder(ensure_ascii=False).encode


def entry_of(document: dict[str, Any], source: str) -> EntryDocument:
    """Return the entry in a document, checked as the service checks it.

    Args:
        document: The entry as JSON values.
        source: The name of the entry's plan, for error messages.

    Raises:
        PlanError: The document breaks a rule of the contract.
    """
    try:
        return publishable(document)
    except ValidationError as error:
        fault = faults_of(error)[0]
        raise PlanError(f"{source}: {fault.pointer or 'the entry'}: {fault.detail}") from error


def document_of(entry: EntryDocument) -> dict[str, Any]:
    """Return the entry as JSON values, without fields that have their defaults."""
    document = entry.model_dump(exclude_unset=True, exclude_none=True)
    for configuration in document["configurations"]:
        privacy = configuration.get("privacy", {})
        privacy.update({name: int(number) for name, number in privacy.items() if number.is_integer()})
    return document


def write_entry(entry: EntryDocument, path: Path, beside: Callable[[], None] = lambda: None) -> None:
    """Write the entry as JSON, whole or not at all.

    Args:
        entry: The entry.
        path: The file to write.
        beside: Writes accompanying files once the entry can be written; if it fails, no entry appears.

    Raises:
        OutputError: The entry cannot be written.
    """
    with written_whole(path) as part:
        part.write_text(render(document_of(entry)) + "\n", encoding="utf-8")
        beside()


def render(value: Any, indent: str = "") -> str:  # noqa: ANN401 - any JSON value
    """Render JSON: one line for a value that fits, a line for each row of a table, filled lines for long lists."""
    if not isinstance(value, dict | list):
        return _encode(value)
    is_table = isinstance(value, list) and any(isinstance(each, list) for each in value)
    if not is_table and _SHORTEST * len(value) <= _WIDTH:
        flat = _encode(value)
        if len(indent) + len(flat) <= _WIDTH:
            return flat
    inner = indent + " "
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n" + ",\n".join(_lines(value, inner)) + f"\n{indent}{closing}"


def _lines(value: dict[str, Any] | list[Any], indent: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield f"{indent}{_encode(key)}: {render(each, indent)}"
    elif any(isinstance(each, dict | list) for each in value):
        yield from (indent + render(each, indent) for each in value)
    else:
        yield from (indent + line for line in _filled(value, _WIDTH - len(indent)))


def _filled(values: list[Any], width: int) -> Iterator[str]:
    line = ""
    for text in map(_encode, values):
        if line and len(line) + len(text) + 2 > width:
            yield line
            line = ""
        line = f"{line}, {text}" if line else text
    yield line
