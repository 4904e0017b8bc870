"""As much of an engine as our Dockerfile needs: its stages in folders, in which root runs its commands."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.image import Recipe
from tests.running import Running

STAND_IN = "ca-certificates,netbase,tzdata,python3-venv,python3-pip"
"""What Debian's smallest system gets, to stand in for an image of Python on Debian."""

HOST = ("/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt")
"""Files by which a stage reaches the package indexes, as this machine does."""


def base(folder: Path) -> Path:
    """Make the base image's stand-in: Debian 13 with Debian's own Python 3.13."""
    command = ["debootstrap", "--variant=minbase", f"--include={STAND_IN}", "trixie", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    for name in ("python", "python3"):
        (folder / "usr/local/bin" / name).symlink_to("/usr/bin/python3")
    return folder


CHROOT = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin")

LAST = "last"
"""The stage that has no name."""


@dataclass
class Engine:
    """Makes the stages of a Dockerfile in folders.

    Args:
        dockerfile: its text.
        context: the folder that it is built in.
        python: the folder of the base image.
        arguments: build arguments, besides the Dockerfile's defaults.
    """

    dockerfile: str
    context: Path
    python: Path
    folder: Path
    arguments: dict[str, str] = field(default_factory=dict)
    stages: dict[str, Path] = field(default_factory=dict)

    def build(self, environ: Mapping[str, str]) -> Path:
        """Run what the last stage needs; its folder."""
        stage, variables, where = Path(), dict[str, str](), "/"
        for instruction, text in self._needed():
            match instruction:
                case "FROM":
                    source, _, name = text.partition(" AS ")
                    stage, variables, where = self._begun(source, name or LAST), {}, "/"
                case "WORKDIR":
                    where = text
                    (stage / where[1:]).mkdir(parents=True, exist_ok=True)
                case "ENV":
                    variables |= dict(word.partition("=")[::2] for word in shlex.split(text))
                case "COPY":
                    self._copy(shlex.split(text), stage, where)
                case "RUN":
                    self._run(text, stage, where, {**environ, **variables})
        return stage

    def _needed(self) -> list[tuple[str, str]]:
        """The instructions of the last stage and of all that it is made from, in their order."""
        stages: list[list[tuple[str, str]]] = []
        for instruction in self._instructions():
            if instruction[0] == "FROM":
                stages.append([])
            stages[-1].append(instruction)
        wanted, kept = {LAST}, list[tuple[str, str]]()
        for stage in reversed(stages):
            source, _, name = stage[0][1].partition(" AS ")
            if (name or LAST) in wanted:
                wanted |= {source, *re.findall(r"--from=(\w+)", " ".join(text for _, text in stage))}
                kept = stage + kept
        return kept

    def _instructions(self) -> Iterator[tuple[str, str]]:
        text = re.sub(r"^#.*\n", "", self.dockerfile, flags=re.MULTILINE).replace("\\\n", " ")
        for name, default in re.findall(r"^ARG (\w+)=(.*)$", text, re.MULTILINE):
            self.arguments.setdefault(name, default)
        for instruction, rest in re.findall(r"^(?!ARG)([A-Z]+) +(.*)$", text, re.MULTILINE):
            yield instruction, re.sub(r"\$\{(\w+)\}", lambda name: self.arguments[name[1]], rest)

    def _begun(self, source: str, name: str) -> Path:
        self.stages[name] = stage = self.folder / name
        if source == "scratch":
            stage.mkdir()
        else:
            start = self.python if source == self.arguments["PYTHON"] else self.stages[source]
            subprocess.run(["cp", "-a", start, stage], check=True)
        return stage

    def _copy(self, words: list[str], stage: Path, where: str) -> None:
        root = self.stages[words.pop(0).removeprefix("--from=")] if words[0].startswith("--from=") else self.context
        *sources, target = words
        for source in sources:
            place = root / source.lstrip("/")
            to = stage / str(Path(where, target)).lstrip("/")
            if place.is_dir():
                shutil.copytree(place, to, symlinks=True, dirs_exist_ok=True)
            else:
                shutil.copy(place, to / place.name if to.is_dir() else to, follow_symlinks=False)

    @staticmethod
    def _run(text: str, stage: Path, where: str, environ: Mapping[str, str]) -> None:
        for file in HOST:
            shutil.copy(file, stage / file[1:])
        command = ["/bin/sh", "-c", f"cd {where} && {text}"]
        path = {"PATH": environ.get("PATH", "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")}
        with entered(stage) as enter:
            ran = subprocess.run(
                [*enter, *command], env={**environ, **path}, capture_output=True, text=True, check=False
            )
        assert ran.returncode == 0, f"{text}\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"


@contextmanager
def entered(root: Path, *mounts: str, user: str = "0:0") -> Iterator[list[str]]:
    """How a command begins that runs in a folder as if that were the machine, in a namespace of mounts of its own."""
    steps = [f"mount --rbind /{name} {root}/{name}" for name in ("proc", "dev")] + list(mounts)
    script = " && ".join([*steps, f'exec {CHROOT} --userspec={user} --groups= {root} "$@"'])
    yield ["unshare", "--mount", "sh", "-c", script, "sh"]


@contextmanager
def container(
    root: Path, recipe: Recipe, state: Path, user: str, variables: Mapping[str, str], *command: str
) -> Iterator[Running]:
    """Run a command in the last stage during the block: all of it read-only but /tmp and the folder of the state."""
    mounts = (
        f"mount --bind {root} {root}",
        f"mount -o remount,bind,ro {root}",
        f"mount -t tmpfs -o mode=1777,size=64m tmpfs {root}/tmp",
        f"mount --bind {state} {root}/var/lib/aegis",
    )
    environ = recipe.environment() | dict(variables)
    environ["PATH"] = environ["PATH"].replace("$PATH", "/usr/local/bin:/usr/bin:/bin")
    words = ["/bin/sh", "-c", 'cd /var/lib/aegis && exec "$@"', "sh", *command]
    with (
        entered(root, *mounts, user=user) as enter,
        TemporaryDirectory() as logs,
        Running([*enter, *words], Path(logs), env=environ) as started,
    ):
        try:
            yield started
        finally:
            started.terminate()
