import argparse
import asyncio
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import psutil

from bench.load import __doc__ as about
from bench.load.clients import Tally, arriving, many
from bench.load.stage import ENTRIES, TENANTS, Stage, stage
from bench.measuring import heading, percentile, run, table, verdict

#: The most requests that may be refused since the service has enough to do.
MOST_REFUSED = 0.02
#: Requests in a second, and for how many seconds each rate is kept.
RATES, STEP = (10, 20, 30, 40, 60, 80, 120, 160), 20.0


@dataclass
class Memory:
    """The megabytes of each kind of process, by minute."""

    minutes: list[float] = field(default_factory=list)
    sizes: dict[str, list[float]] = field(default_factory=dict)

    def add(self, minute: float, sizes: dict[str, float]) -> None:
        """Note the sizes in a minute. What is missing has ended, and what is new was nothing before."""
        for name in {**self.sizes, **sizes}:
            self.sizes.setdefault(name, [0.0] * len(self.minutes)).append(sizes.get(name, 0.0))
        self.minutes.append(minute)

    def slope(self, name: str) -> float:
        """The megabytes that are added in a minute, over the second half; NaN if that is too short."""
        half = len(self.minutes) // 2
        if len(self.minutes) - half < 3:
            return float("nan")
        return float(np.polyfit(self.minutes[half:], self.sizes[name][half:], 1)[0])


@contextmanager
def watched(running: Stage) -> Iterator[Memory]:
    """Note the memory in each minute of the block."""
    memory, over = Memory(), threading.Event()

    def watch() -> None:
        while True:
            memory.add(len(memory.minutes), running.memory())
            if over.wait(60):
                return

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield memory
    finally:
        over.set()
        thread.join()


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m bench.load", description=about)
    options.add_argument("--minutes", type=float, default=5, help="how long (default: 5)")
    options.add_argument("--clients", type=int, default=200, help="how many clients (default: 200)")
    options.add_argument("--pause", type=float, default=5, help="seconds between two requests of one (default: 5)")
    options.add_argument("--workers", type=int, default=2, help="how many workers (default: 2)")
    options.add_argument("--rates", action="store_true", help="also look for the rate at which overload begins")
    given = options.parse_args()
    outcomes: list[bool] = []
    run(lambda: outcomes.append(_loaded(given)))
    return 0 if all(outcomes) else 1


def _loaded(given: argparse.Namespace) -> bool:
    with stage(given.workers) as running:
        heading(
            f"{given.clients} clients of {TENANTS} providers for {given.minutes:g} minutes, {given.pause:g} s between "
            f"two requests on average; {ENTRIES:,} entries, {given.workers} workers"
        )
        before, own = running.core_seconds(), sum(psutil.Process().cpu_times()[:2])
        with watched(running) as memory:
            tally = asyncio.run(many(running, given.clients, given.minutes * 60, given.pause))
        spent = [after - earlier for earlier, after in zip(before, running.core_seconds(), strict=True)]
        _show_answers(tally, given.minutes * 60)
        _show_cores(given.minutes * 60, *spent, sum(psutil.Process().cpu_times()[:2]) - own)
        _show_memory(memory)
        is_met = not tally.faults and tally.refused < MOST_REFUSED
        print(verdict(met=is_met, target=f"no fault, and less than {MOST_REFUSED:.0%} refused"), end=" ")
        print(f"refused: {tally.refused:.2%}; faults: {dict(tally.faults) or 'none'}")
        if given.rates:
            _show_rates(running)
    return is_met


def _show_answers(tally: Tally, seconds: float) -> None:
    rows = [
        [
            kind,
            f"{answers.total():,}",
            *(f"{percentile(tally.seconds[kind], percent):.0f}" for percent in (50, 99)),
            ", ".join(f"{count:,} x {answer}" for answer, count in answers.most_common()),
        ]
        for kind, answers in sorted(tally.answers.items())
    ]
    table(["request", "count", "p50, ms", "p99, ms", "answers"], rows)
    print(f"{tally.count / seconds:.1f} requests in a second;", end=" ")


def _show_cores(seconds: float, service: float, waited: float, clients: float) -> None:
    print(f"of a core: the service {service / seconds:.0%}, the clients {clients / seconds:.0%};", end=" ")
    print(f"the service's processes waited {waited / seconds:.0%} for one")


def _show_memory(memory: Memory) -> None:
    heading("Memory by minute, in MB, and what is added in a minute of the second half")
    step = max(1, (len(memory.minutes) - 1) // 6)
    shown = list(range(0, len(memory.minutes), step))
    columns = ["process", *(f"{memory.minutes[place]:g}" for place in shown), "a minute"]
    rows = [
        [name, *(f"{sizes[place]:.0f}" for place in shown), f"{memory.slope(name):+.2f}"]
        for name, sizes in memory.sizes.items()
    ]
    table(columns, rows)


def _show_rates(running: Stage) -> None:
    """Raise the rate until the service refuses, or does not keep up."""
    heading(f"Requests that arrive at a rate, for {STEP:g} s each")
    rows = []
    for place, rate in enumerate(RATES):
        tally, seconds = asyncio.run(arriving(running, rate, STEP, 1_000 * (place + 1)))
        every = [one for kind in tally.seconds.values() for one in kind]
        middle, late = (f"{percentile(every, percent):.0f}" for percent in (50, 99))
        answered = f"{tally.count / seconds:.1f}"
        rows.append([str(rate), answered, middle, late, f"{tally.refused:.1%}", str(tally.faults.total())])
        if tally.refused >= MOST_REFUSED or tally.faults:
            break
    table(["a second", "answered", "p50, ms", "p99, ms", "refused", "faults"], rows)


if __name__ == "__main__":
    sys.exit(main())
