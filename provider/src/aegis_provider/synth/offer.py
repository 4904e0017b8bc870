"""Generated tables beside masked ones: in an entry, and in a release, compared by their utility for held-out records.

A table with all records masked has seen everyone. So the comparison masks only the records that are not held out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from aegis_provider.check import Interval
from aegis_provider.control import Control, ControlError, LaplaceNoise
from aegis_provider.entry import document_of, entry_of
from aegis_provider.errors import TableError, UnmaskableValueError, shortened
from aegis_provider.files import digest_of
from aegis_provider.plan.generated import Attacked, GeneratedTable
from aegis_provider.plan.model import Configuration, Plan
from aegis_provider.prepare import PreparedEntry
from aegis_provider.processes import Progress
from aegis_provider.records import MOST_RECORDS, Records, drawn, held_out_of, learnt, rows_of
from aegis_provider.release.table_file import refuse_unofferable
from aegis_provider.synth.attacks.attack import case_by_plan, open_case
from aegis_provider.synth.attacks.judging import declared_attacks
from aegis_provider.synth.generate.generated import write
from aegis_provider.synth.generate.generating import generate
from aegis_provider.synth.generate.methods.method import Knobs
from aegis_provider.synth.generate.prepared import Wish
from aegis_provider.synth.released.opening import MaskedRecords
from aegis_provider.synth.released.released import Released
from aegis_provider.synth.transfer import holdout_of, told_by, transfer_of
from aegis_provider.table import Source, Table, open_table, table_name
from aegis_provider.table.formulas import are_escaped, with_plain_header
from aegis_provider.table.values import MISSING, Domain, key_of
from aegis_provider.workflow.generating import GENERATED, MASKED, METHOD, Beside, Comparison, Drawn, file_at, id_at
from aegis_sdk.printable import Share
from aegis_sdk.texts import unescaped
from aegis_sdk.wire import EntryDocument, GeneratedConfiguration, Holdout, Transfer


@dataclass(frozen=True, eq=False)
class RealSides:
    """The records of a table, with the same ones held out as by `aegis synth generate`.

    Attributes:
        rows: (records,) Whether each is held out.
    """

    plan: Plan
    masked: MaskedRecords
    rows: NDArray[np.bool_]

    @classmethod
    def read(cls, table: Table, plan: Plan) -> Self:
        """Read the records of a table.

        Raises:
            TableError: The table does not fit the plan, or one of its sides has no records.
        """
        masked = MaskedRecords.read(table, plan)
        share = plan.holdout or 0.0
        rows = held_out_of(learnt(masked.records, plan), share)
        if rows.all() or not rows.any():
            raise TableError(
                f"{table.name}: {rows.sum():,} of {len(rows):,} records are held out by the holdout {share:g} of the "
                "plan; both sides need some. Records with equal attributes are on one side: state another holdout"
            )
        return cls(plan, masked, rows)

    @cached_property
    def seen(self) -> Records:
        """The records from which releases are made."""
        return self.masked.records.take(~self.rows)

    @cached_property
    def held_out(self) -> Records:
        """The held-out records."""
        return self.masked.records.take(self.rows)

    def released(self, configuration: Configuration) -> Released | None:
        """Return the seen records masked by a configuration; `None` if it masks at random or shows none of them."""
        if not self.masked.can_release(configuration):
            return None
        released = self.masked.released(configuration, ~self.rows)
        return released if len(released) else None

    def generated(self, generated: GeneratedTable, how: Mapping[str, Any]) -> Released:
        """Return a generated table, sampled if it is large.

        Raises:
            TableError: It cannot be read, or too many values are not understood.
        """
        with open_table(generated.file, **how) as given:
            opened = with_plain_header(given, self.masked.records.names)
            names = [each for each in self.masked.records.names if each in opened.columns]
            rows = drawn(opened.records(), MOST_RECORDS, 0)
            released = Released.of(self.masked.records, rows_of(opened.batches(names), rows).rename_columns(names))
        if unread := next(iter(released.not_judged.items()), None):
            name, found = unread
            raise TableError(
                f"{generated.file}: {shortened(name)}: {Share(found.share)} of the cells are not values that the table "
                "has; write them as the table does"
            )
        return released

    def transfer_of(self, released: Released) -> Transfer:
        """Return the utility on held-out records of rules learnt from a release."""
        return transfer_of(released, self.seen, self.held_out, self.plan.label)

    def labels(self, generated: GeneratedTable, how: Mapping[str, Any]) -> dict[str, int]:
        """Return the number of records of a generated table with each label value."""
        with open_table(generated.file, **how) as given:
            counted = with_plain_header(given, [self.plan.label]).combinations([self.plan.label])
            return dict(zip(counted["v0"].to_pylist(), counted["n"].to_pylist(), strict=True))


def refuse_early(plan: Plan, controls: Iterable[Control] = (), *, delimiter: str = ",") -> None:
    """Refuse generated tables that no entry can offer, before counting.

    Raises:
        ControlError: The counts are to have noise.
        TableError: A table is not the stated one, or has columns that the plan never shares.
    """
    for each in plan.generated:
        if any(isinstance(control, LaplaceNoise) for control in controls):
            raise ControlError(
                f"noise covers all counts, but what is said of the generated table {each.id} is measured on records: "
                "round the counts instead, or take `generated` out of the plan"
            )
        refuse_unofferable(plan, each, delimiter=delimiter)


def with_generated(
    prepared: PreparedEntry,
    *,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _total: None,
) -> PreparedEntry:
    """Return the entry with the generated tables of its plan, unchanged if the plan has none.

    Every configuration gets its transfer utilities, too, unless it masks at random or shows no records: from the masked
    seen records to the held-out ones.

    Args:
        prepared: The entry. The added numbers are rounded, and measured only on held-out records.

    Raises:
        ControlError: The counts have noise, or values of the label are merged.
        TableError: A generated table cannot be read, is not the stated one, or cannot be shared.
        PlanError: A generated table's fields in the plan break a rule of the contract.
    """
    plan, how = prepared.plan, {"delimiter": delimiter, "memory_limit": memory_limit}
    if not plan.generated:
        return prepared
    refuse_early(plan, prepared.controlled.controls, delimiter=delimiter)
    if prepared.controlled.changes.label is not None:
        raise ControlError(
            f"values of the label are merged, but {plan.generated[0].id} has them as they are: generate tables of the "
            "merged label, or take `generated` out of the plan"
        )
    with open_table(prepared.table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        sides = RealSides.read(opened, plan)
    document = document_of(prepared.entry)
    masked, published = [], document["configurations"]
    for done, each in enumerate(published):
        progress(done, len(published))
        released = sides.released(plan.configuration(each["id"]))
        transfer = {} if released is None else {"transfer": _document(sides.transfer_of(released))}
        masked.append(each | transfer)
    progress(len(published), len(published))
    document |= {
        "format": max(2, document["format"]),
        "configurations": [*masked, *_generated(prepared.entry, sides, how)],
        "holdout": _document(holdout_of(sides.seen, sides.held_out, plan.label)),
    }
    refuse_early(plan, delimiter=delimiter)  # nothing has changed meanwhile
    return replace(prepared, controlled=replace(prepared.controlled, entry=entry_of(document, plan.source)))


def _document(part: Any) -> dict[str, Any]:  # noqa: ANN401 - any part of the contract
    written: dict[str, Any] = part.model_dump(exclude_unset=True, exclude_none=True)
    return written


def _generated(entry: EntryDocument, sides: RealSides, how: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the generated configurations."""
    for table in sides.plan.generated:
        histogram = _histogram(table, sides.labels(table, how), entry.label.domain)
        yield {
            "id": table.id,
            "kind": "generated",
            "records": sum(histogram),
            "histogram": histogram,
            **table.stated,
            "transfer": _document(sides.transfer_of(sides.generated(table, how))),
        }


