"""The verdict on a delivered table."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aegis_provider.errors import ProviderError
from aegis_provider.progress import Progress
from aegis_provider.receiving.comparison import Comparison
from aegis_provider.receiving.delivered import Delivered
from aegis_provider.receiving.parts import Part
from aegis_provider.receiving.privacy import Measured, measured
from aegis_provider.table import Table, delimiter_in, open_table
from aegis_sdk.wire import DataRequest, Evidence


@dataclass(frozen=True)
class Fault:
    """Something that is not as agreed.

    Attributes:
        text: A sentence for the consumer, perhaps with names of the file that nobody else may read.
        reason: The same for everybody.
    """

    text: str
    reason: str

    @classmethod
    def of(cls, text: str) -> "Fault":
        """Return a fault that everybody may read."""
        return cls(text, text)


@dataclass(frozen=True)
class Verified:
    """What was found out about a delivered table.

    Attributes:
        records: How many records it has; `None` if it cannot be read.
        compared: The counts that were compared, and where they differ.
        privacy: What was measured in it; `None` if it could not be.
        faults: Everything else that is not as agreed.
        comparison: The evidence beside the table; `None` if it cannot be counted.
    """

    records: int | None
    compared: Part
    privacy: Measured | None
    faults: tuple[Fault, ...]
    comparison: Comparison | None = None

    @property
    def is_as_agreed(self) -> bool:
        """Whether nothing speaks against it."""
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
    """Count a delivered table, and compare it with what its entry published of its configuration.

    Args:
        path: The file, CSV or Parquet.
        request: The request that it was delivered for.
        evidence: The published counts.
        delimiter: The delimiter of a CSV file; by default, found in its header.
        memory_limit: DuckDB's memory; the rest goes to disk.
        progress: Called with (steps done, steps).
    """
    steps = 2 + len(evidence.pairs)
    progress(0, steps)
    try:
        separator = delimiter or delimiter_in(path, evidence.label.name)
        with open_table(path, delimiter=separator, memory_limit=memory_limit) as table:
            return _verified(table, request, evidence, progress)
    except ProviderError as error:
        fault = Fault(f"the file cannot be counted: {error}", "the file cannot be counted")
        return Verified(None, Part(0), None, (fault,))


def _verified(table: Table, request: DataRequest, evidence: Evidence, progress: Progress) -> Verified:
    wanted, label = [each.attribute for each in evidence.attributes], evidence.label.name
    records = table.records()
    if label not in table.columns:
        return Verified(records, Part(0), None, (Fault.of(f"the file has no column {label!r}, the label"),))
    if not records:
        return Verified(0, Part(0), None, (Fault.of("the file has no records"),))
    present = [name for name in wanted if name in table.columns]
    delivered = Delivered(table, label, present)
    comparison = Comparison.of(evidence, delivered)
    compared = comparison.compared(progress)
    privacy = measured(comparison, request)
    faults = [*_columns(table, evidence), *_records(delivered, request), *map(Fault.of, privacy.faults())]
    return Verified(delivered.records, compared, privacy, tuple(faults), comparison)


def _columns(table: Table, evidence: Evidence) -> Iterator[Fault]:
    """Yield what columns are missing, and which were not approved; a generated table has all of its attributes."""
    wanted = [*(each.attribute for each in evidence.attributes), evidence.label.name]
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
