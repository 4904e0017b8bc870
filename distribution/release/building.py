"""Sdists and wheels of a commit, the same bytes wherever and whenever they are built."""

import hashlib
import io
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from distribution.release.programs import ROOT, ReleaseError, git, run

PROJECTS: Final = ("advisor", "sdk", "provider", ".")
"""The folders of the distributions, each after those that it needs."""

VERSION: Final = "distribution/VERSION"

SAFELY: Final[dict[str, Any]] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
"""The filter came with Python 3.11.4, and later versions warn if none is named. What is extracted is our own."""


def export(commit: str, folder: Path) -> Path:
    """Write the files of a commit into a folder, as nobody has changed them."""
    archive = written("archive", "--format=tar", commit)
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, **SAFELY)  # noqa: S202 -- our own files
    return folder


def written(*arguments: str) -> bytes:
    """The bytes that git prints."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout  # noqa: S603, S607


def build(commit: str, to: Path) -> None:
    """Build the sdist of each distribution, and its wheel from the sdist alone."""
    when = git("show", "--no-patch", "--format=%ct", commit)
    with TemporaryDirectory() as folder:
        source = export(commit, Path(folder, "source"))
        for project in PROJECTS:
            hatchling("sdist", source / project, to, when)
        for sdist in to.glob("*.tar.gz"):
            with tarfile.open(sdist) as files:
                files.extractall(folder, **SAFELY)  # noqa: S202 -- our own files
            hatchling("wheel", Path(folder, sdist.name.removesuffix(".tar.gz")), to, when)


def hatchling(target: str, project: Path, to: Path, when: str) -> None:
    """Build one file by the build tool that is pinned in the projects and installed here."""
    command = (sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(to))
    run(*command, where=project, environ={"SOURCE_DATE_EPOCH": when})


def build_twice(commit: str, to: Path) -> None:
    """Build everything twice, in different folders.

    Raises:
        ReleaseError: A file has other bytes the second time.
    """
    with TemporaryDirectory() as folder:
        again = Path(folder, "again")
        for place in (to, again):
            place.mkdir(parents=True, exist_ok=True)
            build(commit, place)
        first, second = dict(sums(to.iterdir())), dict(sums(again.iterdir()))
    if differing := sorted(name for name, digest in first.items() if second.get(name) != digest):
        raise ReleaseError(f"built twice, these have different bytes: {', '.join(differing)}")


def sums(files: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """The name and the SHA-256 of each file, by name."""
    for file in sorted(files):
        yield file.name, hashlib.sha256(file.read_bytes()).hexdigest()


def version_at(commit: str) -> str:
    """The version that the files of a commit state: in one file, or until 0.1 in each project."""
    listed = git("ls-tree", "--name-only", commit, "--", VERSION)
    if listed:
        return git("show", f"{commit}:{VERSION}").strip()
    project = git("show", f"{commit}:pyproject.toml")
    return next(line.split('"')[1] for line in project.splitlines() if line.startswith("version = "))


def commit_before(version: str) -> str:
    """The newest commit of another version than this one.

    Raises:
        ReleaseError: The history does not reach back to it.
    """
    changes = git("log", "--first-parent", "--format=%H %P", "--", VERSION, "pyproject.toml").splitlines()
    for commit in (each for change in changes for each in change.split()[1:2]):
        if version_at(commit) != version:
            return commit
    raise ReleaseError("the history has no commit of the version before: clone the repository whole")
