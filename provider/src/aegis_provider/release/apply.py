"""Writes the masked table of a configuration and checks it before release."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pyarrow as pa

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.errors import PlanError, PromiseError
from aegis_provider.identifiers import (
    identifying_in,
    refuse_identifiers,
    shared_as_they_are,
)
from aegis_provider.output import none_if_refused, refuse_overwriting, written_whole
from aegis_provider.plan.model import DROP, Configuration, Plan
from aegis_provider.privacy import refuse_without_order
from aegis_provider.progress import Progress
from aegis_provider.release.blocks import Release
from aegis_provider.release.checked import Checked
from aegis_provider.release.promise import Promise, Suppression
from aegis_provider.release.shuffle import shuffled
from aegis_provider.release.table_file import refuse_escaping, write_table
from aegis_provider.table import Source, Table, delimiter_in, open_table
from aegis_provider.table.formulas import unescaped_table
from aegis_provider.table.notation import plainly


@dataclass(frozen=True)
class Applied:
    """The result of `apply`.

    Attributes:
        records: The number of records written.
        suppressed: The number of records left out.
        suppressed_cells: The number of single cells that became `*`.
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

    @property
    def reached(self) -> Mapping[str, int | float]:
        """The privacy of the written table; empty if none is promised."""
        return self.checked.reached

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
    memory_limit: str = "1GB",
    force: bool = False,
    keep_order: bool = False,
    escape_formulas: bool = False,
    accept_identifiers: bool = False,
    accept_unique: bool = False,
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
        output: The file to write.
        delimiter: The delimiter of the output, and of a CSV table; by default, the one in its header.
        memory_limit: The memory limit of DuckDB, which spills the rest to disk.
        force: Whether to write the table even if it breaks a promise.
        keep_order: Whether records keep the order of the table.
        escape_formulas: Whether cells and headers of CSV that a spreadsheet would run get an apostrophe before them.
        accept_identifiers: Whether to write the table even if it contains identifying values.
        accept_unique: Whether to write it even if it shows values of fewer records than the promised `k`, or names that
            disclose values of fewer than 20.
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
    ):
        opened = plainly(given, plan.writings)
        reasons = _identifying(opened, plan, chosen, accept_identifiers=accept_identifiers)
        counted = CountedTable.of(opened, plan)
        refuse_without_order(chosen.privacy, counted, plan)
        promise = Promise.of(Release.of(counted, plan, chosen), plan, chosen)
        suppression = _suppression(promise, progress)
        faults = [] if suppression is None else [*promise.declared_otherwise(suppression)]
        _refuse(plan, faults, force=force)
        blocks, separator = iter(_blocks(promise.release, suppression, progress)), opened.delimiter or ","
        if not keep_order:
            first = next(blocks)
            blocks = shuffled(chain([first], blocks), counted.records, first.schema, part.parent)
        kept = promise.release if suppression is None else suppression.release
        formulas = _write(part, output, kept, blocks, separator, escape_formulas=escape_formulas)
        with open_table(part, delimiter=separator, memory_limit=memory_limit) as again:
            written = unescaped_table(again, kept.names) if escape_formulas else again
            how = {"accept_identifiers": accept_identifiers}
            checked = Checked.of(opened, written, promise, suppression, plan, reasons, **how)
        faults += promise.broken(checked.reached)
        faults += [] if accept_unique else checked.faults
        _refuse(plan, faults, force=force)
    left_out, cells = (0, 0) if suppression is None else (suppression.suppressed.records, suppression.suppressed.cells)
    warnings = (*counted.doubtful_types(plan), *formulas)
    return Applied(counted.records - left_out, left_out, cells, chosen.privacy, checked, tuple(faults), warnings)


def _identifying(table: Table, plan: Plan, chosen: Configuration, *, accept_identifiers: bool) -> Mapping[str, str]:
    """Return how the columns that a configuration shares identify persons.

    Raises:
        IdentifierError: A column shared unmasked identifies persons, and that is not accepted.
    """
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


def _suppression(promise: Promise, progress: Progress) -> Suppression | None:
    """Return what to suppress, or `None` if the plan declares nothing.

    Raises:
        PromiseError: Every record would be suppressed.
    """
    configuration = promise.configuration
    if not configuration.suppresses:
        return None
    records = promise.release.counted.records
    suppression = promise.suppression(_counted(promise.judged.blocks(), progress, 0, 2 * records))
    if suppression.suppressed.records == records:
        raise PromiseError(f"{configuration.id}: every record breaks its promise; there is nothing to write")
    return suppression


def _blocks(release: Release, suppression: Suppression | None, progress: Progress) -> Iterable[pa.RecordBatch]:
    records = release.counted.records
    if suppression is None:
        return _counted(release.coded_blocks(), progress, 0, records)
    return suppression.applied(_counted(release.blocks(), progress, records, 2 * records))


def _counted(blocks: Iterable[pa.RecordBatch], progress: Progress, done: int, total: int) -> Iterator[pa.RecordBatch]:
    for block in blocks:
        yield block
        done += block.num_rows
        progress(done, total)
