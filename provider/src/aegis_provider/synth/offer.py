"""Adds the generated tables of a plan to its entry, and transfer utilities of these and of its configurations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from aegis_provider.control import Control, ControlError, LaplaceNoise
from aegis_provider.entry_file import document_of, entry_of
from aegis_provider.errors import TableError, UnmaskableValueError, shortened
from aegis_provider.plan.generated import GeneratedTable
from aegis_provider.plan.model import Configuration, Plan
from aegis_provider.prepare import PreparedEntry
from aegis_provider.progress import Progress
from aegis_provider.records import MOST_RECORDS, Records, drawn, held_out_of, learnt, rows_of
from aegis_provider.release.handing_out import refuse_unofferable
from aegis_provider.synth.released import MaskedRecords, Released
from aegis_provider.synth.transfer import holdout_of, transfer_of
from aegis_provider.table import Table, open_table
from aegis_provider.table.formulas import are_escaped, unescaped, with_plain_header
from aegis_provider.table.values import MISSING, Domain, key_of
from aegis_sdk.printable import Share
from aegis_sdk.wire import EntryDocument


@dataclass(frozen=True, eq=False)
class RealSides:
    """The records of a table, with the same ones held out as by `aegis synth generate`.

    Attributes:
        plan: The plan, with the share to hold out.
        masked: The records.
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
                f"{generated.file}: {shortened(name)}: {Share(found.share)} of the cells are no values that the table "
                "has; write them as the table does"
            )
        return released

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
        prepared: The entry. The added numbers are rounded, and measured on held-out records only.
        delimiter: The delimiter of CSV files.
        memory_limit: The memory limit of DuckDB.
        progress: Called with the number of compared releases.

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
    told = dict(_told_by_masks(sides, [each["id"] for each in document["configurations"]], progress))
    masked = [each | told.get(each["id"], {}) for each in document["configurations"]]
    document |= {
        "format": 2,
        "configurations": [*masked, *_generated(prepared.entry, sides, how)],
        "holdout": _document(holdout_of(sides.seen, sides.held_out, plan.label)),
    }
    refuse_early(plan, delimiter=delimiter)  # nothing has changed meanwhile
    return replace(prepared, controlled=replace(prepared.controlled, entry=entry_of(document, plan.source)))


def _told_by_masks(
    sides: RealSides, published: Sequence[str], progress: Progress
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield by configuration the transfer utility of the masked seen records."""
    for done, name in enumerate(published):
        progress(done, len(published))
        released = sides.released(sides.plan.configuration(name))
        if released is not None:
            told = transfer_of(released, sides.seen, sides.held_out, sides.plan.label)
            yield name, {"transfer": _document(told)}
    progress(len(published), len(published))


def _document(part: Any) -> dict[str, Any]:  # noqa: ANN401 - any part of the contract
    written: dict[str, Any] = part.model_dump(exclude_unset=True, exclude_none=True)
    return written


def _generated(entry: EntryDocument, sides: RealSides, how: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the generated configurations."""
    for table in sides.plan.generated:
        histogram = _histogram(table, sides.labels(table, how), entry.label.domain)
        transfer = transfer_of(sides.generated(table, how), sides.seen, sides.held_out, sides.plan.label)
        yield {
            "id": table.id,
            "kind": "generated",
            "records": sum(histogram),
            "histogram": histogram,
            **table.stated,
            "transfer": _document(transfer),
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
