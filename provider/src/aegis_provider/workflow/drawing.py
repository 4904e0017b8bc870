"""Drawing of an entry's rounding until it gives nothing away to somebody who has the masked table, too."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final

from aegis_provider.advice import EntryAdvice
from aegis_provider.control import ControlError, RandomRounding
from aegis_provider.plan.model import Plan
from aegis_provider.prepare import PreparedEntry, prepare_entry
from aegis_provider.table import Source
from aegis_provider.workflow.results import Stage
from aegis_sdk.wire import EntryDocument, Verdict

_DRAWS: Final = 5
"""How often rounding is drawn by one base; most entries pass at once."""

_BASES: Final = (5, 10, 20)
"""The larger bases that are tried where the usual one fails that often."""


@dataclass(frozen=True, eq=False)
class DrawnEntry:
    """An entry whose rounding was drawn.

    Attributes:
        prepared: The entry.
        advice: Its configurations, ranked.
        in_time: Whether it passed, or nothing was left to draw; otherwise time was up, and another draw might pass.
    """

    prepared: PreparedEntry
    advice: EntryAdvice
    in_time: bool


def draw_entry(
    table: Source,
    plan: Plan,
    name: str,
    mask: Callable[[PreparedEntry], EntryAdvice],
    judge: Callable[[EntryDocument, str], Verdict],
    stage: Stage,
    how: Mapping[str, Any],
    seconds: float,
) -> DrawnEntry:
    """Return an entry that passes the verdict with the masked table, and its configurations ranked.

    If none passes, it is the last one drawn.

    The verdict depends only on what is published. So a published entry was not rejected, whatever table it counts, and
    a reader who knows the rule can exclude no table by it.

    Args:
        table: The table.
        plan: Its plan.
        name: The name of the entry.
        mask: Ranks the configurations by the exact counts, and masks the table by the best one.
        judge: Judges an entry together with the table of the configuration with this id.
        stage: Shows the progress.
        how: How to read the table.
        seconds: After these, rounding is not drawn again.
    """
    draws, end = _draws(table, plan, name, stage, how), monotonic() + seconds
    prepared = next(draws)
    advice = mask(prepared)
    while not judge(prepared.entry, advice.best.id).passed:
        if monotonic() >= end:
            return DrawnEntry(prepared, advice, in_time=False)
        if (again := next(draws, None)) is None:
            break
        prepared = again
    return DrawnEntry(prepared, advice, in_time=True)


def _draws(table: Source, plan: Plan, name: str, stage: Stage, how: Mapping[str, Any]) -> Iterator[PreparedEntry]:
    used, doing = 0, "counting"
    for controls in ((), *((RandomRounding(base),) for base in _BASES)):
        if controls and controls[0].base <= used:
            continue
        for _ in range(_DRAWS):
            try:
                with stage(doing) as progress:
                    prepared = prepare_entry(table, plan, controls, name=name, pairs=True, progress=progress, **how)
            except ControlError:
                if not used:
                    raise
                return  # the table is too small for a larger base
            doing = "rounding the counts anew"
            yield prepared
        control = prepared.entry.disclosure_control
        used = (control and control.rounded_to) or 0
