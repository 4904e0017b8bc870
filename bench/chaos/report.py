"""The printed report of a run."""

import math
import statistics
from collections import Counter
from collections.abc import Sized

from bench.chaos.damage import Damage
from bench.chaos.load import BEFORE, Notes
from bench.chaos.logs import is_expected
from bench.chaos.run import Run
from bench.chaos.stage import NOTICED_SECONDS
from bench.measuring import heading, table

#: The row for damage to what was never acknowledged.
_NEVER = "(not acknowledged)"

#: The most lines about damage.
_LINES = 50

_COLUMNS = ("fault", "count", "acknowledged", "lost", "doubled", "different", "median", "worst")


def show(done: Run) -> None:
    """Print the faults and their results.

    An acknowledgement counts in the row of the last fault before it.
    """
    heading("Faults, what became of what was acknowledged after them, and seconds until both replicas worked again")
    counts = [Counter(done.notes.after.values()), *(_by_fault(done.notes, damages) for damages in _damages(done))]
    others = [name for name in (BEFORE, _NEVER) if any(name in count for count in counts)]
    rows = [_row(name, done.recovered.get(name, []), counts) for name in [*others, *sorted(done.recovered)]]
    every = [second for seconds in done.recovered.values() for second in seconds]
    totals = [Counter({"all": count.total()}) for count in counts]
    table(_COLUMNS, [*rows, _row("all", every, totals)])
    print(f"\nSeconds include {NOTICED_SECONDS:g} s of waiting. Both replicas work once both answer and any worker is")
    print("there: after a worker was killed, that says that the others go on, and not when it was there again.")
    _show_rest(done)
    _show_logs(done)


def _damages(done: Run) -> tuple[list[Damage], ...]:
    return done.verdict.lost, done.verdict.doubled, done.verdict.different


def _by_fault(notes: Notes, damages: list[Damage]) -> Counter[str]:
    return Counter(notes.after.get(damage.id, _NEVER) for damage in damages)


def _row(name: str, seconds: list[float], counts: list[Counter[str]]) -> list[str]:
    counted = [f"{count:,}" for count in (len(seconds), *(count[name] for count in counts))]
    times = [statistics.median(seconds), max(seconds)] if seconds else []
    shown = ["never" if math.isinf(second) else f"{second:.1f}" for second in times]
    return [name, *counted, *(shown or ["-", "-"])]


def _show_rest(done: Run) -> None:
    notes, verdict = done.notes, done.verdict
    kinds: dict[str, Sized] = {"entries": notes.entries, "answers": notes.advice, "requests": notes.requests}
    print(f"\n{', '.join(f'{len(kind):,} {name}' for name, kind in kinds.items())}", end="; ")
    print(f"audit log {'broken' if verdict.broken else 'in order'}; processes left behind: {len(done.left)}")
    problems = {"failed": [*done.failed, *verdict.unjudged], "left": done.left, "refused": done.refused}
    problems |= {"broken": verdict.broken, "defects": done.defects}
    problems["damaged"] = [f"{one.id}: {one.words}" for damages in _damages(done) for one in damages]
    for name, lines in problems.items():
        if lines:
            print(f"{name}: {len(lines):,}")
        for line in lines[:_LINES]:
            print(f"  {line}")


def _show_logs(done: Run) -> None:
    """Print the errors of the logs, those first that the faults do not explain."""
    print("\nErrors in the logs; expected are those that say that the database was away or full")
    for name, happened in done.logged.items():
        print(f"  {name}: {happened.total():,}")
        for error, times in sorted(happened.items(), key=lambda pair: (is_expected(pair[0]), -pair[1])):
            print(f"    {times:5,} {'expected  ' if is_expected(error) else 'unexpected'} {error}")
