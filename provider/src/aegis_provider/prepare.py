"""The one safe path from a table to a published entry: table, plan and controls in, entry and plan out."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aegis_provider.control import (
    Beside,
    Changes,
    Control,
    ControlError,
    Controlled,
    LaplaceNoise,
    MinimumCell,
    RandomRounding,
    Roles,
    apply_controls,
    base_for,
    controlled_plan,
    refuse_conflicts,
    with_published_privacy,
    with_suppressed,
    without_unshared,
    write_controlled_plan,
)
from aegis_provider.counting.telling_names import TellingNames
from aegis_provider.entry_file import document_of, entry_of, write_entry
from aegis_provider.entry_warnings import SMALL, Exposure
from aegis_provider.errors import OutputError
from aegis_provider.identifiers import (
    Replayed,
    accepted_in,
    identifying_in,
    refuse_identifiers,
    refuse_written,
    shared_as_they_are,
    texts_of_entry,
)
from aegis_provider.output import refuse_overwriting
from aegis_provider.plan.model import Plan
from aegis_provider.progress import Progress
from aegis_provider.release.alone import alone_in_releases, known_of
from aegis_provider.summary import SharedSummary, summarize_in_doubt, summarize_shared
from aegis_provider.table import Source, Table, delimiter_in, open_table
from aegis_provider.table.writing import plainly
from aegis_sdk.wire import Configuration, EntryDocument


@dataclass(frozen=True)
class PreparedEntry:
    """An entry that is ready to be published, with the plan that goes with it.

    Attributes:
        table: The table that was counted; no output may overwrite it.
        intended: The plan as it was given.
        controlled: The entry, and what the controls changed in it.
        exposure: What the entry shows that its provider may not expect.
        counted: The entry before the controls. It has exact counts: it must not leave the provider's machine.
        telling: The names of masked values that tell raw values of few records.
        doubtful_types: A sentence for each attribute whose type is in doubt.
    """

    table: Source
    intended: Plan
    controlled: Controlled
    exposure: Exposure
    counted: EntryDocument
    telling: tuple[TellingNames, ...] = ()
    doubtful_types: tuple[str, ...] = ()

    @property
    def entry(self) -> EntryDocument:
        """The entry to publish."""
        return self.controlled.entry

    @property
    def plan(self) -> Plan:
        """The plan that goes with the entry: `apply` with this plan produces what the entry counts."""
        return controlled_plan(self.intended, self.controlled)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What its provider may not expect, one sentence each."""
        return tuple(self._warnings())

    def write(self, output: Path, plan_output: Path | None = None) -> None:
        """Write the entry and, if `plan_output` is given, the plan that goes with it: both or neither.

        Raises:
            OutputError: One of them cannot be written, or is a file that the entry was made from.
            ControlError: The plan was not read from a file.
            PlanError: The plan's file can no longer be read.
        """
        refuse_outputs(self.table, self.intended, output, plan_output)

        def write_plan() -> None:
            if plan_output is not None:
                write_controlled_plan(self.intended.files[0], self.intended, self.controlled, plan_output)

        write_entry(self.entry, output, write_plan)

    def _warnings(self) -> Iterator[str]:
        yield from (each.in_words() for each in self.telling)
        yield from self.doubtful_types
        yield from self.exposure.in_words()
        if privacy := self.controlled.changes.privacy:
            names = dict.fromkeys(name for each in privacy.values() for name in each)
            configurations = f"{len(privacy)} configuration{'s' * (len(privacy) > 1)}"
            yield f"merging may make {', '.join(names)} worse: {configurations} no longer vouch for it"
        if label := self.controlled.changes.label:
            yield (
                f"only the entry counts {len(label.values)} values of the label as {label.text!r}: releases show them "
                "as they are"
            )
        for control in self.controlled.controls:
            yield from control.caveats()
        if self.exposure.small.counts and not self.controlled.controls:
            yield (
                f"{self.exposure.small.counts} counts are below {SMALL}, the smallest {self.exposure.small.smallest}: "
                "`aegis disclose` shows what they give away; without --exact, all counts are rounded"
            )


