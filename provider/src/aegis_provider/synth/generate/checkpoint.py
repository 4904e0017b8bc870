"""A training that is kept in a file until it ends, so that a run that was stopped goes on where it was."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from aegis_provider.output import written_whole

_FORMAT: Final = 3
"""Raised with every change of what is kept: a training of another format starts anew."""


@dataclass(frozen=True, eq=False)
class Saved:
    """A training until now.

    Attributes:
        looks: What was seen of the models.
        best: The place of the best of them.
        latest: The state of the last model.
        best_state: The state of the best one.
    """

    looks: Sequence[Any]
    best: int
    latest: Mapping[str, NDArray[Any]]
    best_state: Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Checkpoint:
    """The file of a training.

    Attributes:
        path: The file.
        digest: Of all that the training depends on; a file with another one is of another training.
    """

    path: Path
    digest: str

    def read(self, looks: TypeAdapter[Any]) -> Saved | None:
        """Return the training in the file; `None` if there is none, or one of something else."""
        with suppress(OSError, ValueError, KeyError, TypeError, BadZipFile, ValidationError):
            with np.load(self.path, allow_pickle=False) as arrays:
                about = json.loads(str(arrays["about"]))
                if (about["format"], about["digest"]) != (_FORMAT, self.digest):
                    return None
                states = [
                    {name[1:]: arrays[name] for name in arrays.files if name[0] == which and name != "about"}
                    for which in ("l", "b")
                ]
            return Saved(looks.validate_python(about["looks"]), int(about["best"]), *states)
        return None

    def write(self, saved: Saved) -> None:
        """Write the training, whole or not at all.

        Raises:
            OutputError: It cannot be written.
        """
        looks = TypeAdapter(tuple[Any, ...]).dump_python(tuple(saved.looks), mode="json")
        about = {"format": _FORMAT, "digest": self.digest, "looks": looks, "best": saved.best}
        states = {f"l{name}": each for name, each in saved.latest.items()}
        states |= {f"b{name}": each for name, each in saved.best_state.items()}
        with written_whole(self.path) as part, part.open("wb") as file:
            np.savez(file, allow_pickle=False, about=np.array(json.dumps(about)), **states)

    def remove(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)
