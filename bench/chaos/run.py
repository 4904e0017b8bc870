"""One run: faults under load, and what became of all that was acknowledged."""

import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import psutil

from bench.chaos.faults import FAULTS, Fault
from bench.chaos.load import Client, Notes
from bench.chaos.stage import Stage, stage
from bench.chaos.verdict import Verdict, judge

#: How many publish, ask and request at the same time.
_CLIENTS = 6


@dataclass
class Run:
    """What was done.

    Attributes:
        recovered: by fault, the seconds until both replicas worked again, each time.
        notes: what was acknowledged.
        refused: what was refused, and should not have been.
        left: processes that outlived their service.
    """

    recovered: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    notes: Notes = field(default_factory=Notes)
    refused: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def disturb(directory: Path, faults: int, rng: Random, *, is_short: bool = False) -> tuple[Run, Verdict]:
    """Disturb a service under load, and judge what became of what it has acknowledged.

    Args:
        directory: for data and logs.
        faults: how many.
        rng: draws them.
        is_short: whether the same service is the one that answers undisturbed, once all faults are over.
    """
    done, processes = Run(), []
    with stage(directory) as running:
        urls = tuple(one.url for one in running.replicas)
        clients = [Client(urls, done.notes, rng.randrange(2**32)) for _ in range(_CLIENTS)]
        for client in clients:
            client.start()
        done.notes.wait_for_each_kind()
        _make_faults(running, faults, rng, done)
        for client in clients:
            client.over.set()
            client.join()
            done.refused += client.refused
        running.recovered()
        processes = running.processes()
        url = running.replicas[0].url
        undisturbed = nullcontext(url) if is_short else _undisturbed(directory)
        verdict = judge(url, done.notes, running.data_dir, undisturbed)
    _, alive = psutil.wait_procs(processes, timeout=30)
    done.left = [f"{one.pid} {one.name()}" for one in alive]
    return done, verdict


def _make_faults(running: Stage, faults: int, rng: Random, done: Run) -> None:
    start = time.monotonic()
    weights = [fault.weight for fault in FAULTS]
    for number in range(1, faults + 1):
        fault = _make_one(running, rng, weights, done.notes)
        done.recovered[fault.name].append(running.recovered())
        time.sleep(rng.uniform(0.0, 1.0))
        minutes = (time.monotonic() - start) / 60
        if sys.stderr.isatty() or number % 50 == 0:
            print(f"{number} of {faults} faults, {minutes:.1f} min, {len(done.notes.entries)} entries", file=sys.stderr)


def _make_one(running: Stage, rng: Random, weights: list[float], notes: Notes) -> Fault:
    """Draw faults until one of them hits something."""
    while True:
        fault = rng.choices(FAULTS, weights)[0]
        notes.fault = fault.name
        if fault.make(running, rng):
            return fault


@contextmanager
def _undisturbed(directory: Path) -> Iterator[str]:
    place = directory / "undisturbed"
    place.mkdir()
    with stage(place) as running:
        yield running.replicas[0].url