def prepare_entry(
    table: Source,
    plan: Plan,
    controls: Iterable[Control] = (),
    *,
    name: str,
    exact: bool = False,
    pairs: bool = False,
    accept_identifiers: bool = False,
    delimiter: str | None = None,
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _total: None,
) -> PreparedEntry:
    """Count what the configurations of a plan share, and apply disclosure controls to every count.

    Generated tables that the plan states are not in it yet: `offer.with_generated` adds them.

    Args:
        table: The table.
        plan: The plan of the table.
        controls: Disclosure controls, in any order; without any, counts are rounded by a base for the table's size.
        name: The name of the entry: a-z 0-9 - _ .
        exact: Publish every count, and every value, as it is, whatever that gives away.
        pairs: Whether to count pairs of attributes too, which the measure `joint` needs.
        accept_identifiers: Whether the entry may have what identifies persons.
        delimiter: Separator of the fields of a CSV table; by default, the usual one that its header has.
        memory_limit: DuckDB's memory; the rest goes to disk.
        progress: Called with (done, total), first for records counted, then for cells that have their noise.

    Raises:
        PlanError: The plan cannot be summarised, or the name is unusable.
        TableError: The table cannot be read, or does not fit the plan.
        ControlError: The controls contradict each other, or cannot be applied to these counts.
        IdentifierError: A column that a configuration shares as it is, or a value that the entry lists, identifies
            persons, and `accept_identifiers` is off.
    """
    controls = tuple(controls)
    refuse_conflicts(controls)
    if exact and controls:
        raise ControlError("exact counts are published as they are; leave out the controls, or do not ask for them")
    how: dict[str, Any] = {"delimiter": delimiter or delimiter_in(table, plan.label), "memory_limit": memory_limit}
    counting = {"name": name, "pairs": pairs, "progress": progress, **how}
    with open_table(table, **how) as given:
        opened = plainly(given, plan.writings)
        replayed = None if accept_identifiers else _replayed(opened, plan)
        if exact:
            counted, telling, doubtful = summarize_in_doubt(opened, plan, **counting)
            controlled, changed = Controlled(counted, (), Changes()), plan
        else:
            summary, controlled = _controlled(opened, plan, controls, counting)
            counted, telling, doubtful = summary.entry, summary.telling, summary.doubtful_types
            changed = controlled_plan(plan, controlled)
        _refuse_listed(controlled.entry, plan, replayed)
        entry = _with_alone(controlled.entry, opened, changed)
    controlled = replace(controlled, entry=entry)
    return PreparedEntry(table, plan, controlled, Exposure.of(entry), counted, telling, doubtful)


def _controlled(
    table: Table, plan: Plan, controls: tuple[Control, ...], counting: Mapping[str, Any]
) -> tuple[SharedSummary, Controlled]:
    """Count what configurations share, and apply the controls, or else round the counts; `counting`: how to count."""
    merging = next((each.merging for each in controls if isinstance(each, MinimumCell)), None)
    noisy = any(isinstance(each, LaplaceNoise) for each in controls)
    summary = summarize_shared(table, plan, merging=merging, all_records=noisy, **counting)
    roles = Roles(plan.quasi_identifiers, plan.sensitive)
    chosen = controls or (RandomRounding(base_for(summary.entry.records)),)
    promised = {each.id: each.promised for each in plan.configurations}
    beside = Beside(summary.told, summary.merged.maskings, summary.merged.label, promised=promised)
    controlled = apply_controls(summary.entry, chosen, roles, beside=beside, progress=counting["progress"])
    controlled = with_suppressed(controlled, table, plan, hidden=summary.hidden)
    # The entry as changed by the controls must meet the contract too, and keeps only the fields that are set.
    coarse = with_published_privacy(controlled.entry, plan)
    entry = entry_of(document_of(without_unshared(coarse)), plan.source)
    return summary, replace(controlled, entry=entry)


def _with_alone(entry: EntryDocument, table: Table, plan: Plan) -> EntryDocument:
    """Return the entry with the share of records that each configuration leaves alone, and whom promises hold against.

    Quasi-identifiers are stated only if other attributes are shared, too: then nobody would expect them.
    """
    shares = alone_in_releases(table, plan)
    listed = [
        each.model_copy(update={"alone": shares[each.id]}) if isinstance(each, Configuration) else each
        for each in entry.configurations or ()
    ]
    known = known_of(plan)
    named = {} if known is None else {"quasi_identifiers": list(known)}
    return entry.model_copy(update={**named, "configurations": listed})


def accepted_in_entry(
    prepared: PreparedEntry, *, delimiter: str | None = None, memory_limit: str = "1GB"
) -> dict[str, str]:
    """Return which columns of an entry have what identifies persons, and what they have.

    Raises:
        TableError: The table cannot be read.
    """
    plan = prepared.intended
    delimiter = delimiter or delimiter_in(prepared.table, plan.label)
    with open_table(prepared.table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        replayed = Replayed.of(opened, opened.columns, plan.left_out, identifying_in(opened, plan))
        return accepted_in(texts_of_entry(prepared.entry).items(), replayed)


def _replayed(table: Table, plan: Plan) -> Replayed:
    """Refuse columns that identify persons and are shared as they are; return the values that the entry must not list.

    Raises:
        IdentifierError: A column that a configuration shares as it is identifies persons.
    """
    instead, reasons = "mask it in every configuration, or remove it", identifying_in(table, plan)
    shared = shared_as_they_are(plan, plan.configurations)
    refuse_identifiers(table, plan.source, shared, instead, label=plan.label, known=reasons)
    return Replayed.of(table, table.columns, plan.left_out, reasons)


def _refuse_listed(entry: EntryDocument, plan: Plan, replayed: Replayed | None) -> None:
    if replayed is not None:
        refuse_written(texts_of_entry(entry).items(), replayed, f"{plan.source}: the entry")


def refuse_outputs(table: Source, plan: Plan, output: Path, plan_output: Path | None) -> None:
    """Reject outputs that are the same file or an input, before any work is done.

    Raises:
        OutputError: An output is also an input or cannot be a file, or both outputs are the same file.
        ControlError: The plan was not read from a file.
    """
    refuse_overwriting(output, table, *plan.files)
    if plan_output is None:
        return
    if not plan.files:
        raise ControlError("the plan was not read from a file, so it cannot be written; load it with load_plan first")
    if plan_output.resolve() == output.resolve():
        raise OutputError(f"{plan_output}: --output and --plan-output name the same file; choose another output")
    refuse_overwriting(plan_output, table, *plan.files)
