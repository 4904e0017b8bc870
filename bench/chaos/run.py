"""One run: faults under load, and the judgement of all acknowledged actions."""

import math
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType

from bench.chaos.damage import Verdict
from bench.chaos.faults import FAULTS, Fault
from bench.chaos.load import Client, Notes
from bench.chaos.logs import errors_in, is_defect
from bench.chaos.stage import Stage, stage
from bench.chaos.verdict import judge

#: The number of concurrent clients.
_CLIENTS = 6


@dataclass
class Run:
    """The faults of a run and their results.

    Attributes:
        recovered: the seconds until both replicas worked again, by fault, once per time.
        notes: what was acknowledged.
        verdict: the damage to it.
        refused: unjustified refusals.
        failed: failures of the experiment itself, which make it incomplete.
        left: processes that outlived their service.
        logged: the number of errors by log and kind.
        is_stopped: whether to make no more faults, and to judge what was acknowledged so far.
    """

    recovered: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    notes: Notes = field(default_factory=Notes)
    verdict: Verdict = field(default_factory=Verdict)
    refused: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    logged: dict[str, Counter[str]] = field(default_factory=dict)
    is_stopped: bool = False

    @property
    def is_clean(self) -> bool:
        """Whether nothing went wrong."""
        return self.verdict.is_clean and not (self.refused or self.failed or self.left or self.defects)

    @property
    def defects(self) -> list[str]:
        """The errors of the logs that no fault excuses."""
        return [error for happened in self.logged.values() for error in happened if is_defect(error)]

    @contextmanager
    def trying(self, what: str) -> Iterator[None]:
        """Do something in the block; record a failure and continue, so that a run of an hour ends with a report."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - for the same reason
            self.failed.append(f"{what}: {error!r}")


def disturb(directory: Path, faults: int, rng: Random) -> Run:
    """Disturb a service under load, and judge everything it has acknowledged; never raise.

    Args:
        directory: for data and logs.
        faults: the number of faults.
        rng: draws them.
    """
    done = Run()
    with _stopping(done), done.trying("the service"), stage(directory) as running:
        done.left = running.left
        put_under_load(running, faults, rng, done)
        print("judging what was acknowledged", file=sys.stderr)
        judge(running.replicas[0].url, done.notes, running.data_dir, _undisturbed(directory, done), done.verdict)
    for log in sorted(directory.rglob("*.log")):
        with done.trying(f"log {log}"):
            done.logged[str(log.relative_to(directory))] = errors_in(log)
    return done


@contextmanager
def _stopping(done: Run) -> Iterator[None]:
    """Let the first SIGINT or SIGTERM end the faults only; the next one ends the run as usual."""

    def stop(number: int, _: FrameType | None) -> None:
        done.is_stopped = True
        signal.signal(number, usual[signal.Signals(number)])

    usual = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)


def put_under_load(running: Stage, faults: int, rng: Random, done: Run) -> None:
    """Make faults while clients publish, ask and request; return when the service works again."""
    urls = tuple(one.url for one in running.replicas)
    clients = [Client(urls, done.notes, rng.randrange(2**32)) for _ in range(_CLIENTS)]
    for client in clients:
        client.start()
    with done.trying("faults"):
        done.notes.wait_for_each_kind()
        _make_faults(running, faults, rng, done)
        done.notes.wait_for_more()
    with done.trying("mending"):
        running.mend()
    for client in clients:
        client.end()
        done.refused += client.refused
        done.failed += client.failed
    with done.trying("the end"):
        running.recovered()


def _make_faults(running: Stage, faults: int, rng: Random, done: Run) -> None:
    start = time.monotonic()
    for number in range(1, faults + 1):
        if done.is_stopped:
            print(f"stopped after {number - 1} of {faults} faults", file=sys.stderr)
            return
        fault = _make_one(running, rng, done)
        done.recovered[fault.name].append(math.inf)  # unless it comes back
        done.recovered[fault.name][-1] = running.recovered()
        time.sleep(rng.uniform(0.0, 1.0))
        minutes = (time.monotonic() - start) / 60
        if sys.stderr.isatty() or number % 50 == 0:
            print(f"{number} of {faults} faults, {minutes:.1f} min, {len(done.notes.entries)} entries", file=sys.stderr)


def _make_one(running: Stage, rng: Random, done: Run) -> Fault:
    """Draw faults until one of them hits something."""
    weights = [fault.weight for fault in FAULTS]
    while True:
        fault = rng.choices(FAULTS, weights)[0]
        has_hit = False
        with done.trying(fault.name):
            has_hit = fault.make(running, rng)
        if has_hit:
            done.notes.fault = fault.name
            return fault
        running.mend()


@contextmanager
def _undisturbed(directory: Path, done: Run) -> Iterator[str]:
    place = directory / "undisturbed"
    place.mkdir(exist_ok=True)
    with stage(place) as running:
        yield running.replicas[0].url
    done.left += running.left
