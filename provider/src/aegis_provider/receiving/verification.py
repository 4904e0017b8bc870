"""The verdict on a delivered table."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import duckdb

from aegis_provider.errors import MachineError, ProviderError, TableError
from aegis_provider.progress import Progress
from aegis_provider.receiving.comparison import Comparison
from aegis_provider.receiving.delivered import Delivered
from aegis_provider.receiving.parts import Part
from aegis_provider.receiving.privacy import Measured, measured
from aegis_provider.table import Table, delimiter_in, open_table
from aegis_provider.table.formulas import Formulas, with_plain_header
from aegis_sdk.wire import DataRequest, Evidence

_OF_THE_FILE: Final = (duckdb.InvalidInputException, duckdb.DataError)
"""DuckDB's errors about the content of a file; its other errors concern this machine or DuckDB itself."""


@dataclass(frozen=True)
class Fault:
    """A deviation from the agreement.

    Attributes:
        text: A sentence for the consumer, possibly with names from the file that nobody else may read.
        reason: The same without such names, for everybody.
    """

    text: str
    reason: str

    @classmethod
    def of(cls, text: str) -> "Fault":
        """Return a fault whose text everybody may read."""
        return cls(text, text)


@dataclass(frozen=True)
class Verified:
    """The result of verifying a delivered table.

    Attributes:
        records: Its number of records; `None` if it cannot be read.
        compared: The compared counts and their differences.
        privacy: Its measured privacy; `None` if not measurable.
        faults: All other deviations.
        comparison: The comparison with the evidence; `None` if the table cannot be counted.
        formulas: The spreadsheet formulas in the file, if it was counted.
    """

    records: int | None
    compared: Part
    privacy: Measured | None
    faults: tuple[Fault, ...]
    comparison: Comparison | None = None
    formulas: Formulas = field(default_factory=Formulas)

    @property
    def is_as_agreed(self) -> bool:
        """Whether there is no deviation."""
        return not self.compared.differing and not self.faults


def verify(
    path: Path,
    request: DataRequest,
    evidence: Evidence,
    *,
    delimiter: str | None = None,
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _total: None,
) -> Verified:
    """Count a delivered table and compare it with the published evidence on its configuration.

    Args:
        path: The file, CSV or Parquet.
        request: The request that it was delivered for.
        evidence: The published counts.
        delimiter: The delimiter of a CSV file; by default, the one in its header.
        memory_limit: DuckDB's memory; the rest goes to disk.
        progress: Called with (steps done, steps).

    Raises:
        TableError: The given delimiter differs from the header's, and the table read with it deviates.
        MachineError: This machine cannot count the file, for example for lack of memory or disk.
        OSError: Likewise.
    """
    progress(0, 2 + len(evidence.pairs))
    in_header = delimiter_in(path, evidence.label.name)
    verified = _counted(path, request, evidence, delimiter or in_header, memory_limit, progress)
    if delimiter not in (None, in_header) and not verified.is_as_agreed and not _is_parquet(path):
        first = next((fault.text for fault in verified.faults), "counts differ")
        raise TableError(
            f"with the delimiter {delimiter!r}, {first}; the header looks separated by {in_header!r}: omit "
            "--delimiter (nothing was posted)"
        )
    return verified


def _counted(
    path: Path, request: DataRequest, evidence: Evidence, delimiter: str, memory_limit: str, progress: Progress
) -> Verified:
    try:
        with open_table(path, delimiter=delimiter, memory_limit=memory_limit) as table:
            return _verified(table, request, evidence, progress)
    except (ProviderError, MemoryError, duckdb.Error) as error:
        if _is_of_this_machine(error):
            raise MachineError(f"this machine cannot count the file, so nothing was posted: {error}") from error
        fault = Fault(f"the file cannot be counted: {error}", "the file cannot be counted")
        return Verified(None, Part(0), None, (fault,))


def _is_of_this_machine(error: BaseException) -> bool:
    """Whether an error or its cause concerns this machine, not the file."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError) or (isinstance(cause, OSError) and cause.errno is not None):
            return True  # Arrow raises errors without a number for files that are not Parquet
        if isinstance(cause, duckdb.Error) and (
            not isinstance(cause, _OF_THE_FILE) or "Out of Memory Error" in str(cause)
        ):
            return True
        cause = cause.__cause__
    return False


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _verified(table: Table, request: DataRequest, evidence: Evidence, progress: Progress) -> Verified:
    wanted, label = [attribute.attribute for attribute in evidence.attributes], evidence.label.name
    header, table = table.columns, with_plain_header(table, [*wanted, label])
    records = table.records()
    if label not in table.columns:
        return Verified(records, Part(0), None, (Fault.of(f"the file has no column {label!r}, the label"),))
    if not records:
        return Verified(0, Part(0), None, (Fault.of("the file has no records"),))
    present = [name for name in wanted if name in table.columns]
    as_written = Delivered(table, label, present)
    delivered = as_written.unescaped(evidence)
    comparison = Comparison.of(evidence, delivered)
    compared = comparison.compared(progress)
    privacy = measured(comparison, request)
    faults = [*_columns(table, evidence), *_records(delivered, request), *map(Fault.of, privacy.faults())]
    return Verified(delivered.records, compared, privacy, tuple(faults), comparison, as_written.formulas(header))


def _columns(table: Table, evidence: Evidence) -> Iterator[Fault]:
    """Yield faults for missing and unapproved columns; a generated table must have all of its attributes."""
    wanted = [*(attribute.attribute for attribute in evidence.attributes), evidence.label.name]
    if missing := [name for name in wanted if name not in table.columns]:
        yield Fault.of(f"the file lacks the columns {', '.join(map(repr, missing))}")
    more = [name for name in table.columns if name not in wanted]
    if more and evidence.kind == "masked":
        said = "the file has columns that were not approved"
        yield Fault(f"{said}: {', '.join(map(repr, more))}", f"{said}: {len(more)}")


def _records(delivered: Delivered, request: DataRequest) -> Iterator[Fault]:
    told = None if request.delivery is None else request.delivery.records
    if told is not None and told != delivered.records:
        yield Fault.of(f"the file has {delivered.records} records, but {told} were delivered")
