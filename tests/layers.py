"""The layers of the suite and their budgets: seconds of a run on two idle cores."""

import os
from collections import defaultdict
from collections.abc import Iterator

import pytest

from tests.calibration import calibration_seconds

MATHEMATICS, SERVICE, PROCESSES = "mathematics, SDK and provider", "service", "processes, browsers and the rest"
LONG = "long suite"

#: What `make test` may take, by layer, and `make test-long`.
BUDGETS = {MATHEMATICS: 80, SERVICE: 100, PROCESSES: 60, LONG: 960}

#: A run fails by more than this multiple of a budget: on shared machines, seconds vary by half.
TOLERANCE = 2.0

_FOLDERS = {"advisor": MATHEMATICS, "provider": MATHEMATICS, "sdk": MATHEMATICS, "app": SERVICE}


def layer_of(report: pytest.TestReport) -> str:
    """What starts processes of its own is marked; everything else is where its folder is."""
    folder = report.nodeid.removeprefix("tests/").partition("/")[0]
    return PROCESSES if "processes" in report.keywords else _FOLDERS.get(folder, PROCESSES)


class Budgets:
    """Shows what each layer takes in a run of all tests, which fails in CI if a layer takes more than twice its budget.

    A machine whose calibration is above 1 has that many times as much.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._is_long = "hypothesis" in config.option.markexpr
        self._is_held = "CI" in os.environ
        self._calibration = calibration_seconds()
        self._seconds: dict[str, float] = defaultdict(float)
        self._tests: dict[str, set[str]] = defaultdict(set)
        self._workers: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the setup, the call or the end of a test."""
        layer = LONG if self._is_long else layer_of(report)
        self._seconds[layer] += report.duration
        self._tests[layer].add(report.nodeid)
        self._workers.add(getattr(report, "worker_id", ""))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Let the run fail by a layer that takes too long."""
        self._calibration = max(self._calibration, calibration_seconds())
        if self._is_held and any(_fails(seconds, budget) for _, _, seconds, budget in self._spent()):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show what the layers took, and how fast this machine is."""
        for layer, tests, seconds, budget in self._spent():
            verdict = "too long, of" if seconds > budget else "of"
            if self._is_held and _fails(seconds, budget):
                verdict = f"which fails this run: more than {TOLERANCE} times its"
            terminalreporter.write_line(f"{layer}: {tests:,} tests, {seconds:.0f} s {verdict} {budget:.0f} s")
        terminalreporter.write_line(f"{os.cpu_count()} cores; calibration: {self._calibration:.2f}")

    def _spent(self) -> Iterator[tuple[str, int, float, float]]:
        """Each layer, how many tests it has, its share of the run and its budget, both in seconds."""
        for layer, budget in BUDGETS.items():
            if tests := self._tests.get(layer):
                seconds = self._seconds[layer] / len(self._workers)
                yield layer, len(tests), seconds, budget * max(1.0, self._calibration)


def _fails(seconds: float, budget: float) -> bool:
    return seconds > TOLERANCE * budget
