"""The one safe path from a table to a published entry: from table, plan and controls to entry and plan."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from aegis_provider.control import (
    Beside,
    Changes,
    Control,
    ControlError,
    Controlled,
    LaplaceNoise,
    LastingRandomness,
    MinimumCell,
    RandomRounding,
    apply_controls,
    base_for,
    controlled_plan,
    refuse_conflicts,
    with_published_privacy,
    with_suppressed,
    without_unshared,
    write_controlled_plan,
)
from aegis_provider.counting.shown_labels import with_shown_labels
from aegis_provider.counting.telling_names import TellingNames
from aegis_provider.entry import Exposure, document_of, entry_of, small_below, write_entry
from aegis_provider.errors import OutputError
from aegis_provider.files import refuse_overwriting
from aegis_provider.identifiers import (
    Replayed,
    accepted_in,
    identifying_in,
    refuse_identifiers,
    refuse_written,
    shared_as_they_are,
    texts_of_entry,
)
from aegis_provider.plan.model import Plan
from aegis_provider.plan.prices import with_prices
from aegis_provider.processes import Progress
from aegis_provider.release.alone import alone_in_releases, known_of
from aegis_provider.state import changed_key, lasting_randomness, remember_key
from aegis_provider.summary import SharedSummary, summarize_in_doubt, summarize_shared
from aegis_provider.table import Source, Table, delimiter_in, open_table
from aegis_provider.table.notation import plainly
from aegis_sdk.wire import Configuration, EntryDocument

ONE_MORE_LOOK: Final = (
    "the counts are rounded afresh: whoever has another entry of this table sees each count twice, and knows more of it"
)
"""What new randomness costs."""


@dataclass(frozen=True)
class PreparedEntry:
    """An entry that is ready to publish, with its matching plan.

    Attributes:
        table: The table that was counted; no output may overwrite it.
        intended: The given plan.
        controlled: The entry, and the changes by its controls.
        exposure: Disclosures that its provider may not expect.
        counted: The entry before the controls. Its exact counts must not leave the provider's machine.
        telling: Names of masked values that disclose raw values of few records.
        doubtful_types: A sentence for each attribute whose type is in doubt.
        chance: The randomness of its rounding; `None` if no count is rounded.
        of_key: What the provider should know of its key before the entry leaves the machine.
    """

    table: Source
    intended: Plan
    controlled: Controlled
    exposure: Exposure
    counted: EntryDocument
    telling: tuple[TellingNames, ...] = ()
    doubtful_types: tuple[str, ...] = ()
    chance: LastingRandomness | None = None
    of_key: tuple[str, ...] = ()

    @property
    def entry(self) -> EntryDocument:
        """The entry to publish."""
        return self.controlled.entry

    @property
    def plan(self) -> Plan:
        """The plan that matches the entry: `apply` with this plan produces what the entry counts."""
        return controlled_plan(self.intended, self.controlled)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Disclosures that its provider may not expect, a sentence each."""
        return tuple(self._warnings())

    def write(self, output: Path, plan_output: Path | None = None) -> None:
        """Write the entry and, with `plan_output`, the matching plan: both or neither.

        Raises:
            OutputError: One of them cannot be written, or is an input of the entry.
            ControlError: The plan was not read from a file.
            PlanError: The plan's file can no longer be read.
        """
        refuse_outputs(self.table, self.intended, output, plan_output)

        def write_beside() -> None:
            if plan_output is not None:
                write_controlled_plan(self.intended.files[0], self.intended, self.controlled, plan_output)

        write_entry(self.entry, output, write_beside)
        if self.chance is not None:
            remember(self.chance, self.intended)

    def _warnings(self) -> Iterator[str]:
        yield from self.of_key
        yield from (each.in_words() for each in self.telling)
        yield from self.doubtful_types
        yield from self.exposure.in_words()
        if privacy := self.controlled.changes.privacy:
            names = dict.fromkeys(name for each in privacy.values() for name in each)
            configurations = f"{len(privacy)} configuration{'s' * (len(privacy) > 1)}"
            yield f"merging may make {', '.join(names)} worse: {configurations} no longer promise it"
        if label := self.controlled.changes.label:
            yield (
                f"only the entry counts {len(label.values)} values of the label as {label.text!r}: releases show them "
                "as they are"
            )
        for control in self.controlled.controls:
            yield from control.caveats()
        if self.exposure.small.counts and not self.controlled.controls:
            small, below = self.exposure.small, small_below(self.entry.rows_per_person or 1)
            yield (
                f"{small.counts} counts are below {below}, the smallest {small.smallest}: `aegis disclose` shows what "
                "they give away; without --exact, all counts are rounded"
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
    chance: LastingRandomness | None = None,
    delimiter: str | None = None,
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _total: None,
) -> PreparedEntry:
    """Count what the configurations of a plan share, and apply disclosure controls to every count.

    Generated tables of the plan are not included; `offer.with_generated` adds them.

    Args:
        controls: Disclosure controls, in any order; by default, counts are rounded to a base for the table's
            size.
        name: The name of the entry: a-z 0-9 - _ .
        exact: Publish exact counts and all values, whatever that gives away.
        pairs: Whether to count pairs of attributes too, which the measure `joint` needs.
        accept_identifiers: Whether the entry may contain identifying values.
        chance: The randomness of rounding; by default that of the user's key, by which equal tables have equal entries.
            A fresh one is one more look at the counts of a table that was published before.
        delimiter: The delimiter of a CSV table; by default, the one in its header.
        memory_limit: DuckDB's memory; the rest goes to disk.
        progress: Called with (done, total), first for counted records, then for cells with noise.

    Raises:
        PlanError: The plan cannot be summarised, or the name is unusable.
        TableError: The table cannot be read, or does not fit the plan.
        ControlError: The controls contradict each other, or cannot be applied to these counts.
        IdentifierError: A column shared unmasked, or a listed value, identifies persons, and `accept_identifiers` is
            off.
        StateError: The user's key cannot be used.
    """
    controls = tuple(controls)
    refuse_conflicts(controls)
    if exact and controls:
        raise ControlError("exact counts cannot be combined with a disclosure control; omit one of them")
    how: dict[str, Any] = {"delimiter": delimiter or delimiter_in(table, plan.label), "memory_limit": memory_limit}
    counting = {"name": name, "pairs": pairs, "progress": progress, **how}
    rounds = not exact and not any(isinstance(control, LaplaceNoise) for control in controls)
    chance = (chance or lasting_randomness()) if rounds else None
    of_key = () if chance is None else key_warnings(chance, plan)
    with open_table(table, **how) as given:
        opened = plainly(given, plan.writings)
        replayed = None if accept_identifiers else _replayed(opened, plan)
        if exact:
            counted, telling, doubtful = summarize_in_doubt(opened, plan, **counting)
            controlled, changed = Controlled(counted, (), Changes()), plan
        else:
            summary, controlled = _controlled(opened, plan, controls, chance, counting)
            counted, telling, doubtful = summary.entry, summary.telling, summary.doubtful_types
            changed = controlled_plan(plan, controlled)
        if replayed is not None:
            refuse_written(texts_of_entry(controlled.entry).items(), replayed, f"{plan.source}: the entry")
        entry = _with_alone(controlled.entry, opened, changed)
    controlled = replace(controlled, entry=entry)
    return PreparedEntry(table, plan, controlled, Exposure.of(entry), counted, telling, doubtful, chance, of_key)


