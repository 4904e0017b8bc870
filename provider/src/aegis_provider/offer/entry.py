"""An entry with the generated tables of its plan, and with transfer utilities of these and of its configurations."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from aegis_provider.control import ControlError
from aegis_provider.entry_file import document_of, entry_of
from aegis_provider.errors import TableError, shortened
from aegis_provider.offer.handing_out import refuse_another
from aegis_provider.offer.sides import RealSides
from aegis_provider.plan.generated import GeneratedTable
from aegis_provider.prepare import PreparedEntry
from aegis_provider.progress import Progress
from aegis_provider.table import open_table
from aegis_provider.transfer import holdout_of, transfer_of


def with_generated(
    prepared: PreparedEntry,
    *,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _total: None,
) -> PreparedEntry:
    """Return the entry with the generated tables of its plan; as it is if the plan has none.

    Then every configuration has its transfer utilities, too, unless it masks at random: what a mask of the records that
    are not held out tells about those that are.

    Args:
        prepared: The entry. Its figures are rounded, and none is of records that the release saw.
        delimiter: The delimiter of CSV files.
        memory_limit: The memory limit of DuckDB.
        progress: Called with the number of releases that are compared.

    Raises:
        ControlError: Noise covers the counts, or values of the label are merged.
        TableError: A generated table cannot be read, or is not the one that the plan states.
        PlanError: What the plan states of one breaks a rule of the contract.
    """
    plan, how = prepared.intended, {"delimiter": delimiter, "memory_limit": memory_limit}
    if not plan.generated:
        return prepared
    _refuse_controls(prepared)
    for each in plan.generated:
        refuse_another(plan, each)
    with open_table(prepared.table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        sides = RealSides.read(opened, plan)
    document = document_of(prepared.entry)
    told = dict(_told_by_masks(prepared, sides, progress))
    masked = [each | told.get(each["id"], {}) for each in document["configurations"]]
    document |= {
        "format": 2,
        "configurations": [*masked, *_generated(prepared, sides, how)],
        "holdout": _document(holdout_of(sides.seen, sides.held_out, plan.label)),
    }
    return replace(prepared, controlled=replace(prepared.controlled, entry=entry_of(document, plan.source)))


def _told_by_masks(
    prepared: PreparedEntry, sides: RealSides, progress: Progress
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield by configuration what a mask of the seen records tells about the held-out ones."""
    published = [each.id for each in prepared.entry.masked]
    for done, name in enumerate(published):
        progress(done, len(published))
        configuration = prepared.intended.configuration(name)
        if sides.masked.can_release(configuration):
            released = sides.masked.released(configuration, ~sides.rows)
            told = transfer_of(released, sides.seen, sides.held_out, prepared.intended.label)
            yield name, {"transfer": _document(told)}
    progress(len(published), len(published))


def _document(part: Any) -> dict[str, Any]:  # noqa: ANN401 - any part of the contract
    written: dict[str, Any] = part.model_dump(exclude_unset=True, exclude_none=True)
    return written


def _refuse_controls(prepared: PreparedEntry) -> None:
    """Refuse controls that what is said of generated tables would undo."""
    generated = ", ".join(each.id for each in prepared.intended.generated)
    control = prepared.entry.disclosure_control
    if control is not None and control.epsilon is not None:
        raise ControlError(
            f"noise covers all counts, but what is said of the generated tables ({generated}) is measured on records: "
            "round the counts instead, or take `generated` out of the plan"
        )
    if prepared.controlled.changes.label is not None:
        raise ControlError(
            f"values of the label are merged, but the generated tables ({generated}) have them as they are: generate "
            "tables of the merged label, or take `generated` out of the plan"
        )


def _generated(prepared: PreparedEntry, sides: RealSides, how: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the generated configurations."""
    labels = prepared.entry.label.domain
    for each in prepared.intended.generated:
        counts = sides.labels(each, how)
        histogram = _histogram(each, counts, labels)
        transfer = transfer_of(sides.generated(each, how), sides.seen, sides.held_out, prepared.intended.label)
        yield {
            "id": each.id,
            "kind": "generated",
            "records": sum(counts.values()),
            "histogram": histogram,
            **each.stated,
            "transfer": _document(transfer),
        }


def _histogram(generated: GeneratedTable, counts: Mapping[str, int], labels: list[str]) -> list[int]:
    unknown = [label for label in counts if label not in labels]
    if unknown:
        raise TableError(
            f"{generated.file}: has the label {shortened(unknown[0])}, which no record that the entry counts has"
        )
    return [counts.get(label, 0) for label in labels]
