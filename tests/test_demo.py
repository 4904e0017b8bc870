"""`make demo` shows every step with its seconds, and figures within the ranges that README states."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SECONDS = re.compile(r"  \(\d+\.\d s\)")
STEPS = ("release", "publish", "advise", "requests new", "requests approve", "requests fulfil", "receive")
#: What README calls a figure, and where the demo says it.
FIGURES = {
    "AUC of the table": r"\(as it is\) +([\d.]+)",
    "AUC of the release": r"AUC ([\d.]+) of [\d.]+, measured here",
    "k of the release": r"(\d+) measured in the masked table; ",
    "records left out": r"measured in the masked table; (\d+) records left out",
    "share kept for k = 10, in %": r"c\d+ keeps (\d+) % of what the table tells about health\n"
    r"  c\d+: .*\n  it is the best",
    "utility for k = 10": r"suppressed .*\n +c\d+ +[\d.]+ +([\d.]+)",
    "k of the delivery": r"k = (\d+), l = .* as its provider measured",
}


@contextmanager
def demo_place() -> Iterator[Path]:
    """A folder that the demo can run in, too, if PostgreSQL runs as another user than root."""
    with TemporaryDirectory(prefix="aegis-demo-") as name:
        place = Path(name)
        place.chmod(0o711)
        (place / "examples").symlink_to(ROOT / "examples")
        yield place


def started_demo(place: Path) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AEGIS_")}
    command = [sys.executable, "-m", "examples.demo"]
    return subprocess.Popen(
        command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def two_runs() -> Iterator[str]:
    """What the demo prints twice in one place: the second run finds what the first has left."""
    with demo_place() as place:
        for _ in range(2):
            with started_demo(place) as running:
                printed, _ = running.communicate()
            assert running.returncode == 0, printed
            yield printed


def ranges() -> dict[str, tuple[float, float]]:
    """The least and the greatest value of each figure, as README states them."""
    table = README.partition("| what `make demo` prints |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([\d.]+)(?: to ([\d.]+))? \|$", table, re.MULTILINE)
    return {name: (float(least), float(most or least)) for name, least, most in rows}


def test_readme_states_a_range_for_each_figure():
    assert set(ranges()) == set(FIGURES)


@pytest.mark.long
def test_each_run_shows_its_steps_and_figures_within_the_ranges_that_readme_states():
    for text in two_runs():
        assert out_of_range(text) == {}
        assert silent_steps(text) == []
        for work in ("looking at the columns", "searching the maskings", "counting", "training models"):
            assert re.search(rf"^ +\d+\.\d s  {work} \.\.\.$", text, re.MULTILINE), work
        assert re.search(r"counts: \d+ compared, of \d+ attributes and \d+ pairs; none differ", text)
        assert said_of_t(text) in ({"promised"}, {"not decided"})


def said_of_t(text: str) -> set[str]:
    """How `aegis receive` judges the promised `t`: it depends on the configuration that the rounding favours."""
    [measured] = re.findall(r"^ +measured: .*$", text, re.MULTILINE)
    promised = re.search(r" t = [\d.]+ \(<= [\d.]+ promised\)", measured)
    undecided = re.search(r" t = [\d.]+, .*\n +not decided: .*\bt \(promised: [\d.]+\).*; ", text)
    return {word for word, found in (("promised", promised), ("not decided", undecided)) if found}


def out_of_range(text: str) -> dict[str, float]:
    """The figures that are not within README's ranges."""
    said = {name: re.findall(pattern, text) for name, pattern in FIGURES.items()}
    values = {name: float(value) for name, [value] in said.items()}
    return {name: values[name] for name, (least, most) in ranges().items() if not least <= values[name] <= most}


def silent_steps(text: str) -> list[str]:
    """The steps that do not say their seconds."""
    commands = [block.splitlines() for block in text.split("\n  $ aegis ")[1:]]
    assert [lines[0].startswith(f"{step} ") for step, lines in zip(STEPS, commands, strict=True)] == [True] * len(STEPS)
    return [lines[0] for lines in commands if not any(map(SECONDS.fullmatch, lines))]


@pytest.mark.long
def test_ctrl_c_ends_it_in_a_line_with_all_that_it_has_started():
    with demo_place() as place, started_demo(place) as running:
        assert running.stdout is not None
        assert any("searching the maskings" in line for line in running.stdout)
        running.send_signal(signal.SIGINT)
        after = running.stdout.read()  # ends when the last process that writes there has ended
        assert running.wait() == 1
        assert after.endswith("\nStopped, and with it the service and its database.\n")
        assert "Traceback" not in after
