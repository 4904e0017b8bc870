import argparse
import asyncio
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import psutil

from bench.load import __doc__ as about
from bench.load.clients import Tally, arriving, many
from bench.load.stage import TENANTS, Stage, Waited, stage
from bench.measuring import heading, percentile, repeated, run, table, verdict

#: The largest share of requests that may be refused because of overload.
MOST_REFUSED = 0.02
#: Requests per second, and the seconds for which a rate lasts.
RATES, STEP = (10, 20, 30, 40, 60, 80, 120, 160), 20.0


@dataclass
class Memory:
    """The memory in megabytes by kind of process and minute."""

    minutes: list[float] = field(default_factory=list)
    sizes: dict[str, list[float]] = field(default_factory=dict)

    def add(self, minute: float, sizes: dict[str, float]) -> None:
        """Add the sizes after this many minutes. A missing process has ended; a new one had no memory before."""
        for name in {**self.sizes, **sizes}:
            self.sizes.setdefault(name, [0.0] * len(self.minutes)).append(sizes.get(name, 0.0))
        self.minutes.append(minute)

    def slope(self, name: str) -> float:
        """The growth in megabytes per minute over the second half; NaN if that is too short."""
        half = len(self.minutes) // 2
        if len(self.minutes) - half < 3:
            return float("nan")
        return float(np.polyfit(self.minutes[half:], self.sizes[name][half:], 1)[0])


@contextmanager
def watched(running: Stage) -> Iterator[tuple[Memory, Waited]]:
    """Record the memory every minute of the block, and the waiting time for a core every five seconds."""
    memory, waited, start = Memory(), Waited(running), time.monotonic()

    def note() -> None:
        memory.add((time.monotonic() - start) / 60, running.memory())

    with repeated(waited.look, 5), repeated(note, 60):
        yield memory, waited


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m bench.load", description=about)
    options.add_argument("--minutes", type=float, default=5, help="duration (default: 5)")
    options.add_argument("--clients", type=int, default=200, help="number of clients (default: 200)")
    options.add_argument("--pause", type=float, default=5, help="seconds between two requests of one (default: 5)")
    options.add_argument("--workers", type=int, default=2, help="number of workers (default: 2)")
    options.add_argument("--entries", type=int, default=10_000, help="number of other entries (default: 10000)")
    options.add_argument("--rates", action="store_true", help="also look for the rate at which overload begins")
    given = options.parse_args()
    outcomes: list[bool] = []
    run(lambda: outcomes.append(_loaded(given)))
    return 0 if all(outcomes) else 1


def _loaded(given: argparse.Namespace) -> bool:
    with stage(given.workers, given.entries) as running:
        heading(
            f"{given.clients} clients of {TENANTS} providers for {given.minutes:g} minutes, {given.pause:g} s between "
            f"two requests on average; {given.entries:,} entries, {given.workers} workers"
        )
        with watched(running) as (memory, waited):
            before, own = running.core_seconds(), _own_seconds()
            tally, seconds = asyncio.run(many(running, given.clients, given.minutes * 60, given.pause))
            service, own = running.core_seconds() - before, _own_seconds() - own
        _show_answers(tally)
        print(f"{tally.succeeded / seconds:.1f} successful requests per second;", end=" ")
        print(f"of a core: the service {service / seconds:.0%}, the clients {own / seconds:.0%};", end=" ")
        print(f"the service's processes waited {waited.seconds / seconds:.0%} for one")
        _show_memory(memory)
        is_met = not tally.faults and tally.refused < MOST_REFUSED
        print(verdict(met=is_met, target=f"no fault, and less than {MOST_REFUSED:.0%} refused"), end=" ")
        print(f"refused: {tally.refused:.2%}; faults: {dict(tally.faults) or 'none'}")
        if given.rates:
            _show_rates(running)
    return is_met


def _own_seconds() -> float:
    """The core seconds of this process, which runs all clients."""
    return float(sum(psutil.Process().cpu_times()[:2]))


def _show_answers(tally: Tally) -> None:
    rows = [
        [
            kind,
            f"{answers.total():,}",
            f"{len(tally.seconds[kind]):,}",
            *_middle_and_late(tally.seconds[kind]),
            f"{tally.refusals(kind):,}",
            ", ".join(f"{count:,} x {answer}" for answer, count in answers.most_common()),
        ]
        for kind, answers in sorted(tally.answers.items())
    ]
    table(["request", "count", "succeeded", "p50, ms", "p99, ms", "refused", "answers"], rows)


def _middle_and_late(seconds: list[float]) -> list[str]:
    """The median and the tail of successful requests in milliseconds."""
    return [f"{percentile(seconds, percent):.0f}" if seconds else "-" for percent in (50, 99)]


def _show_memory(memory: Memory) -> None:
    heading("Memory by minute in MB, and its growth per minute in the second half")
    step = max(1, (len(memory.minutes) - 1) // 6)
    shown = list(range(0, len(memory.minutes), step))
    columns = ["process", *(f"{memory.minutes[place]:.1f}" for place in shown), "a minute"]
    rows = [
        [name, *(f"{sizes[place]:.0f}" for place in shown), f"{memory.slope(name):+.2f}"]
        for name, sizes in memory.sizes.items()
    ]
    table(columns, rows)


def _show_rates(running: Stage) -> None:
    """Raise the rate until the service refuses requests or falls behind."""
    heading(f"Requests at a fixed rate, {STEP:g} s per rate")
    rows = []
    for place, rate in enumerate(RATES):
        tally, seconds = asyncio.run(arriving(running, rate, STEP, 1_000 * (place + 1)))
        every = [one for kind in tally.seconds.values() for one in kind]
        cells = [f"{tally.succeeded / seconds:.1f}", *_middle_and_late(every), f"{tally.refused:.1%}"]
        rows.append([str(rate), *cells, str(tally.faults.total())])
        if tally.refused >= MOST_REFUSED or tally.faults:
            break
    table(["a second", "succeeded", "p50, ms", "p99, ms", "refused", "faults"], rows)


if __name__ == "__main__":
    sys.exit(main())