def _histogram(generated: GeneratedTable, counts: Mapping[str, int], labels: Sequence[str]) -> list[int]:
    """Return the number of generated records with each label, in any spelling."""
    domain, histogram = Domain.of(labels), dict.fromkeys(labels, 0)
    if are_escaped(counts, labels):
        counts = {unescaped(text): records for text, records in counts.items()}
    keys = {key_of(text, domain.value_type) if text != MISSING else None: text for text in labels}
    for text, records in counts.items():
        try:
            known = keys[None if text == MISSING else key_of(text, domain.value_type)]
        except (KeyError, UnmaskableValueError):
            unknown = f"{generated.file}: has the label {shortened(text)}, which no record that the entry counts has"
            raise TableError(unknown) from None
        histogram[known] += records
    return list(histogram.values())


def draw_table(table: Source, plan: Plan, level: float, folder: Path, holdout: float, how: Mapping[str, Any]) -> Drawn:
    """Generate a table at a level of privacy, attack it, and write it into the folder at the end.

    Args:
        holdout: The share of records held out from training, as a reference for attacks.
        how: Options for reading the table: `delimiter` and `memory_limit`.

    Raises:
        PlanError: No attribute may be generated.
        TableError: The table is too small to learn from, or no record is held out.
        AegisError: The extra `synth` is not installed.
    """
    knobs, wish = Knobs(privacy=level), Wish(holdout=holdout)
    # The release refused identifiers.
    made = generate(table, plan, method=METHOD, knobs=knobs, wish=wish, accept_identifiers=True, **how)
    if not made.held_out:
        raise TableError(
            f"{table_name(table)}: none of its {made.held_out_together} is held out by a "
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
        how: Options for reading the table: `delimiter` and `memory_limit`.
    """
    with open_table(table, **how) as opened:
        sides = RealSides.read(opened, plan)
    holdout = holdout_of(sides.seen, sides.held_out, plan.label)
    masked, left = list[Beside](), list(masks)
    while left and not is_over():
        progress(len(masks) - len(left), len(masks))
        masked += _masked(sides, left.pop(0), holdout, measure)
    progress(len(masks) - len(left), len(masks))
    generated = (_stated(each, holdout, measure) for each in entry.generated)
    return Comparison(measure, len(sides.held_out), (*masked, *generated), tuple(each.id for each in left))


def _masked(sides: RealSides, mask: Configuration, holdout: Holdout, measure: str) -> Iterator[Beside]:
    """Yield the masked release for the comparison; nothing if it shows no records."""
    if (released := sides.released(mask)) is not None:
        kept = _kept(sides.transfer_of(released), holdout, measure)
        attacks = declared_attacks(case_by_plan(released, sides.seen, sides.held_out, sides.plan))
        yield Beside(mask.id, MASKED, mask.privacy, kept, attacks)


def _stated(configuration: GeneratedConfiguration, holdout: Holdout, measure: str) -> Beside:
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
