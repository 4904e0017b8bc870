"""SHA-256 of files, for the SDK and the provider's package."""

import hashlib
import sys
from pathlib import Path
from typing import IO, Any, Final

_BLOCK: Final = 1 << 20


def hash_of(file: IO[bytes], size: int | None = None) -> Any:  # noqa: ANN401 -- the type of hashes has no public name
    """The SHA-256 of an open file from its position on, or of this number of bytes; can be updated."""
    digest, left = hashlib.sha256(), sys.maxsize if size is None else size
    while left and (block := file.read(min(left, _BLOCK))):
        digest.update(block)
        left -= len(block)
    return digest


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        return str(hash_of(file).hexdigest())
