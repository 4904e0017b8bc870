"""What a run prints."""

import statistics
from collections import Counter

from bench.chaos.load import Notes
from bench.chaos.run import Run
from bench.chaos.verdict import Damage, Verdict
from bench.measuring import heading, table


def show(done: Run, verdict: Verdict) -> None:
    """Print what was done and what became of it.

    What was acknowledged counts in the row of the last fault before that.
    """
    heading("Faults, what became of what was acknowledged after them, and seconds until both replicas worked again")
    after = Counter(done.notes.after.values())
    damages = [_by_fault(done.notes, one) for one in (verdict.lost, verdict.doubled, verdict.different)]
    rows = [
        _row(name, seconds, [after[name], *(damage[name] for damage in damages)])
        for name, seconds in sorted(done.recovered.items())
    ]
    every = [second for seconds in done.recovered.values() for second in seconds]
    rows.append(_row("all", every, [after.total(), *(damage.total() for damage in damages)]))
    table(("fault", "count", "acknowledged", "lost", "doubled", "different", "median", "worst"), rows)
    _show_rest(done, verdict)


def _by_fault(notes: Notes, damages: list[Damage]) -> Counter[str]:
    return Counter(notes.after.get(damage.id, "") for damage in damages)


def _row(name: str, seconds: list[float], counts: list[int]) -> list[str]:
    counted = [f"{count:,}" for count in (len(seconds), *counts)]
    return [name, *counted, f"{statistics.median(seconds):.1f}", f"{max(seconds):.1f}"]


def _show_rest(done: Run, verdict: Verdict) -> None:
    notes = done.notes
    kinds = {"entries": notes.entries, "advices": notes.advice, "requests": notes.requests}
    print(f"\n{', '.join(f'{len(kind):,} {name}' for name, kind in kinds.items())}", end="; ")
    print(f"audit log {'broken' if verdict.broken else 'in order'}; processes left behind: {len(done.left)}")
    damages = [f"{one.id}: {one.words}" for one in (*verdict.lost, *verdict.doubled, *verdict.different)]
    for line in [*damages, *verdict.broken, *done.left, *done.refused][:50]:
        print(f"  {line}")
