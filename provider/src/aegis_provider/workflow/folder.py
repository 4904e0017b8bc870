"""The folder of a release, which records finished steps so that a run can resume."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from pydantic import TypeAdapter, ValidationError

from aegis_provider.errors import OutputError
from aegis_provider.files import digest_of, written_whole
from aegis_provider.table import Source, files_of, table_name
from aegis_provider.table.databases import is_url
from aegis_sdk._files import is_unfinished

Result = TypeVar("Result")

_STATE: Final = ".aegis-release.json"
_FORMAT: Final = 1
_TABLE: Final = "table"
_ASKED: Final = "asked"


@dataclass(frozen=True)
class Done:
    """A finished step.

    Attributes:
        inputs: The digest of its inputs.
        outputs: The digest of each file that it wrote, by name.
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
        done: The finished steps, by name.
    """

    path: Path
    done: dict[str, Done]

    @classmethod
    def open(cls, path: Path, keep: Sequence[str]) -> Self:
        """Open or create the folder of a release.

        Args:
            path: The folder.
            keep: Names of files that may exist before the first run.

        Raises:
            OutputError: The folder cannot be created, or has files that no release wrote.
        """
        try:
            path.mkdir(exist_ok=True)
            there = sorted(file.name for file in path.iterdir() if file.name not in keep and not is_unfinished(file))
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
        """Return the path of a file in the folder."""
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
        """Return the result of a step, which runs unless its inputs and outputs are unchanged.

        Args:
            name: The name of the step.
            inputs: Its inputs, as JSON values.
            outputs: The names of the files that it writes.
            result: The type of its result.
            work: Runs the step.
            keeps: Whether the result of an earlier run is complete; otherwise the step runs again.

        Raises:
            OutputError: The record of steps cannot be written.
        """
        adapter, digest = TypeAdapter(result), _digest(inputs)
        done = self.done.get(name)
        if (
            done is not None
            and done.inputs == digest
            and all(
                self.file(output).exists() and digest_of(self.file(output)) == kept
                for output, kept in done.outputs.items()
            )
        ):
            with suppress(ValidationError):  # written by another version of this package
                if keeps(kept := adapter.validate_python(done.result)):
                    return kept
        found = work()
        written = {output: digest_of(self.file(output)) for output in outputs if self.file(output).exists()}
        self.done[name] = Done(digest, written, adapter.dump_python(found, mode="json"))
        self._save()
        return found

    def remember(self, name: str, inputs: Mapping[str, Any]) -> None:
        """Record that a step ran with these inputs, whatever happens to its files.

        Raises:
            OutputError: The record cannot be written.
        """
        self.done[name] = Done(_digest(inputs), {}, None)
        self._save()

    def remembers(self, name: str, inputs: Mapping[str, Any]) -> bool:
        """Return whether a step ran with these inputs."""
        return name in self.done and self.done[name].inputs == _digest(inputs)

    def refuse_other(self, table: Source, names: Iterable[str]) -> None:
        """Refuse a table if one of these files is there and of another table, which the release would replace.

        The same place, or the same bytes elsewhere, are the same table.

        Raises:
            OutputError: The folder is of another table.
        """
        known, place = self.done.get(_TABLE), _place_of(table)
        if known is None or known.result == place or not any(self.file(name).exists() for name in names):
            return
        if known.inputs != _digest(_bytes_of(table)):
            raise OutputError(f"{self.path}: has the release of {known.result}; name another folder for {place}")

    def claim(self, table: Source, asked: Mapping[str, Any]) -> None:
        """Record the table of this folder, and what was asked of its release, as JSON values.

        Both are written with the first step that is done, so a refusal leaves none.
        """
        self.done[_TABLE] = Done(_digest(_bytes_of(table)), {}, _place_of(table))
        self.done[_ASKED] = Done(_digest(asked), {}, asked)

    @property
    def table(self) -> str | None:
        """Where the table of the folder is; `None` if none is recorded."""
        return str(self.done[_TABLE].result) if _TABLE in self.done else None

    @property
    def asked(self) -> Mapping[str, Any] | None:
        """What was asked of the release, as JSON values; `None` if it is not recorded."""
        return self.done[_ASKED].result if _ASKED in self.done else None

    def withdraw(self, names: Iterable[str]) -> None:
        """Remove these files, so that they are not mistaken for the result of a failed run.

        Raises:
            OutputError: A file cannot be removed.
        """
        for file in map(self.file, names):
            try:
                file.unlink(missing_ok=True)
            except OSError as error:
                raise OutputError(f"{file}: cannot be removed: {error.strerror}") from error

    def remove(self) -> None:
        """Remove the folder and its contents.

        Raises:
            OutputError: It cannot be removed.
        """
        try:
            shutil.rmtree(self.path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be removed: {error.strerror}") from error

    def _save(self) -> None:
        with written_whole(self.file(_STATE), private=True) as part:
            document = {"format": _FORMAT, "steps": TypeAdapter(dict[str, Done]).dump_python(self.done, mode="json")}
            part.write_text(json.dumps(document), encoding="utf-8")


def released_as(plan: Path) -> str | None:
    """Return the name of the entry of the release that a plan lies in; `None` if there is none, or an older one."""
    asked = _read(plan.parent / _STATE).get(_ASKED)
    return None if asked is None else str(asked.result["name"])


def digests_of(table: Source) -> dict[str, str] | None:
    """Return the digest of each file of a table; `None` if it is not in files, so that changes go unnoticed."""
    files = files_of(table)
    return {str(file): digest_of(file) for file in files} if files else None


def _place_of(table: Source) -> str:
    """Return where a table is: its absolute path, its URL without secrets, or for example `the DataFrame`."""
    if isinstance(table, str | Path) and not is_url(str(table)):
        return str(Path(table).resolve())
    return table_name(table)


def _bytes_of(table: Source) -> dict[str, Any]:
    """Return the digests of a table's files; a database may have several tables in one, so it has its name instead."""
    if isinstance(table, str | Path) and not is_url(str(table)):
        return {"files": sorted((digests_of(table) or {}).values())}
    return {"name": table_name(table)}


def _digest(inputs: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def _read(path: Path) -> dict[str, Done]:
    """Return the recorded steps; none if the record is damaged or from another version of this package."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        steps = document["steps"] if document["format"] == _FORMAT else {}
        return TypeAdapter(dict[str, Done]).validate_python(steps)
    except (OSError, ValueError, KeyError, TypeError):
        return {}
