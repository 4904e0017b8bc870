"""Writes the masked table of a configuration and checks it before release."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.errors import PlanError, PromiseError
from aegis_provider.files import none_if_refused, refuse_overwriting, written_whole
from aegis_provider.identifiers import (
    Replayed,
    accepted_beside,
    accepted_in_words,
    identifying_in,
    refuse_identifiers,
    refuse_written,
    shared_as_they_are,
    texts_written,
)
from aegis_provider.plan.model import DROP, Configuration, Plan
from aegis_provider.privacy import (
    BY_LABEL,
    KnownRows,
    certain_and_guessable,
    measure_privacy,
    measure_worst,
    refuse_without_order,
)
from aegis_provider.processes import Progress
from aegis_provider.release.alone import CountedAlone, alone_in
from aegis_provider.release.blocks import Release
from aegis_provider.release.promise import Promise, Suppression
from aegis_provider.release.shown_values import ShownValues, shown_values
from aegis_provider.release.table_file import refuse_escaping, shuffled, without_person, write_table
from aegis_provider.table import Source, Table, delimiter_in, open_table
from aegis_provider.table.formulas import unescaped_table
from aegis_provider.table.notation import plainly


@dataclass(frozen=True)
class Checked:
    """The results of checking a written masked table.

    Attributes:
        reached: Its privacy; empty if none is promised.
        shown: The unmasked values that few of its records have.
        alone: The records that are alone on all of its columns without the label.
        replayed: The kinds of identifying values of the table that were searched for without a match, and the columns
            where they were accepted.
        accepted: The columns with accepted identifying values, and the kinds of these.
        certain: The number of its records in classes with one value of some sensitive attribute, and
        guessable: of those in classes where a guess of one is over 95 % right; 0 if no privacy is promised.
        judged: The number of its records, or of people, each once in every class with a record of theirs; 0 if no
            privacy is promised.
        known: The people with too few alike to someone who knows some of their records; `None` if records are people,
            or no privacy is promised.
        by_label: With several labels, its `k` and `l` in the attack on each.
    """

    reached: Mapping[str, int | float]
    shown: ShownValues
    alone: CountedAlone
    replayed: str
    accepted: Mapping[str, str]
    certain: int = 0
    guessable: int = 0
    judged: int = 0
    known: KnownRows | None = None
    by_label: Mapping[str, Mapping[str, int | float]] = field(default_factory=dict)

    @property
    def faults(self) -> tuple[str, ...]:
        """Faults to accept where privacy is promised: names that disclose rare values, and values below `k`."""
        names = (each.in_words() for each in self.shown.telling) if self.reached else ()
        return (*names, *filter(None, [self.shown.below_k_in_words]))

    @classmethod
    def of(
        cls,
        table: Table,
        written: Table,
        whose: Table | None,
        promise: Promise,
        suppression: Suppression | None,
        plan: Plan,
        reasons: Mapping[str, str],
        *,
        accept_identifiers: bool,
        asked_k: float | None = None,
    ) -> "Checked":
        """Check a written table.

        Args:
            table: The original table.
            written: The written table.
            whose: The same records with the column that says whose each is; `None` if records are people.
            promise: The promise of its configuration.
            suppression: What was suppressed in it, if anything.
            reasons: Why columns of the original table identify persons.
            accept_identifiers: Whether it may contain identifying values.
            asked_k: See `apply`.

        Raises:
            OutputError: The table differs from what was written.
            TableError: A table cannot be read.
            IdentifierError: It contains an identifying value, and that is not accepted.
        """
        chosen, counted = promise.configuration, promise.release.counted
        reached, told, judged, known, by_label = {}, (0, 0), 0, None, {}
        if chosen.privacy:
            records = promise.records(written, suppression)
            classes, known = promise.classes(records, suppression), promise.known_rows(records, asked_k)
            reached, told = measure_worst(classes), certain_and_guessable(classes)
            judged, attacks = int(classes[0].sizes.sum()), zip(promise.roles, classes, strict=True)
            by_label = {one.label: measure_privacy(each, BY_LABEL) for one, each in attacks if one.label}
        there, person = (written, None) if whose is None else (whose, counted.person)
        alone, shown = alone_in(there, plan.label, person), shown_values(there, counted, plan, chosen, person)
        searched = _searched(table, written, plan, chosen, reasons, accept_identifiers=accept_identifiers)
        return cls(reached, shown, alone, *searched, *told, judged, known, by_label)


def _searched(
    table: Table,
    written: Table,
    plan: Plan,
    chosen: Configuration,
    reasons: Mapping[str, str],
    *,
    accept_identifiers: bool,
) -> tuple[str, dict[str, str]]:
    """Search the file itself for identifying values; return the kinds without a match, and the columns with some."""
    shared = shared_as_they_are(plan, [chosen])
    others = [name for name in table.columns if name not in shared]
    replayed = Replayed.of(table, others, plan.left_out, {name: reasons[name] for name in others if name in reasons})
    if not accept_identifiers:
        refuse_written(texts_written(written), replayed, plan.source)
        return replayed.in_words(), {}
    raw = {name: reasons[name] for name in shared if name in reasons}
    accepted = accepted_beside(texts_written(written), replayed, raw)
    parts = (replayed.in_words(set(accepted.values())), accepted_in_words(accepted))
    return "; ".join(filter(None, parts)), accepted


@dataclass(frozen=True)
class Applied:
    """The result of `apply`.

    Attributes:
        records: The number of records written.
        suppressed: The number of records left out.
        suppressed_cells: The number of single cells that became `*`.
        held_back: The number of other records that were held back.
        promised: The privacy that the configuration promises, by name.
        checked: The results of checking the written table.
        faults: A sentence for each fault of the written table; empty unless its writing was forced.
        warnings: A sentence for each disclosure in it that its provider may not expect.
    """

    records: int
    suppressed: int
    suppressed_cells: int
    promised: Mapping[str, int | float]
    checked: Checked
    faults: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    held_back: int = 0

    @property
    def reached(self) -> Mapping[str, int | float]:
        """The privacy of the written table; empty if none is promised."""
        return self.checked.reached

    @property
    def of_people(self) -> bool:
        """Whether its privacy counts people who can have several records."""
        return self.checked.shown.of_people

    @property
    def unchecked(self) -> tuple[str, ...]:
        """The names of promises that cannot be measured on a table, such as `epsilon`."""
        return tuple(name for name in self.promised if name not in self.reached)


def apply(
    table: Source,
    plan: Plan,
    configuration: str,
    output: Path,
    *,
    delimiter: str | None = None,
    separator: str | None = None,
    memory_limit: str = "1GB",
    force: bool = False,
    keep_order: bool = False,
    escape_formulas: bool = False,
    accept_identifiers: bool = False,
    accept_unique: bool = False,
    asked_k: float | None = None,
    leaves: Callable[[Path], object] = lambda _part: None,
    held: NDArray[np.bool_] | None = None,
    progress: Progress = lambda _done, _records: None,
) -> Applied:
    """Write the table as the configuration masks it: as Parquet if the output ends in `.parquet`, otherwise as CSV.

    The columns are the label and the attributes that are not dropped, in the table's order; no other column is
    published. Records are shuffled, since their order can identify people. Unmasked values keep their text in CSV, or
    the plainest of several texts for one value; in Parquet they keep their type where that loses nothing. A missing
    value is a blank. If the plan declares suppressed records or cells, the records of equivalence classes that break
    the promise are suppressed, wholly or in part, which takes another pass over the table. The written file is then
    read back. It must reach the promised privacy, and contain no e-mail address, name of a person or other identifying
    value. The file appears whole or not at all. If it is refused, an older file of its name is removed, too.

    Args:
        table: Anything that `open_table` accepts.
        plan: The plan with the configuration.
        configuration: The id of the configuration.
        delimiter: The delimiter of a CSV table; by default, the one in its header.
        separator: The delimiter of the output; by default, that of the table.
        memory_limit: The memory limit of DuckDB, which spills the rest to disk.
        force: Whether to write the table even if it breaks a promise.
        keep_order: Whether records keep the order of the table.
        escape_formulas: Whether cells and headers of CSV that a spreadsheet would run get an apostrophe before them.
        accept_identifiers: Whether to write the table even if it contains identifying values.
        accept_unique: Whether to write it even if it shows values of fewer records than the promised `k`, or names that
            disclose values of fewer than 20.
        asked_k: The `k` that was asked for, if that is not the promised one, to count `Checked.known` by.
        leaves: Called with the whole file before it appears: a function that asks the ledger of what left, and keeps
            it there (`aegis_provider.ledger.leave`). By default the file is taken to stay on this machine.
        held: (records,) The records to hold back, in the order of the table; `None` for none.
        progress: Called with the number of records masked.

    Raises:
        PlanError: The configuration is unknown, one of its maskings was done elsewhere, or its promise needs ordered
            sensitive values.
        TableError: The table cannot be read or does not fit the plan.
        OutputError: The output cannot be written, or is Parquet and formulas were to be escaped.
        IdentifierError: A column shared unmasked, or a masked value, identifies persons, and `accept_identifiers` is
            off.
        PromiseError: A promise is broken, or suppression differs from the declaration, and `force` is off.
    """
    chosen, delimiter = plan.configuration(configuration), delimiter or delimiter_in(table, plan.label)
    refuse_masked_elsewhere(plan, chosen)
    refuse_overwriting(output, table, *plan.files)
    if escape_formulas:
        refuse_escaping(output)
    with (
        none_if_refused(output),
        written_whole(output) as part,
        open_table(table, delimiter=delimiter, memory_limit=memory_limit) as given,
        TemporaryDirectory(prefix="aegis-people-", dir=part.parent) if plan.person else nullcontext("") as aside,
    ):
        opened = plainly(given, plan.writings)
        reasons = _identifying(opened, plan, chosen, accept_identifiers=accept_identifiers)
        counted = CountedTable.of(opened, plan)
        refuse_without_order(chosen.privacy, counted, plan)
        promise = Promise.of(Release.of(counted, plan, chosen), plan, chosen)
        suppression = _suppression(promise, held, progress)
        faults = [] if suppression is None else [*promise.declared_otherwise(suppression)]
        _refuse(plan, faults, force=force)
        separator = separator or opened.delimiter or ","
        whose = None if counted.person is None else Path(aside) / "whose.parquet"
        blocks = iter(_blocks(promise.release, suppression, progress))
        blocks = blocks if whose is None else without_person(blocks, promise.release.by_person().names, whose)
        blocks = blocks if keep_order else _shuffled(blocks, counted.records, part.parent)
        kept = promise.release if suppression is None else suppression.release
        formulas = _write(part, output, kept, blocks, separator, escape_formulas=escape_formulas)
        with open_table(part, delimiter=separator, memory_limit=memory_limit) as again:
            written = unescaped_table(again, kept.names) if escape_formulas else again
            how: dict[str, Any] = {"accept_identifiers": accept_identifiers, "asked_k": asked_k}
            with nullcontext() if whose is None else open_table(whose, memory_limit=memory_limit) as of_people:
                checked = Checked.of(opened, written, of_people, promise, suppression, plan, reasons, **how)
        faults += promise.broken(checked.reached, suppression)
        faults += [] if accept_unique else checked.faults
        _refuse(plan, faults, force=force)
        leaves(part)
    warnings = (*counted.doubtful_types(plan), *formulas)
    return _applied(counted.records, suppression, promise.stated(suppression), checked, tuple(faults), warnings)


def _shuffled(blocks: Iterator[pa.RecordBatch], records: int, folder: Path) -> Iterator[pa.RecordBatch]:
    first = next(blocks)
    return shuffled(chain([first], blocks), records, first.schema, folder)


def _applied(
    records: int,
    suppression: Suppression | None,
    promised: Mapping[str, float],
    checked: Checked,
    faults: tuple[str, ...],
    warnings: tuple[str, ...],
) -> Applied:
    """Return what was written of a table of so many records."""
    if suppression is None:
        return Applied(records, 0, 0, promised, checked, faults, warnings, 0)
    left_out, cells, held = suppression.suppressed.records, suppression.suppressed.cells, suppression.held_back
    return Applied(records - left_out - held, left_out, cells, promised, checked, faults, warnings, held)


def _identifying(table: Table, plan: Plan, chosen: Configuration, *, accept_identifiers: bool) -> Mapping[str, str]:
    """Return how the columns that a configuration shares identify persons."""
    told = [attribute.name for attribute in plan.attributes if chosen.maskings[attribute.name] != DROP]
    reasons = identifying_in(table, plan, [plan.label, *told])
    if not accept_identifiers:
        instead = f"mask it in the configuration {chosen.id}, or remove it"
        refuse_identifiers(
            table, plan.source, shared_as_they_are(plan, [chosen]), instead, label=plan.label, known=reasons
        )
    return reasons


def _write(
    part: Path,
    output: Path,
    release: Release,
    blocks: Iterable[pa.RecordBatch],
    delimiter: str,
    *,
    escape_formulas: bool,
) -> tuple[str, ...]:
    """Write the records of a release; return warnings of spreadsheet formulas in the file."""
    domains = [column.domain for column in release.columns]
    categorical = [column.name for column in release.columns if column.categorical]
    return write_table(
        part,
        output,
        release.names,
        blocks,
        domains,
        delimiter,
        categorical=categorical,
        escape_formulas=escape_formulas,
    )


def refuse_masked_elsewhere(plan: Plan, chosen: Configuration) -> None:
    """Refuse a configuration with a masking known only from a table masked elsewhere.

    Raises:
        PlanError: It has such a masking.
    """
    for attribute in plan.attributes:
        masking = attribute.masking(chosen.maskings[attribute.name])
        if masking is not None and masking.is_elsewhere:
            described = masking.function.describe()
            raise PlanError(f"{masking.place}: the values are {described}; share that table itself")


def _refuse(plan: Plan, faults: Sequence[str], *, force: bool) -> None:
    if faults and not force:
        raise PromiseError(f"{plan.source}: {'; '.join(faults)}; nothing is written", can_be_forced=True)


def _suppression(promise: Promise, held: NDArray[np.bool_] | None, progress: Progress) -> Suppression | None:
    """Return what to suppress and to hold back, or `None` if the plan declares nothing, and nothing is held back."""
    configuration = promise.configuration
    if not configuration.suppresses and held is None:
        return None
    records = promise.release.counted.records
    suppression = promise.suppression(_counted(promise.judged.blocks(), progress, 0, 2 * records))
    if suppression.suppressed.records == records:
        raise PromiseError(f"{configuration.id}: every record breaks its promise; there is nothing to write")
    return replace(suppression, held=held)


def _blocks(release: Release, suppression: Suppression | None, progress: Progress) -> Iterable[pa.RecordBatch]:
    records = release.counted.records
    if suppression is None:
        return _counted(release.by_person().coded_blocks(), progress, 0, records)
    return suppression.applied(_counted(release.by_person().blocks(), progress, records, 2 * records))


def _counted(blocks: Iterable[pa.RecordBatch], progress: Progress, done: int, total: int) -> Iterator[pa.RecordBatch]:
    for block in blocks:
        yield block
        done += block.num_rows
        progress(done, total)
