"""The steps of a release; each uses the files of earlier ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from aegis_provider.advice import EntryAdvice, advise
from aegis_provider.counting.counts import tally
from aegis_provider.counting.people import MOST_ROWS, repeating_in
from aegis_provider.entry import small_below, write_entry
from aegis_provider.errors import PlanError, shortened
from aegis_provider.files import digest_of
from aegis_provider.identifiers import (
    Replayed,
    accepted_in,
    identifying,
    identifying_in,
    refuse_identifiers,
    refuse_written,
    texts_of_entry,
    values_of,
)
from aegis_provider.masking import MaskingFunction
from aegis_provider.plan.limits import with_demands, with_person
from aegis_provider.plan.model import IDENTITY, Plan
from aegis_provider.plan.reading import load_plan
from aegis_provider.processes import Stage
from aegis_provider.records import held_out_share
from aegis_provider.release.apply import apply
from aegis_provider.search.utility import measure_of_search
from aegis_provider.table import Source, Table, open_table, table_name
from aegis_provider.table.discretization import discretized
from aegis_provider.table.formulas import unescaped_table
from aegis_provider.table.notation import Writing, plainly
from aegis_provider.table.values import MISSING, Domain
from aegis_provider.workflow.aim import Aim
from aegis_provider.workflow.card_making import Masked, Summarised
from aegis_provider.workflow.deadline import Deadline
from aegis_provider.workflow.folder import Folder, digests_of
from aegis_provider.workflow.generating import LEVELS, Drawn, file_at, refuse_equal_ids
from aegis_sdk.wire import EntryDocument, Verdict, publishable, read_json

if TYPE_CHECKING:  # slow to load
    from aegis_provider.control import LastingRandomness
    from aegis_provider.disclosure import Judged
    from aegis_provider.ledger import HeldBack, Leaving
    from aegis_provider.prepare import PreparedEntry

PLAN: Final = "plan.yaml"
FOUND: Final = "configurations.yaml"
ENTRY: Final = "entry.json"
MASKED: Final = "masked.csv"

_DRAFT: Final = "draft"
_MASKS: Final = "masks"


@dataclass(frozen=True)
class Steps:
    """The steps of a release in a folder.

    Attributes:
        aim: The requirements on the release.
        given: The plan to use instead of a drafted one, if any.
        name: The name of the entry.
        how: Options for reading the table: `delimiter` and `memory_limit`.
        stage: Shows the progress.
        accept_identifiers: Whether the release may contain identifying values.
        escape_formulas: Whether cells of the masked table that a spreadsheet would run get an apostrophe before them.
        new_randomness: Whether to round afresh, not by the user's key.
        reads: Options for drafting a plan: `index`, `odd_as_missing`, `fold_case` and `keep_leaks`.
        again: Whether to measure the configurations of the given plan again, without a search.
        leaving: What the ledger keeps of the masked table; `None` if it goes nowhere, as one in a temporary folder.
        held: The records that a masked table holds back, by configuration, as decided in this run.
        masked: The masked tables of this run, by configuration.
    """

    table: Source
    aim: Aim
    folder: Folder
    given: Path | None
    name: str
    how: Mapping[str, Any]
    stage: Stage
    deadline: Deadline
    accept_identifiers: bool = False
    escape_formulas: bool = False
    new_randomness: bool = False
    reads: Mapping[str, Any] = field(default_factory=dict)
    again: bool = False
    leaving: Leaving | None = None
    held: dict[str, HeldBack | None] = field(default_factory=dict)
    masked: dict[str, Masked] = field(default_factory=dict)

    @cached_property
    def origin(self) -> Mapping[str, Any]:
        """The inputs of every step. A table that is not in files may have changed, so its results are not reused."""
        made_from = {"table": digests_of(self.table) or uuid4().hex, "aim": self.aim.as_json(), "how": dict(self.how)}
        return {**made_from, "accepts": self.accept_identifiers}

    @property
    def asked(self) -> dict[str, Any]:
        """What the release was asked to be, so that it can be repeated; never what was accepted by name."""
        aim = {**self.aim.as_json(), "generates": self.aim.generates, "configuration": self.aim.configuration}
        asked = {"aim": aim, "name": self.name, "how": dict(self.how), "escape_formulas": self.escape_formulas}
        return asked if self.leaving is None else {**asked, "to": self.leaving.to}

    @property
    def plan(self) -> Path:
        """The plan: the given one, or the one in the folder."""
        return self.given or self.folder.file(PLAN)

    @property
    def made_by(self) -> str:
        """The command that makes the entry."""
        table, plan = table_name(self.table), self.folder.file(FOUND)
        return f"aegis summarize {table} --plan {plan} --name {self.name} --output ENTRY"

    @cached_property
    def records(self) -> int:
        """The number of records of the table."""
        with open_table(self.table, **self.how) as opened:
            return opened.records()

    def draft(self) -> None:
        """Draft a plan, unless there is one.

        Raises:
            PlanError: As `planned`.
            IdentifierError: The label, or a column that the plan shares unmasked, identifies persons.
        """
        if self.given is None and not self.plan.exists():
            self._draft()
            return
        plan = self.planned()
        if not self.accept_identifiers:
            raw = [
                attribute.name
                for attribute in plan.attributes
                if attribute.identity and attribute.discretization is None
            ]
            with open_table(self.table, **self.how) as opened:
                as_read = plainly(opened, plan.writings)
                shared = [*(name for name in (plan.label,) if name not in plan.binned), *raw]
                refuse_identifiers(as_read, plan.source, shared, label=plan.label, left_out=plan.left_out)

    def _draft(self) -> None:
        from aegis_provider.draft import start  # noqa: PLC0415 - slow to load

        whose = {"person": self.aim.person, "rows_per_person": self.aim.rows_per_person}
        how = {"accept_identifiers": self.accept_identifiers, **whose, **self.reads, **self.how}
        with self.stage("looking at the columns") as progress:
            how |= {"other_labels": self.aim.other_labels} if self.aim.other_labels else {}
            started = start(self.table, self.aim.label, self.plan, progress=progress, **how)
        if any(self.reads.values()):
            self.folder.remember(_DRAFT, self.reads)
        said = [
            f"reading {shortened(each.column.name)}: {remark}" for each in started.attributes for remark in each.remarks
        ]
        said += started.warnings
        explained = {*started.leaks.left_out, *started.leaks.copies}
        said += [f"left out: {shortened(name)} {why}" for name, why in started.left_out.items() if name in explained]
        for each in said:
            with self.stage(each):
                pass

    def planned(self) -> Plan:
        """Return the plan in the file.

        Raises:
            PlanError: The plan is invalid or for another label, or an option was given that only drafting uses.
        """
        asked = [name for name, is_asked in self.reads.items() if is_asked]
        if asked and (self.given or not self.folder.remembers(_DRAFT, self.reads)):
            kind = "given" if self.given else "there already"
            raise PlanError(
                f"{self.plan}: a plan that is {kind} says how columns are read; write it there, without "
                f"{', '.join(asked)}"
            )
        plan = load_plan(self.plan, configurations_needed=False)
        if plan.label != self.aim.label:
            wanted, other = shortened(self.aim.label), "plan" if self.given else "folder"
            raise PlanError(
                f"{self.plan}: is for the label {shortened(plan.label)}, not {wanted}; name another {other}"
            )
        if self.aim.other_labels and set(self.aim.other_labels) != set(plan.other_labels):
            wanted = ", ".join(map(shortened, (self.aim.label, *self.aim.other_labels)))
            raise PlanError(
                f"{self.plan}: is for {', '.join(map(shortened, plan.labels))}, not {wanted}; edit `labels`"
            )
        if self.again:  # its generated tables are drawn again
            own = tuple(each for each in plan.generated if each.file.parent != self.folder.path)
            plan = replace(plan, generated=own)
        plan = with_person(plan, self.aim.person, self.aim.rows_per_person)
        plan = with_demands(plan, self.aim.keep, self.aim.weights)
        measure_of_search(self.aim.measure, plan)  # refuses weights that it cannot take
        return plan

    @cached_property
    def replayed(self) -> Replayed:
        """The identifying values of the table; all output is searched for them."""
        with open_table(self.table, **self.how) as given:
            opened = plainly(given, self.found.writings)
            reasons = identifying_in(opened, self.found)
            return Replayed.of(opened, opened.columns, self.found.left_out, reasons)

    def generate(self) -> tuple[Drawn, ...]:
        """Generate the requested tables, and attack them.

        Raises:
            PlanError: No attribute may be generated.
            TableError: The table is too small to learn from.
        """
        if not self.aim.generates:
            return ()
        plan = self.planned()
        refuse_equal_ids(plan)
        return tuple(self._drawn(plan, level) for level in LEVELS)

    def _drawn(self, plan: Plan, level: float) -> Drawn:
        from aegis_provider.synth.offer import draw_table  # noqa: PLC0415 - loaded only with --also-generate

        def work() -> Drawn:
            with self.stage(f"generating a table, and attacking it: privacy {level:g}"):
                return draw_table(self.table, plan, level, self.folder.path, held_out_share(plan, None), self.how)

        inputs = {"table": self.origin["table"], "how": dict(self.how), "plan": digest_of(self.plan)}
        return self.folder.step(file_at(level), inputs, [file_at(level)], Drawn, work)

    def summarise(self) -> tuple[EntryDocument, Summarised]:
        """Count what the configurations share, write the entry, and rank the configurations by the exact counts."""
        from aegis_provider.prepare import key_warnings  # noqa: PLC0415 - controls are slow to load

        for warning in filter(None, [self.chance.made, *key_warnings(self.chance, self.found)]):
            with self.stage(warning):
                pass
        wanted = {"configuration": self.aim.configuration, "before": self.aim.before}
        chosen = {name: each for name, each in wanted.items() if each}
        inputs = self.inputs_of(FOUND, name=self.name, key=self.chance.fingerprint, **chosen)  # of a key, of a table
        found = self.folder.step("entry", inputs, [ENTRY], Summarised, self._summarise)
        return publishable(read_json(self.folder.file(ENTRY).read_bytes())), found

    @cached_property
    def chance(self) -> LastingRandomness:
        """The randomness of the entry.

        Raises:
            StateError: The user's key cannot be used.
        """
        from aegis_provider.control import LastingRandomness  # noqa: PLC0415 - controls are slow to load
        from aegis_provider.prepare import ONE_MORE_LOOK  # noqa: PLC0415
        from aegis_provider.state import lasting_randomness  # noqa: PLC0415

        return LastingRandomness(warning=ONE_MORE_LOOK) if self.new_randomness else lasting_randomness()

    def remember_key(self) -> None:
        """Keep which key the entry was rounded by, now that it stays."""
        from aegis_provider.prepare import remember  # noqa: PLC0415 - loaded by now, if there is an entry

        remember(self.chance, self.found)

    def _summarise(self) -> Summarised:
        from aegis_provider.draft.leaks import telling_in  # noqa: PLC0415 - drafting is slow to load
        from aegis_provider.workflow.entry import draw_entry  # noqa: PLC0415

        drawn = draw_entry(
            self.table,
            self.found,
            self.name,
            self.chance,
            self._masked_by_best,
            self._together,
            self.stage,
            {"accept_identifiers": True, **self.how},  # what it lists is searched below, for more
            self.deadline.for_rounding,
        )
        prepared, advice = drawn.prepared, drawn.advice
        listed = texts_of_entry(prepared.entry).items()
        if not self.accept_identifiers:
            refuse_written(listed, self.replayed, f"{self.found.source}: the entry")
        if self.found.generated:
            from aegis_provider.synth.offer import with_generated  # noqa: PLC0415 - few plans need it

            with self.stage("learning rules from each release") as progress:
                prepared = with_generated(prepared, progress=progress, **self.how)
            advice = self._masked_by_best(prepared)
        write_entry(self._as_held(prepared.entry, advice.best.id), self.folder.file(ENTRY))
        accepted = accepted_in(listed, self.replayed)
        return Summarised(advice, prepared.telling, accepted, drawn.in_time, tuple(telling_in(prepared.counted)))

    def _masked_by_best(self, prepared: PreparedEntry) -> EntryAdvice:
        """Rank the configurations by the exact counts, and mask the table by the best or the chosen one."""
        with self.stage("ranking the configurations"):
            left_out = {configuration.id: configuration.suppressed or 0 for configuration in self.found.configurations}
            found = advise(prepared.counted, self.aim.measure, left_out, self.found.weights)
            advice = self.aim.choosing(found, self.found)
        self.mask(advice)
        return advice

    def judge(self, entry: EntryDocument) -> Judged:
        """Judge what the counts of the entry give away."""
        from aegis_provider.disclosure import Judged, verdict_on  # noqa: PLC0415 - slow to load

        def work() -> Judged:
            with self.stage("judging what the counts give away"):
                return verdict_on(entry, self.deadline.for_verdict)

        return self.folder.step(
            "verdict", self.inputs_of(ENTRY), [], Judged, work, lambda each: _is_decided(each.verdict)
        )

    def judge_together(self, entry: EntryDocument, configuration: str) -> Verdict:
        """Judge what the entry and the masked table together give away."""
        inputs = {**self.inputs_of(ENTRY), MASKED: digest_of(self.folder.file(MASKED)), "configuration": configuration}
        return self.folder.step(
            "together", inputs, [], Verdict, lambda: self._together(entry, configuration), _is_decided
        )

    def _together(self, entry: EntryDocument, configuration: str) -> Verdict:
        from aegis_provider.receiving.with_entry import judged_beside  # noqa: PLC0415 - slow to load

        with self._as_masked() as masked:
            held, seconds = self.held.get(configuration) is not None, self.deadline.for_verdict
            return judged_beside(self._as_held(entry, configuration), configuration, masked, seconds, held_back=held)

    def _as_held(self, entry: EntryDocument, configuration: str) -> EntryDocument:
        """Return the entry as far as its masked table keeps it without the records that are held back."""
        from aegis_provider.workflow.leaving import as_reached  # noqa: PLC0415 - it imports this module

        if self.held.get(configuration) is None:
            return entry
        checked = self.masked[configuration].applied.checked
        measured = checked.reached, checked.by_label
        return as_reached(entry, self.found.configuration(configuration), *measured, self.found.sensitive)

    @contextmanager
    def _as_masked(self) -> Iterator[Table]:
        """Open the masked table, without apostrophes before formulas."""
        with open_table(self.folder.file(MASKED), **self.how) as opened:
            yield unescaped_table(opened, self.found.columns) if self.escape_formulas else opened

    def mask(self, advice: EntryAdvice) -> Masked:
        """Write the table masked by the best configuration, without the records that are held back."""
        from aegis_provider.workflow.leaving import held_back  # noqa: PLC0415 - it imports this module

        configuration = advice.best.id
        inputs = self.inputs_of(FOUND, configuration=configuration, escapes=self.escape_formulas)
        held = held_back(self, advice, made_alike=self.folder.remembers(_MASKS, inputs))
        of_held = inputs if held is None else {**inputs, "held": held.digest}
        masked = self.folder.step("masked", of_held, [MASKED], Masked, lambda: self._mask(configuration, held))
        self.folder.remember(_MASKS, inputs)
        self.masked[configuration] = masked
        return masked

    def _mask(self, configuration: str, held: HeldBack | None) -> Masked:
        output = self.folder.file(MASKED)
        with self.stage("masking records") as progress:
            how = {"accept_identifiers": self.accept_identifiers, "accept_unique": True, **self.how}  # judged later
            how = {"escape_formulas": self.escape_formulas, "held": None if held is None else held.records, **how}
            applied = apply(self.table, self.found, configuration, output, progress=progress, **how)
        with open_table(self.table, **self.how) as original, self._as_masked() as masked:
            plain = plainly(original, {self.aim.label: self.found.writings.get(self.aim.label, Writing())})
            before = discretized(plain, self.found.label_bins).counts_of_values(self.aim.label)
            after = plainly(masked, {self.aim.label: Writing()}).counts_of_values(self.aim.label)
            blanks = dict(self._blanks(masked))
        shown = self._as_shown(before, configuration)
        return Masked(applied, {label: (records, after.get(label, 0)) for label, records in shown.items()}, blanks)

    def _as_shown(self, records: Mapping[str, int], configuration: str) -> dict[str, int]:
        """Return the records of each label value, in order, as a configuration shows the label."""
        domain, label = Domain.of(records, order=self.found.order), self.found.label_as
        choice = self.found.configuration(configuration).maskings.get(self.found.label, IDENTITY)
        masking = None if label is None or label.discretization is not None else label.masking(choice)
        texts: Sequence[str] = domain.texts
        if masking is not None and isinstance(masking.function, MaskingFunction):
            texts = masking.function.mask(domain)
        shown = dict.fromkeys(texts, 0)
        for value, text in zip(domain.texts, texts, strict=True):
            shown[text] += records[value]
        return shown

    def _blanks(self, masked: Table) -> Iterator[tuple[str, str]]:
        """Yield each column of the masked table with missing values, and the label if all of these have one.

        Of fewer than five people the label is not told: the head of the card is read without the masked table, too.
        """
        names = [name for name in masked.columns if name != self.aim.label]
        few = small_below(1 if self.found.person is None else self.found.rows_per_person or MOST_ROWS)
        for name, counted in zip(names, tally(masked, names, self.aim.label), strict=True):
            is_blank = counted.texts == MISSING
            labels = set(counted.labels[is_blank].tolist())
            if labels:
                told = len(labels) == 1 and counted.counts[is_blank].sum() >= few
                yield name, next(iter(labels)) if told else ""

    @cached_property
    def found(self) -> Plan:
        """The plan with the configurations, available after `search`.

        Messages name the original plan, since that is the one to edit.
        """
        return load_plan(self.folder.file(FOUND), source=str(self.plan))

    @cached_property
    def repeating(self) -> tuple[str, ...]:
        """The identifiers left out that are the same in several records, if records are counted."""
        if self.found.person is not None:
            return ()
        with open_table(self.table, **self.how) as opened:
            names = [name for name in self.found.left_out if name in opened.columns]
            return repeating_in(opened, list(identifying(opened, values_of(opened, names))) if names else [])

    def inputs_of(self, file: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
        """Return the inputs of a step that uses this file."""
        return {**self.origin, file: digest_of(self.folder.file(file)), **more}


def _is_decided(verdict: Verdict) -> bool:
    return all(finding.reason != "undecided" for finding in verdict.findings)
