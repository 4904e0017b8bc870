"""Copies a generated table that a plan offers, exactly the file with the stated digest."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from aegis_provider.digests import digest_of
from aegis_provider.errors import OutputError, PlanError, TableError, shortened
from aegis_provider.identifiers import Replayed, refuse_written, texts_written
from aegis_provider.output import none_if_refused, refuse_overwriting, written_whole
from aegis_provider.plan.generated import GeneratedTable
from aegis_provider.plan.model import Plan
from aegis_provider.table import Source, open_table
from aegis_provider.table.formulas import formulas_in, with_plain_header


@dataclass(frozen=True)
class HandedOut:
    """A copied generated table.

    Attributes:
        generated: The table.
        output: The file that was written.
        sha256: The SHA-256 of both.
        warning: A warning of spreadsheet formulas in it; empty if there are none.
    """

    generated: GeneratedTable
    output: Path
    sha256: str
    warning: str = ""


def hand_out(
    plan: Plan,
    table_id: str,
    output: Path,
    table: Source,
    delimiter: str = ",",
    *,
    accept_identifiers: bool = False,
) -> HandedOut:
    """Copy a generated table of a plan to the output, byte for byte the file that the plan states.

    Args:
        plan: The plan.
        table_id: The id of one of its generated tables.
        output: The file to write, with the ending of the generated one.
        table: The original table, which must not be overwritten.
        delimiter: The delimiter of CSV files.
        accept_identifiers: Whether it may contain identifying values.

    Raises:
        PlanError: The plan has no such generated table.
        IdentifierError: It contains an identifying value of the table, or one recognised by its form.
        TableError: Its file cannot be read, is not the stated one, or has columns that the plan never shares.
        OutputError: The output cannot be written.
    """
    generated = plan.generated_table(table_id)
    if generated is None:
        raise PlanError(f"{plan.source}: no generated table {table_id!r}")
    refuse_overwriting(output, table, *plan.files)
    if output.suffix.lower() != generated.file.suffix.lower():
        raise OutputError(
            f"{output}: the generated table is copied unchanged; name an output that ends in {generated.file.suffix}"
        )
    with none_if_refused(output), written_whole(output) as part:
        _copy(generated.file, part)
        refuse_unofferable(plan, generated, part, delimiter)
        if not accept_identifiers:
            _refuse_identifiers(plan, generated, table, part, delimiter)
        with open_table(part, delimiter=delimiter) as opened:
            said = formulas_in(opened).in_words()
    warning = f"{said}; generate the table with --escape-formulas" if said else ""
    return HandedOut(generated, output, generated.sha256, warning)


def _refuse_identifiers(plan: Plan, generated: GeneratedTable, table: Source, copy: Path, delimiter: str) -> None:
    with open_table(table, delimiter=delimiter) as real:
        shared = {plan.label, *(attribute.name for attribute in plan.attributes)}
        replayed = Replayed.of(real, [name for name in real.columns if name not in shared], plan.left_out)
    with open_table(copy, delimiter=delimiter) as written:
        refuse_written(texts_written(written), replayed, str(generated.file))


def refuse_unofferable(plan: Plan, generated: GeneratedTable, copy: Path | None = None, delimiter: str = ",") -> None:
    """Refuse a generated table that is not the stated one, or has columns that the plan never shares.

    Args:
        plan: The plan.
        generated: Its entry for the table.
        copy: A copy to check instead of the file.
        delimiter: The delimiter of CSV files.

    Raises:
        TableError: The file cannot be read, is another one, has no records, lacks the label, or has other columns.
    """
    file = copy or generated.file
    digest = digest_of(file)
    if digest != generated.sha256:
        raise TableError(
            f"{generated.file}: is not the table that {plan.source} states: its SHA-256 is {digest}, not "
            f"{generated.sha256}; restore that file, or take {generated.id} out of the plan"
        )
    shared = {plan.label, *(attribute.name for attribute in plan.attributes if attribute.is_generable)}
    with open_table(file, delimiter=delimiter) as given:
        opened = with_plain_header(given, shared)
        opened.positions([plan.label])
        others = [column for column in opened.columns if column not in shared]
        if others:
            raise TableError(
                f"{generated.file}: has the column {shortened(others[0])}, which the plan does not let be shared as it "
                "is; generate a table without it"
            )
        if not opened.records():
            raise TableError(f"{generated.file}: has no records")


def _copy(source: Path, target: Path) -> None:
    """Copy a file; the checks read the copy, so that a later change of the file cannot slip through."""
    try:
        reading = source.open("rb")
    except OSError as error:
        raise TableError(f"{source}: cannot be read: {error.strerror}") from error
    with reading, target.open("wb") as writing:
        shutil.copyfileobj(reading, writing)
