"""The folder of a release, which remembers what is done: a run that was stopped goes on where it ended."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from pydantic import TypeAdapter, ValidationError

from aegis_provider.digests import digest_of
from aegis_provider.errors import OutputError
from aegis_provider.output import is_unfinished, written_whole
from aegis_provider.table import Source, files_of

Result = TypeVar("Result")

_STATE: Final = ".aegis-release.json"
_FORMAT: Final = 1


@dataclass(frozen=True)
class Done:
    """A step that is done.

    Attributes:
        inputs: The digest of what it was made from.
        outputs: The digest of each file that it wrote, by its name.
        result: Its result, as JSON values.
    """

    inputs: str
    outputs: Mapping[str, str]
    result: Any


@dataclass(frozen=True)
class Folder:
    """A folder with the files of one release.

    Attributes:
        path: The folder.
        done: The steps that are done, by their names.
    """

    path: Path
    done: dict[str, Done]

    @classmethod
    def open(cls, path: Path, keep: Sequence[str]) -> Self:
        """Open the folder of a release, or make one.

        Args:
            path: The folder.
            keep: Names of files that may be there before the first run.

        Raises:
            OutputError: The folder cannot be made, or has files that no release wrote.
        """
        try:
            path.mkdir(exist_ok=True)
            there = sorted(each.name for each in path.iterdir() if each.name not in keep and not is_unfinished(each))
        except FileExistsError:
            raise OutputError(f"{path}: is a file; name a folder") from None
        except FileNotFoundError:
            raise OutputError(f"{path}: there is no folder {path.parent}; create it first") from None
        except OSError as error:
            raise OutputError(f"{path}: cannot be used: {error.strerror}") from error
        if there and _STATE not in there:
            raise OutputError(f"{path}: has files of another origin, such as {there[0]}; name a new folder")
        return cls(path, _read(path / _STATE) if there else {})

    def file(self, name: str) -> Path:
        """Return the path of a file in it."""
        return self.path / name

    def step(
        self,
        name: str,
        inputs: Mapping[str, Any],
        outputs: Sequence[str],
        result: type[Result],
        work: Callable[[], Result],
        keeps: Callable[[Result], bool] = lambda _: True,
    ) -> Result:
        """Return the result of a step, which is worked out unless its inputs and outputs are as they were.

        Args:
            name: The name of the step.
            inputs: What it is made from, as JSON values.
            outputs: The names of the files that it writes.
            result: The type of its result.
            work: Does the step.
            keeps: Called with the result of an earlier run: whether it is whole, or to be worked out again.

        Raises:
            OutputError: What is done cannot be written down.
        """
        adapter, digest = TypeAdapter(result), _digest(inputs)
        done = self.done.get(name)
        if done is not None and done.inputs == digest and self._are_unchanged(done.outputs):
            with suppress(ValidationError):  # another release of this package wrote it
                if keeps(kept := adapter.validate_python(done.result)):
                    return kept
        found = work()
        written = {output: digest_of(self.file(output)) for output in outputs if self.file(output).exists()}
        self.done[name] = Done(digest, written, adapter.dump_python(found, mode="json"))
        self._save()
        return found

    def remember(self, name: str, inputs: Mapping[str, Any]) -> None:
        """Write down that a step was done from these inputs, whatever becomes of its files.

        Raises:
            OutputError: It cannot be written down.
        """
        self.done[name] = Done(_digest(inputs), {}, None)
        self._save()

    def remembers(self, name: str, inputs: Mapping[str, Any]) -> bool:
        """Return whether a step was done from these inputs."""
        return name in self.done and self.done[name].inputs == _digest(inputs)

    def withdraw(self, names: Iterable[str]) -> None:
        """Remove these files, which nobody may take for the result of a run that has none.

        Raises:
            OutputError: One cannot be removed.
        """
        for file in map(self.file, names):
            try:
                file.unlink(missing_ok=True)
            except OSError as error:
                raise OutputError(f"{file}: cannot be removed: {error.strerror}") from error

    def remove(self) -> None:
        """Remove the folder with all that it has.

        Raises:
            OutputError: It cannot be removed.
        """
        try:
            shutil.rmtree(self.path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be removed: {error.strerror}") from error

    def _are_unchanged(self, outputs: Mapping[str, str]) -> bool:
        return all(
            self.file(name).exists() and digest_of(self.file(name)) == digest for name, digest in outputs.items()
        )

    def _save(self) -> None:
        with written_whole(self.file(_STATE), private=True) as part:
            document = {"format": _FORMAT, "steps": TypeAdapter(dict[str, Done]).dump_python(self.done, mode="json")}
            part.write_text(json.dumps(document), encoding="utf-8")


def digests_of(table: Source) -> dict[str, str] | None:
    """Return the digest of each file of a table; `None` if it is not in files, so that changes cannot be noticed."""
    files = files_of(table)
    return {str(file): digest_of(file) for file in files} if files else None


def _digest(inputs: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def _read(path: Path) -> dict[str, Done]:
    """Return the steps written down; none if another release of this package wrote them, or they are damaged."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        steps = document["steps"] if document["format"] == _FORMAT else {}
        return TypeAdapter(dict[str, Done]).validate_python(steps)
    except (OSError, ValueError, KeyError, TypeError):
        return {}
