"""Masked and generated releases beside each other: what they tell about held-out records, and what attacks achieve.

A mask of all records has seen everyone, so nothing could be held out from it. Therefore masks are compared by what they
make of the records that are not held out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aegis_provider.check import Interval
from aegis_provider.plan.model import Configuration, Plan
from aegis_provider.progress import Progress
from aegis_provider.synth.attacks import Attacked, case_by_plan, declared_attacks
from aegis_provider.synth.offer import RealSides
from aegis_provider.synth.transfer import holdout_of, told_by, transfer_of
from aegis_provider.table import Source, open_table
from aegis_sdk.wire import Attack, EntryDocument, GeneratedConfiguration, Holdout, Transfer

MASKED, GENERATED = "masked", "generated"


@dataclass(frozen=True)
class Beside:
    """A release beside others.

    Attributes:
        id: Its id in the plan.
        kind: `masked` or `generated`.
        promise: The privacy that it promises, by name.
        kept: What it tells about held-out records, as a share of what unmasked records tell; `None` if those tell
            nothing.
        attacks: What attacks achieved, by their names in the contract.
    """

    id: str
    kind: str
    promise: Mapping[str, float]
    kept: Interval | None
    attacks: Mapping[str, Attacked]


@dataclass(frozen=True)
class Comparison:
    """Releases beside each other.

    Attributes:
        measure: The measure by which they are compared.
        held_out: The number of records that none of them saw.
        releases: The releases, the masked ones first.
        unfinished: The ids of the masked ones for which time was up.
    """

    measure: str
    held_out: int
    releases: tuple[Beside, ...]
    unfinished: tuple[str, ...] = ()


def compare(
    table: Source,
    plan: Plan,
    masks: Sequence[Configuration],
    entry: EntryDocument,
    measure: str,
    how: Mapping[str, Any],
    progress: Progress,
    is_over: Callable[[], bool] = lambda: False,
) -> Comparison:
    """Compare masked releases with the generated ones of an entry.

    Args:
        table: The table.
        plan: Its plan, which states what attacks on generated tables achieved.
        masks: The configurations to compare with.
        entry: The entry, which has the transfer utilities of generated tables.
        measure: The measure.
        how: How to read the table: `delimiter` and `memory_limit`.
        progress: Called with the number of masks that are attacked.
        is_over: Says whether time is up, after which no further one is attacked.
    """
    with open_table(table, **how) as opened:
        sides = RealSides.read(opened, plan)
    holdout = holdout_of(sides.seen, sides.held_out, plan.label)
    masked, left = list[Beside](), list(masks)
    while left and not is_over():
        progress(len(masks) - len(left), len(masks))
        masked += _masked(sides, left.pop(0), holdout, measure)
    progress(len(masks) - len(left), len(masks))
    generated = (_generated(each, holdout, measure) for each in entry.generated)
    return Comparison(measure, len(sides.held_out), (*masked, *generated), tuple(each.id for each in left))


def _masked(sides: RealSides, mask: Configuration, holdout: Holdout, measure: str) -> Iterator[Beside]:
    """Yield what there is of a mask beside the others: nothing if it shows no records."""
    if (released := sides.released(mask)) is not None:
        told = transfer_of(released, sides.seen, sides.held_out, sides.plan.label)
        attacks = declared_attacks(case_by_plan(released, sides.seen, sides.held_out, sides.plan))
        yield Beside(mask.id, MASKED, mask.privacy, _kept(told, holdout, measure), attacks)


def _generated(configuration: GeneratedConfiguration, holdout: Holdout, measure: str) -> Beside:
    attacks = {name: _attacked(each) for name, each in configuration.attacks.items()}
    kept = None if configuration.transfer is None else _kept(configuration.transfer, holdout, measure)
    return Beside(configuration.id, GENERATED, configuration.privacy or {}, kept, attacks)


def _attacked(attack: Attack) -> Attacked:
    return Attacked(attack.value, attack.low, attack.high, attack.chance)


def _kept(transfer: Transfer, holdout: Holdout, measure: str) -> Interval | None:
    """Return what a release tells, as a share of what unmasked records tell; `None` if those tell nothing."""
    whole = None if holdout.unmasked is None else told_by(holdout.unmasked, holdout, measure)
    own = told_by(transfer, holdout, measure)
    if whole is None or own is None or whole[0] <= 0:
        return None
    return Interval(*(each / whole[0] for each in own))
