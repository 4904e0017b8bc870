"""The one safe path from a table to what is published of it: table, plan and controls in, entry and plan out."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from aegis_provider.control import (
    Control,
    ControlError,
    Controlled,
    Roles,
    apply_controls,
    controlled_plan,
    refuse_conflicts,
    with_suppressed,
    write_controlled_plan,
)
from aegis_provider.entry_file import document_of, entry_of, write_entry
from aegis_provider.entry_warnings import SMALL, Exposure
from aegis_provider.errors import OutputError
from aegis_provider.output import refuse_overwriting
from aegis_provider.plan.model import Plan
from aegis_provider.progress import Progress
from aegis_provider.summary import summarize
from aegis_provider.table import Source
from aegis_sdk.wire import EntryDocument


@dataclass(frozen=True)
class PreparedEntry:
    """An entry that is ready to be published, with the plan that goes with it.

    Attributes:
        table: What was counted; no output may take its place.
        intended: The plan as it was.
        controlled: The entry, and what the controls changed in it.
        exposure: What the entry shows that its provider may not expect.
    """

    table: Source
    intended: Plan
    controlled: Controlled
    exposure: Exposure

    @property
    def entry(self) -> EntryDocument:
        """What is published."""
        return self.controlled.entry

    @property
    def plan(self) -> Plan:
        """The plan that goes with the entry: what `apply` makes of this one is what the entry counts."""
        return controlled_plan(self.intended, self.controlled)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What its provider may not expect, a sentence each."""
        return tuple(self._warnings())

    def write(self, output: Path, plan_output: Path | None = None) -> None:
        """Writes the entry, and the plan that goes with it if it has somewhere to go: both or neither.

        Raises:
            OutputError: One of them cannot be written, or is a file that the entry was made from.
            ControlError: The plan was not read from a file.
            PlanError: The plan's file cannot be read any more.
        """
        refuse_outputs(self.table, self.intended, output, plan_output)

        def write_plan() -> None:
            if plan_output is not None:
                write_controlled_plan(self.intended.files[0], self.intended, self.controlled, plan_output)

        write_entry(self.entry, output, write_plan)

    def _warnings(self) -> Iterator[str]:
        yield from self.exposure.in_words()
        if privacy := self.controlled.changes.privacy:
            names = dict.fromkeys(name for each in privacy.values() for name in each)
            configurations = f"{len(privacy)} configuration{'s' * (len(privacy) > 1)}"
            yield f"merging may make {', '.join(names)} worse: {configurations} no longer vouch for it"
        for control in self.controlled.controls:
            yield from control.caveats()
        if self.exposure.small.counts and not self.controlled.controls:
            yield (
                f"{self.exposure.small.counts} counts are below {SMALL}, the smallest {self.exposure.small.smallest}: "
                "`aegis disclose` says what they give away, a minimum cell count (--min-cell) merges them"
            )


def prepare_entry(
    table: Source,
    plan: Plan,
    controls: Iterable[Control] = (),
    *,
    name: str,
    pairs: bool = False,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _total: None,
) -> PreparedEntry:
    """Counts a table as its plan says, and puts every count through the controls.

    Args:
        controls: Disclosure controls, in any order; none leaves every count as it is.
        name: Of the entry: a-z 0-9 - _ .
        pairs: Whether to count pairs of attributes, too, which the measure `joint` needs.
        memory_limit: DuckDB's; what exceeds it goes to disk.
        progress: Is told of the records that are counted, then of the cells that have their noise.

    Raises:
        PlanError: The plan cannot be summarised, or the name is unusable.
        TableError: The table cannot be read, or does not fit the plan.
        ControlError: The controls contradict each other, or these counts cannot go through them.
    """
    controls = tuple(controls)
    refuse_conflicts(controls)
    reading = {"delimiter": delimiter, "memory_limit": memory_limit}
    summary = summarize(table, plan, name=name, pairs=pairs, progress=progress, **reading)
    roles = Roles(plan.quasi_identifiers, plan.sensitive)
    controlled = apply_controls(summary, controls, roles, progress=progress)
    controlled = with_suppressed(controlled, table, plan, **reading)
    # What controls changed is held to the contract as what was counted is, and only what it says is set.
    entry = entry_of(document_of(controlled.entry), plan.source)
    return PreparedEntry(table, plan, replace(controlled, entry=entry), Exposure.of(entry))


def refuse_outputs(table: Source, plan: Plan, output: Path, plan_output: Path | None) -> None:
    """Refuses outputs that are one file, or one of the files that they are made from, before the work is done.

    Raises:
        OutputError: An output is an input, too, or cannot be a file, or both are one file.
        ControlError: The plan has no file that could be written again.
    """
    refuse_overwriting(output, table, *plan.files)
    if plan_output is None:
        return
    if not plan.files:
        raise ControlError("the plan was not read from a file, so that it cannot be written again")
    if plan_output.resolve() == output.resolve():
        raise OutputError(f"{plan_output}: the same file for the entry and the plan; choose another output")
    refuse_overwriting(plan_output, table, *plan.files)
