"""Generates and attacks tables, and compares them with masked ones by their utility for held-out records.
A table with all records masked has seen everyone. So the comparison masks only the records that are not held out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from aegis_provider.check import Interval
from aegis_provider.digests import digest_of
from aegis_provider.errors import TableError
from aegis_provider.plan.generated import Attacked
from aegis_provider.plan.model import Configuration, Plan
from aegis_provider.progress import Progress
from aegis_provider.synth.attacks import case_by_plan, declared_attacks, open_case
from aegis_provider.synth.generate import Knobs, Wish, generate
from aegis_provider.synth.generate.generated import write
from aegis_provider.synth.offer import RealSides
from aegis_provider.synth.transfer import holdout_of, told_by, transfer_of
from aegis_provider.table import Source, open_table, table_name
from aegis_provider.workflow.generating import GENERATED, MASKED, METHOD, Beside, Comparison, Drawn, file_at, id_at
from aegis_sdk.wire import EntryDocument, GeneratedConfiguration, Holdout, Transfer


def draw_table(table: Source, plan: Plan, level: float, folder: Path, holdout: float, how: Mapping[str, Any]) -> Drawn:
    """Generate a table at a level of privacy, attack it, and write it into the folder at the end.

    Args:
        table: The table.
        plan: Its plan.
        level: The level of privacy.
        folder: The folder.
        holdout: The share of records held out from training, as a reference for attacks.
        how: Options for reading the table: `delimiter` and `memory_limit`.

    Raises:
        PlanError: No attribute may be generated.
        TableError: The table is too small to learn from, or no record is held out.
        AegisError: The extra `synth` is not installed.
    """
    knobs, wish = Knobs(privacy=level), Wish(holdout=holdout)
    made = generate(
        table, plan, method=METHOD, knobs=knobs, wish=wish, accept_identifiers=True, **how
    )  # the release refused them
    if not made.held_out:
        raise TableError(
            f"{table_name(table)}: none of its {made.combinations:,} combinations of attributes is held out by a "
            f"holdout of {holdout:g}, so nothing can be compared: state a larger `holdout` in the plan"
        )
    attacks = declared_attacks(open_case(made.table, table, plan=plan, holdout=holdout, **how).case)
    output = folder / file_at(level)
    write(output, made.table, how["delimiter"])
    weights = {name: privacy for name, (privacy, _) in made.weights.items() if privacy > 0}
    return Drawn(id_at(level), output.name, digest_of(output), METHOD, level, weights, attacks)


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
        plan: Its plan, with the results of attacks on generated tables.
        masks: The configurations to compare with.
        entry: The entry, with the transfer utilities of generated tables.
        measure: The measure.
        how: Options for reading the table: `delimiter` and `memory_limit`.
        progress: Called with the number of attacked configurations.
        is_over: Whether time is up, after which no attack starts.
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
    """Yield the masked release for the comparison; nothing if it shows no records."""
    if (released := sides.released(mask)) is not None:
        told = transfer_of(released, sides.seen, sides.held_out, sides.plan.label)
        attacks = declared_attacks(case_by_plan(released, sides.seen, sides.held_out, sides.plan))
        yield Beside(mask.id, MASKED, mask.privacy, _kept(told, holdout, measure), attacks)


def _generated(configuration: GeneratedConfiguration, holdout: Holdout, measure: str) -> Beside:
    attacks = {
        name: Attacked(each.value, each.low, each.high, each.chance) for name, each in configuration.attacks.items()
    }
    kept = None if configuration.transfer is None else _kept(configuration.transfer, holdout, measure)
    return Beside(configuration.id, GENERATED, configuration.privacy or {}, kept, attacks)


def _kept(transfer: Transfer, holdout: Holdout, measure: str) -> Interval | None:
    """Return the transfer utility of a release as a share of the unmasked records'; `None` if theirs is 0."""
    whole = None if holdout.unmasked is None else told_by(holdout.unmasked, holdout, measure)
    own = told_by(transfer, holdout, measure)
    if whole is None or own is None or whole[0] <= 0:
        return None
    return Interval(*(each / whole[0] for each in own))
