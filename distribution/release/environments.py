"""Clean environments with what a release has, made without an index."""

import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from distribution.release.programs import BIN, ReleaseError, run

UV: Final = BIN / "uv"


@dataclass(frozen=True)
class House:
    """Wheels in folders, from which everything is installed, and no index is asked.

    Attributes:
        ours: The folder with the wheels of this repository.
        others: The folder with those of all libraries, for one version of Python.
        python: The interpreter that they are for.
    """

    ours: Path
    others: Path
    python: Path

    @property
    def options(self) -> list[str]:
        """The options of an installer that finds wheels here alone."""
        return ["--no-index", "--find-links", str(self.ours), "--find-links", str(self.others)]

    def environment(self, folder: Path, *wanted: str) -> Path:
        """Make an environment with these requirements; the folder of its programs."""
        run(UV, "venv", "--quiet", "--clear", "--python", self.python, folder)
        programs = folder / "bin"
        run(UV, "pip", "install", "--quiet", "--python", programs / "python", *self.options, *wanted)
        run(UV, "pip", "check", "--quiet", "--python", programs / "python")
        return programs

    def once(self, wanted: str, *command: str) -> str:
        """What a command prints that is run without an environment of its own, as by `uvx`."""
        options = (*self.options, "--isolated", "--python", str(self.python), "--from", wanted)
        return run(UV, "tool", "run", "--quiet", *options, *command)


def interpreter(version: str) -> Path:
    """The Python of a version, such as `3.13`: on the path, or one of pyenv's, whose name on the path may not run.

    Raises:
        ReleaseError: It is not on this machine.
    """
    named = shutil.which(f"python{version}")
    of_pyenv = Path.home().glob(f".pyenv/versions/{version}.*/bin/python")
    for each in (*([Path(named)] if named else []), *sorted(of_pyenv)):
        with suppress(ReleaseError):
            return Path(run(each, "-c", "import sys; print(sys.executable)").strip())
    raise ReleaseError(f"the journey needs Python {version}: install it, or name others: make release PYTHONS=3.12")


def libraries(wheels: Iterable[Path], constraints: Path, python: Path, to: Path) -> None:
    """Fetch the wheels of all libraries that ours need, with the extras that the journey installs.

    With them comes pipx. The wheels of this repository are named by their paths, so that no index is asked for them.
    """
    to.mkdir(parents=True, exist_ok=True)
    wanted = [str(wheel) + EXTRAS.get(wheel.name.split("-")[0].split("_")[-1], "") for wheel in wheels]
    with TemporaryDirectory() as folder:
        run(UV, "venv", "--quiet", "--seed", "--python", python, folder)
        pip = (Path(folder, "bin/python"), "-m", "pip", "download", "--quiet", "--disable-pip-version-check")
        run(*pip, "--only-binary=:all:", "--constraint", constraints, "--dest", to, *wanted, *PIPX)
    for copied in to.glob("aegis_*.whl"):
        copied.unlink()


EXTRAS: Final = {"provider": "[check]", "server": "[embedded]"}
"""The extras that people begin with, by the last word of a distribution's name."""

PIPX: Final = ("pipx==1.18.4", "pip==26.3")
"""pipx, and what it installs by, in the place of an older one that Python brings."""
