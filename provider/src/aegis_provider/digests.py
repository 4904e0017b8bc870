"""Digests of files."""

import hashlib
from pathlib import Path

from aegis_provider.errors import TableError


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file.

    Raises:
        TableError: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TableError(f"{path}: cannot be read: {error.strerror}") from error
