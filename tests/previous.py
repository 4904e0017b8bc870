"""The version of the service before the newest migration, from the history of this repository."""

import io
import os
import re
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from distribution.release.building import export, written
from tests.running import environment

ROOT = Path(__file__).parents[1]
REVISIONS = "migrations/versions"
_REVISION = re.compile(r"^revision = ['\"](\w+)", re.MULTILINE)
_BEFORE = re.compile(r"^down_revision = ['\"](\w+)", re.MULTILINE)


def chain(texts: list[str]) -> list[str]:
    """The revisions in their order; none if they are not one line."""
    after = {}
    for text in texts:
        before = _BEFORE.search(text)
        after[before[1] if before else ""] = _REVISION.search(text)[1]
    ordered, last = [], ""
    while last in after:
        last = after[last]
        ordered.append(last)
    return ordered if len(ordered) == len(texts) else []


def revisions_at(commit: str) -> list[str]:
    """The revisions of a commit; none if it is from before the first one."""
    if not written("ls-tree", commit, "--", REVISIONS):
        return []
    with tarfile.open(fileobj=io.BytesIO(written("archive", commit, REVISIONS))) as archive:
        files = [archive.extractfile(member) for member in archive.getmembers() if member.name.endswith(".py")]
        return chain([file.read().decode() for file in files if file])


def here() -> list[str]:
    """The revisions of this checkout."""
    return chain([path.read_text() for path in (ROOT / REVISIONS).glob("*.py")])


def previous_commit() -> str:
    """The newest commit whose revisions are the first ones of those here, but not all.

    Skips the test where there is no history, or only a part of it.
    """
    if not (ROOT / ".git").exists():
        pytest.skip("there is no history here: clone the repository with git to test versions side by side")
    now = here()
    changes = (
        written("log", "--first-parent", "--max-count=20", "--format=%H %P", "--", REVISIONS).decode().splitlines()
    )
    for commit in (each for change in changes for each in change.split()[:2]):  # and its first parent, if it has one
        there = revisions_at(commit)
        if there and there != now and there == now[: len(there)]:
            return commit
    if written("rev-parse", "--is-shallow-repository").strip() == b"true":
        pytest.skip("the history does not reach back to the newest migration: this clone is shallow")
    raise AssertionError("no commit has the revisions before the newest one")


class PreviousVersion:
    """The code of the previous version, run by the same interpreter.

    Attributes:
        tree: its checkout.
        revision: the revision of the schema that it was made for.
    """

    def __init__(self, tree: Path, commit: str) -> None:
        self.tree = export(commit, tree)
        self.revision = revisions_at(commit)[-1]
        self._describe()

    def _describe(self) -> None:
        """Write what it asks for: the version of its distribution, whose name was another until 0.2."""
        project = tomllib.loads((self.tree / "pyproject.toml").read_text())["project"]
        version = project.get("version") or (self.tree / "distribution/VERSION").read_text().strip()
        described = self.tree / f"{project['name'].replace('-', '_')}-{version}.dist-info"
        described.mkdir()
        (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n")

    @property
    def path(self) -> str:
        """Where Python finds its packages before those that are installed."""
        return os.pathsep.join(str(self.tree / place) for place in (".", "advisor/src", "sdk/src"))

    def files(self) -> Iterator[Path]:
        """Where its packages come from when it runs."""
        said = "import app, aegis_advisor, aegis_sdk as sdk; print(app.__file__, aegis_advisor.__file__, sdk.__file__)"
        environ = environment() | {"PYTHONPATH": self.path}
        command = [sys.executable, "-c", said]
        ran = subprocess.run(command, cwd=self.tree, env=environ, capture_output=True, text=True, check=True)
        return map(Path, ran.stdout.split())