def key_warnings(chance: LastingRandomness, plan: Plan) -> tuple[str, ...]:
    """Return what the provider should know of the key of rounding before an entry of this plan leaves the machine."""
    return tuple(filter(None, [chance.warning, changed_key(chance, *_named(plan))]))


def remember(chance: LastingRandomness, plan: Plan) -> None:
    """Keep which key rounded the entry of this plan, once there is one: another key is warned of until then.

    Raises:
        OutputError: It cannot be written.
    """
    if chance.lasts:
        remember_key(chance, *_named(plan))


def _named(plan: Plan) -> tuple[str, list[str]]:
    """Return the names by which a table is known: its label, and its attributes."""
    return plan.label, [attribute.name for attribute in plan.attributes]


def _controlled(
    table: Table,
    plan: Plan,
    controls: tuple[Control, ...],
    chance: LastingRandomness | None,
    counting: Mapping[str, Any],
) -> tuple[SharedSummary, Controlled]:
    """Count what configurations share, and apply the controls, by default rounding; `counting`: how to count."""
    masks_label = len(plan.chosen) > len(plan.attributes)
    for control in controls:
        if isinstance(control, LaplaceNoise) and masks_label:
            what, instead = "noise", "a label as it is; delete its maskings"
        elif isinstance(control, MinimumCell) and (plan.other_labels or masks_label):
            what = "a minimum cell count"
            instead = "a label as it is; delete its maskings" if masks_label else "one label only; list one, add noise"
        else:
            continue
        raise ControlError(f"{plan.source}: labels: {what} is possible with {instead}, or round")
    merging = next((control.merging for control in controls if isinstance(control, MinimumCell)), None)
    noisy = any(isinstance(control, LaplaceNoise) for control in controls)
    summary = summarize_shared(table, plan, merging=merging, all_records=noisy, **counting)
    roles = plan.all_roles
    chosen = controls or (RandomRounding(base_for(summary.entry.records)),)
    chosen = tuple(control.of_people(summary.entry.rows_per_person or 1) for control in chosen)
    if chance is not None:
        drawn = chance.of("several", "labels") if plan.other_labels else chance.of(plan.label)
        chosen = tuple(control.drawing_from(drawn) for control in chosen)
    promised = {configuration.id: configuration.promised for configuration in plan.configurations}
    beside = Beside(summary.told, summary.merged.maskings, summary.merged.label, promised=promised)
    controlled = apply_controls(summary.entry, chosen, roles, beside=beside, progress=counting["progress"])
    controlled = with_suppressed(controlled, table, plan, hidden=summary.hidden)
    # The controlled entry must meet the contract too, and contain only fields that are set.
    coarse = with_prices(with_published_privacy(controlled.entry, plan), plan.prices)
    entry = entry_of(document_of(with_shown_labels(without_unshared(coarse))), plan.source)
    return summary, replace(controlled, entry=entry)


