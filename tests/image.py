"""What the image has in it, read from the Dockerfile and made in a folder: no engine is needed."""

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import distribution
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]


class Recipe:
    """A Dockerfile and a .dockerignore, as far as ours go."""

    def __init__(self, dockerfile: str, ignore: str, root: Path = ROOT) -> None:
        self._root = root
        self._lines = re.sub(r"^#.*\n", "", dockerfile, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
        self._patterns = [line for line in ignore.splitlines() if line and not line.startswith("#")]

    @classmethod
    def ours(cls) -> "Recipe":
        """The one in this repository."""
        return cls((ROOT / "Dockerfile").read_text(), (ROOT / ".dockerignore").read_text())

    def of(self, instruction: str) -> list[str]:
        """What follows an instruction, wherever there is one."""
        return [line.partition(" ")[2] for line in self._lines if line.startswith(f"{instruction} ")]

    def copied(self) -> dict[str, Path]:
        """The files that are copied from the repository, by where they are in the folder that is built in."""
        files: dict[str, Path] = {}
        for words in map(shlex.split, self.of("COPY")):
            if words[0].startswith("--from=") or words[0] == "wheels":  # those of a release
                continue
            *sources, target = words
            for source in sources:
                files |= self._copied(source, target)
        return files

    def _copied(self, source: str, target: str) -> dict[str, Path]:
        place = self._root / source
        if place.is_dir():  # its contents are copied, not the directory itself
            inside = [each for each in place.rglob("*") if each.is_file() or each.is_symlink()]
            found = {PurePosixPath(target, each.relative_to(place).as_posix()): each for each in inside}
        else:
            found = {PurePosixPath(target, place.name) if target.endswith("/") else PurePosixPath(target): place}
        seen = {str(to): each for to, each in found.items() if not self.is_left_out(each.relative_to(self._root))}
        assert seen, f"{source} is not there, or the .dockerignore leaves it out: no engine copies it"
        return seen

    def is_left_out(self, path: Path) -> bool:
        """Whether the .dockerignore keeps a file from the engine: the last pattern for it or a folder above decides."""
        places = [str(PurePosixPath(each)) for each in (path, *path.parents)]
        is_out = False
        for pattern in self._patterns:
            words = {"**/": "(?:.*/)?", "*": "[^/]*"}
            parts = re.split(r"(\*\*/|\*)", pattern.removeprefix("!"))
            expression = "".join(words.get(part, re.escape(part)) for part in parts)
            if any(re.fullmatch(expression, place) for place in places):
                is_out = not pattern.startswith("!")
        return is_out

    def projects(self) -> list[str]:
        """The folders that wheels are built from."""
        [named] = re.findall(r"pip wheel .* --wheel-dir /wheels (.*)", "\n".join(self.of("RUN")))
        return named.split()

    def wanted(self) -> list[str]:
        """What its wheels require, with the extras that it names, but for each other."""
        installed = " ".join(self.of("RUN"))
        named = re.findall(r"/wheels/(\w+)-\*\.whl\)?\[?(\w*)", installed)
        return [need for name, extra in named for need in required(name.replace("_", "-"), extra)]

    def environment(self) -> dict[str, str]:
        """The variables that its containers have."""
        return dict(word.partition("=")[::2] for line in self.of("ENV")[1:] for word in shlex.split(line))


def required(name: str, extra: str = "") -> list[str]:
    """What a distribution of ours requires, with one of its extras, but for the others."""
    needs = [need for each in dict.fromkeys(("", extra)) for need in _of_extra(name, each)]
    return [str(need) for need in needs if not need.name.startswith("aegis-masking")]


def needed(project: str, root: Path = ROOT) -> Iterator[str]:
    """The files that a wheel is built from, as its pyproject.toml names them: paths from the root."""
    place, described = PurePosixPath(project), description(project, root)
    wheel, about = described["tool"]["hatch"]["build"]["targets"]["wheel"], described["project"]
    named = ["pyproject.toml", about["readme"], *about.get("license-files", ())]
    for source in (*named, *wheel["packages"], *wheel.get("force-include", ())):
        yield from (str(each.relative_to(root)) for each in files_in(root / place / source))


def held(project: str) -> Iterator[str]:
    """The files that its wheel must have, besides what describes it: their paths in it."""
    wheel = description(project)["tool"]["hatch"]["build"]["targets"]["wheel"]
    forced = wheel.get("force-include", {})
    for source, target in {**{each: Path(each).name for each in wheel["packages"]}, **forced}.items():
        place = ROOT / project / source
        yield from (str(Path(target, each.relative_to(place))) for each in files_in(place))


def description(project: str, root: Path = ROOT) -> dict[str, Any]:
    """What the pyproject.toml of a project says."""
    return tomllib.loads((root / project / "pyproject.toml").read_text())


def files_in(place: Path) -> list[Path]:
    """A file, or the files of a folder without what Python makes of them."""
    inside = [place] if place.is_file() else [each for each in place.rglob("*") if each.is_file()]
    return [each for each in inside if "__pycache__" not in each.parts]


def built(project: Path, wheels: Path) -> Path:
    """Build the wheel of a project in its folder, by the pinned build tool that is installed here."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(wheels)]
    ran = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return max(wheels.glob("*.whl"), key=lambda wheel: wheel.stat().st_mtime_ns)


def brought(wanted: Iterable[str]) -> set[str]:
    """The names of the distributions that requirements bring with them, as installed here."""
    waiting, seen = list(map(Requirement, wanted)), set[tuple[str, str]]()
    while waiting:
        need = waiting.pop()
        if need.marker is not None and not need.marker.evaluate({"extra": ""}):
            continue
        for extra in {"", *need.extras}:
            if (one := (canonicalize_name(need.name), extra)) not in seen:
                seen.add(one)
                waiting += _of_extra(need.name, extra)
    return {name for name, _ in seen}


def _of_extra(name: str, extra: str) -> Iterator[Requirement]:
    """What a distribution requires: always, or for one of its extras."""
    for need in map(Requirement, distribution(name).requires or ()):
        always = need.marker is None or need.marker.evaluate({"extra": ""})
        if always if not extra else not always and need.marker.evaluate({"extra": extra}):
            need.marker = None
            yield need


def installed(folder: Path, wheels: Iterable[Path], wanted: Iterable[str]) -> Path:
    """Make an environment of wheels, and of what requirements bring, as it is installed here. No index is asked.

    Returns:
        The folder of its programs.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    [packages] = folder.glob("lib/python*/site-packages")
    for name in brought(wanted):
        for top in {each.parts[0] for each in distribution(name).files or ()} - {"..", "__pycache__"}:
            if not (packages / top).exists():  # several may have a part of one namespace
                (packages / top).symlink_to(Path(str(distribution(name).locate_file(top))).resolve())
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(folder / "bin/python")]
    command = [*pip, "install", "--quiet", "--no-index", "--no-deps", *map(str, wheels)]
    subprocess.run(command, check=True)
    subprocess.run([*pip, "check"], check=True, capture_output=True)
    return folder / "bin"
