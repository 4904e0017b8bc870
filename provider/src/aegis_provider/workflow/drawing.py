"""Draws an entry's rounding until entry and masked table together disclose no small count."""

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
"""Draws per base; most entries pass the first."""

_BASES: Final = (5, 10, 20)
"""Larger bases to try after the default one has failed."""


@dataclass(frozen=True, eq=False)
class DrawnEntry:
    """An entry whose rounding was drawn.

    Attributes:
        prepared: The entry.
        advice: Its ranked configurations.
        in_time: Whether it passed or all draws were tried; otherwise time ran out, and another draw might pass.
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
    """Return an entry that passes the verdict together with the masked table, and its ranked configurations.
    If none passes, it is the last one drawn.

    The verdict depends only on published data, so knowing that an entry passed excludes no possible table.

    Args:
        table: The table.
        plan: Its plan.
        name: The name of the entry.
        mask: Ranks the configurations by the exact counts, and masks the table by the best one.
        judge: Judges an entry together with the masked table of the configuration with this id.
        stage: Shows the progress.
        how: Options for reading the table.
        seconds: Time limit for further draws.
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
                return  # too small a table for larger bases
            doing = "rounding the counts anew"
            yield prepared
        control = prepared.entry.disclosure_control
        used = (control and control.rounded_to) or 0
