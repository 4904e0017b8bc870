"""Entry files, read and validated as the service would."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from aegis_sdk.cli.failures import InputError
from aegis_sdk.wire import EntryDocument, NotJsonError, faults_of, read_json

_CARD: Final = {"configuration", "privacy_verdict"}
"""Members that only release cards have."""

_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def read(path: Path) -> bytes:
    """The content of a file.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        hint = "; this command takes an entry file, not the id of an entry" if _ID.fullmatch(str(path)) else ""
        raise InputError(f"{path}: cannot be read: {error.strerror}{hint}") from error


def document_of(
    path: Path, content: bytes, validate: Callable[[object], EntryDocument] = EntryDocument.model_validate
) -> EntryDocument:
    """The entry in a file with this content, validated by the service's rules for its structure.

    Args:
        path: The file, for messages.
        content: Its content.
        validate: `publishable` also checks the size. A published entry may be larger than one that can be published.

    Raises:
        InputError: The content is not JSON, or not a valid entry; the message has the file and the first fault.
    """
    try:
        document = read_json(content)
        _refuse_card(path, document)
        return validate(document)
    except NotJsonError as error:
        raise InputError(f"{path}: not JSON: {error}") from error
    except ValidationError as error:
        fault = faults_of(error)[0]
        raise InputError(f"{path}: {fault.pointer or 'the entry'}: {fault.detail}") from error


def _refuse_card(path: Path, document: object) -> None:
    """Refuse a release card, which lies beside its entry.

    Raises:
        InputError: The document is a release card.
    """
    if isinstance(document, dict) and document.keys() >= _CARD:
        raise InputError(f"{path}: is a release card, not an entry; the entry of its release is entry.json beside it")
