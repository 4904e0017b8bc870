"""Entries in files, read as the service would read them."""

from pathlib import Path

from pydantic import ValidationError

from aegis_sdk.cli.failures import InputError
from aegis_sdk.wire import EntryDocument, NotJsonError, faults_of, read_json


def read(path: Path) -> bytes:
    """The file's content.

    Raises:
        InputError: It cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def document_of(path: Path, content: bytes) -> EntryDocument:
    """The entry in a file of that content.

    Raises:
        InputError: It is not JSON, or no entry.
    """
    try:
        document = read_json(content)
    except NotJsonError as error:
        raise InputError(f"{path}: not JSON: {error}") from error
    return validated(path, document)


def validated(source: Path, entry: object) -> EntryDocument:
    """The entry as the service would take it; otherwise what of its source is at fault."""
    try:
        return EntryDocument.model_validate(entry)
    except ValidationError as error:
        fault = faults_of(error)[0]
        raise InputError(f"{source}: {fault.pointer or 'the entry'}: {fault.detail}") from error
