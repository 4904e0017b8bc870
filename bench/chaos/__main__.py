import argparse
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import psutil

from bench.chaos import __doc__ as about
from bench.chaos.faults import FAULTS
from bench.chaos.load import Client, Notes
from bench.chaos.stage import Stage, stage
from bench.chaos.verdict import Verdict, judge
from bench.measuring import heading, table


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


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m bench.chaos", description=about)
    options.add_argument("--faults", type=int, default=1000, help="how many faults (default: 1000)")
    options.add_argument("--seed", type=int, default=1, help="draws the faults (default: 1)")
    options.add_argument("--keep", type=Path, help="directory for the logs (default: a temporary one)")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="aegis-chaos-") as temporary:
        directory = given.keep or Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        done, verdict = disturb(directory, given.faults, Random(given.seed))
    show(done, verdict)
    return 0 if verdict.is_clean and not done.left and not done.refused else 1


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
        clients = [
            Client(tuple(one.url for one in running.replicas), done.notes, rng.randrange(2**32)) for _ in range(3)
        ]
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
        fault = rng.choices(FAULTS, weights)[0]
        while not fault.make(running, rng):
            fault = rng.choices(FAULTS, weights)[0]
        done.recovered[fault.name].append(running.recovered())
        time.sleep(rng.uniform(0.0, 1.0))
        minutes = (time.monotonic() - start) / 60
        if sys.stderr.isatty() or number % 50 == 0:
            print(f"{number} of {faults} faults, {minutes:.1f} min, {len(done.notes.entries)} entries", file=sys.stderr)


@contextmanager
def _undisturbed(directory: Path) -> Iterator[str]:
    place = directory / "undisturbed"
    place.mkdir()
    with stage(place) as running:
        yield running.replicas[0].url


def show(done: Run, verdict: Verdict) -> None:
    """Print what was done and what became of it."""
    heading("Faults, and the seconds until both replicas worked again")
    rows = [
        [name, str(len(seconds)), f"{statistics.median(seconds):.1f}", f"{max(seconds):.1f}"]
        for name, seconds in sorted(done.recovered.items())
    ]
    table(("fault", "count", "median", "worst"), rows)
    heading("What was acknowledged")
    notes = done.notes
    counts = {"entries": len(notes.entries), "advice": len(notes.advice), "requests": len(notes.requests)}
    table(("kind", "count"), [[kind, f"{count:,}"] for kind, count in counts.items()])
    print(f"\nlost {len(verdict.lost)}, doubled {len(verdict.doubled)}, different {len(verdict.different)}", end="; ")
    print(f"audit log {'broken' if verdict.broken else 'in order'}; processes left behind: {len(done.left)}")
    for line in [*verdict.lost, *verdict.doubled, *verdict.different, *verdict.broken, *done.left, *done.refused][:50]:
        print(f"  {line}")


if __name__ == "__main__":
    sys.exit(main())
