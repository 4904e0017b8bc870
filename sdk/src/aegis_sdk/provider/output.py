"""Files that appear whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

from aegis_sdk.provider.errors import OutputError
from aegis_sdk.provider.source import Source, files_of

# Of a name that may be as long as names can be, in bytes.
_SHOWN = 50


def refuse_overwriting(output: Path, *inputs: Source) -> None:
    """Raises `OutputError` if the output is one of the files (paths, globs) that it is made from."""
    for each in chain.from_iterable(map(files_of, inputs)):
        if output.exists() and each.exists() and output.samefile(each):
            raise OutputError(f"{output}: is {each} itself, which is an input; choose another output")


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """
    A name beside `path` to write to, renamed to `path` at the end, removed after a failure.

    Raises `OutputError` if there is no such directory, or it cannot be written.
    """
    if not path.parent.is_dir():
        raise OutputError(f"{path}: there is no directory {path.parent}; create it first")
    if path.is_dir():
        raise OutputError(f"{path}: is a directory; name a file in it")
    part = path.with_name(f".{path.name[:_SHOWN]}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):  # the first failure is the one to tell
            part.unlink(missing_ok=True)
