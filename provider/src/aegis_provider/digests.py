"""Digests of files."""

from pathlib import Path

from aegis_provider.errors import TableError
from aegis_sdk._downloads import sha256_of


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file.

    Raises:
        TableError: It cannot be read.
    """
    try:
        return sha256_of(path)
    except OSError as error:
        raise TableError(f"{path}: cannot be read: {error.strerror}") from error
