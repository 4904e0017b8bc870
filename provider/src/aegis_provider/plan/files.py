"""Which files a plan file names: they are read with it, and nothing may be written over them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

NAMED_BY: Final = (("hierarchy", "file"), ("token", "salt_file"), ("masked_table", "file"))
"""Keys whose value is the path of a file, each after the key that it stands under."""


def files_named(document: Any, folder: Path, under: str = "") -> Iterator[Path]:  # noqa: ANN401 - any YAML
    """The files of a plan as YAML has it, texts within mappings, looked up in `folder`."""
    for key, value in document.items() if isinstance(document, dict) else ():
        if isinstance(value, str) and (under, key) in NAMED_BY:
            yield folder / value
        else:
            yield from files_named(value, folder, key)
