"""Entry files, read and validated as the service would."""

from pathlib import Path

from pydantic import ValidationError

from aegis_sdk.cli.failures import InputError
from aegis_sdk.wire import EntryDocument, NotJsonError, faults_of, read_json


def read(path: Path) -> bytes:
    """The content of a file.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def document_of(path: Path, content: bytes) -> EntryDocument:
    """The entry in a file with this content.

    Raises:
        InputError: The content is not JSON, or not a valid entry.
    """
    try:
        document = read_json(content)
    except NotJsonError as error:
        raise InputError(f"{path}: not JSON: {error}") from error
    return validated(path, document)


def validated(source: Path, entry: object) -> EntryDocument:
    """The entry, validated by the service's rules for its structure.

    Raises:
        InputError: The entry is invalid; the message has the source and the first fault.
    """
    try:
        return EntryDocument.model_validate(entry)
    except ValidationError as error:
        fault = faults_of(error)[0]
        raise InputError(f"{source}: {fault.pointer or 'the entry'}: {fault.detail}") from error