def _with_alone(entry: EntryDocument, table: Table, plan: Plan) -> EntryDocument:
    """Return the entry with the share of records alone in each configuration, and the attacker that promises assume.

    Quasi-identifiers are stated only if other attributes are shared, too; otherwise they are all shared attributes.
    """
    shares = alone_in_releases(table, plan)
    listed = [
        configuration.model_copy(update={"alone": shares[configuration.id]})
        if isinstance(configuration, Configuration)
        else configuration
        for configuration in entry.configurations or ()
    ]
    known = known_of(plan)
    named = {} if known is None else {"quasi_identifiers": list(known)}
    return entry.model_copy(update={**named, "configurations": listed})


def accepted_in_entry(
    prepared: PreparedEntry, *, delimiter: str | None = None, memory_limit: str = "1GB"
) -> dict[str, str]:
    """Return the columns of an entry with identifying values, and the kinds of these.

    Raises:
        TableError: The table cannot be read.
    """
    plan = prepared.intended
    delimiter = delimiter or delimiter_in(prepared.table, plan.label)
    with open_table(prepared.table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        replayed = Replayed.of(opened, opened.columns, plan.left_out, identifying_in(opened, plan))
        return accepted_in(texts_of_entry(prepared.entry).items(), replayed)


def _replayed(table: Table, plan: Plan) -> Replayed:
    """Refuse identifying columns that are shared unmasked; return the values that the entry must not list."""
    instead, reasons = "mask it in every configuration, or remove it", identifying_in(table, plan)
    shared = shared_as_they_are(plan, plan.configurations)
    refuse_identifiers(table, plan.source, shared, instead, label=plan.label, known=reasons)
    return Replayed.of(table, table.columns, plan.left_out, reasons)


def refuse_outputs(table: Source, plan: Plan, output: Path, plan_output: Path | None) -> None:
    """Refuse outputs that are the same file or an input, before any work.

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
