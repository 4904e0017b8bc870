"""Prints which functions and files run in the five journeys of `make demo`, and which files are loaded for nothing."""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from examples import demo

ROOT = Path(__file__).parents[2]
RECORDER = Path(__file__).parent / "recorder"
PACKAGES = tuple(str(ROOT / part) + os.sep for part in ("app", "advisor/src", "sdk/src", "provider/src"))

JOURNEYS: Mapping[str, tuple[str, ...]] = {
    "CSV through `aegis release`": ("release",),
    "POST of an entry until it is judged": ("publish",),
    "question until its answer": ("advise",),
    "data request until it is delivered": ("requests",),
    "delivery until it is verified": ("receive",),
}
"""Each with the commands that it takes."""


@dataclass
class Traced:
    """What ran in a journey.

    Attributes:
        functions: each with its file.
        loaded: files whose module was loaded meanwhile.
    """

    functions: set[tuple[str, str]] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)

    @property
    def files(self) -> set[str]:
        """The files of the functions."""
        return {file for file, _ in self.functions}


def main() -> None:
    """Run the demo with the recorder in every process."""
    parser = argparse.ArgumentParser(prog="python -m research.tracing", description=__doc__)
    parser.add_argument("--functions", action="store_true", help="name every function, too")
    shown = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with recorded(folder):
            run_demo(folder)
        traced = read(folder)
    for number, journey in enumerate(JOURNEYS, start=1):
        tell(journey, traced.get(number, Traced()), by_name=shown.functions)


@contextmanager
def recorded(folder: Path) -> Iterator[None]:
    """Let processes that start in the block record their calls in a folder."""
    mark(folder, 0)
    os.environ |= {"PYTHONPATH": str(RECORDER), "AEGIS_TRACE": str(folder)}
    try:
        yield
    finally:
        del os.environ["PYTHONPATH"], os.environ["AEGIS_TRACE"]


def mark(folder: Path, number: int) -> None:
    """Say which journey goes on; 0 for none. The byte is changed in place, since processes have it mapped."""
    with (folder / "journey").open("r+b" if number else "ab") as file:
        file.seek(0)
        file.write(bytes([number]))


def run_demo(folder: Path) -> None:
    """Run the demo, whose commands say which journey goes on."""
    run, numbers = demo.aegis, {command: at for at, taken in enumerate(JOURNEYS.values(), 1) for command in taken}

    def aegis(environment: Mapping[str, str], *arguments: str) -> str:
        mark(folder, numbers[arguments[0]])
        printed = run(environment, *arguments)
        if arguments[0] == "publish":
            await_verdict(environment["AEGIS_URL"], printed.strip())
        return printed

    demo.aegis = aegis
    with redirect_stdout(sys.stderr):
        demo.main()


def await_verdict(url: str, entry_id: str) -> None:
    """Wait until the service has judged an entry.

    Raises:
        TimeoutError: it has not within a minute.
    """
    for _ in range(600):
        if httpx.get(f"{url}/v1/entries/{entry_id}").json()["verdict"] is not None:
            return
        time.sleep(0.1)
    raise TimeoutError(entry_id)


def read(folder: Path) -> dict[int, Traced]:
    """What all processes have recorded, by journey."""
    traced: dict[int, Traced] = {}
    for file in folder.glob("*.calls"):
        for line in file.read_text(encoding="utf-8").splitlines():
            number, place, function = line.split("\t")
            if not place.startswith(PACKAGES):
                continue
            one = traced.setdefault(int(number), Traced())
            place = place.removeprefix(f"{ROOT}{os.sep}")
            if function == "<module>":
                one.loaded.add(place)
            elif not function.endswith(">"):  # neither comprehensions nor lambdas
                one.functions.add((place, function))
    return traced


def tell(journey: str, traced: Traced, *, by_name: bool) -> None:
    """Print the figures of a journey, and its files with the number of functions, or with their names."""
    unused = sorted(file for file in traced.loaded - traced.files if not file.endswith("__init__.py"))
    sys.stdout.write(
        f"{journey}: {len(traced.functions)} functions in {len(traced.files)} files, {len(unused)} loaded and unused\n"
    )
    for file in sorted(traced.files):
        names = sorted(function for place, function in traced.functions if place == file)
        sys.stdout.write(f"  {file}: {', '.join(names) if by_name else len(names)}\n")
    for file in unused:
        sys.stdout.write(f"  {file}: unused\n")


if __name__ == "__main__":
    main()
