"""From an entry to what it gives away; with the provider's own table, also how near the truth one gets."""

from collections.abc import Sequence
from time import monotonic

from aegis_advisor.cell_bounds import CellBounds, bound_cells
from aegis_advisor.errors import AdvisorError
from aegis_advisor.evidence import AttributeEvidence, attribute_evidence
from aegis_advisor.evidence.checks import find_faults
from aegis_provider.disclosure.comparison import compare
from aegis_provider.disclosure.model import AttributeDisclosure, Disclosure
from aegis_provider.disclosure.published import attribute_tables, label_table, pair_tables
from aegis_provider.disclosure.together import together_of
from aegis_provider.disclosure.truth import Truth, refuse_other_counts, true_counts
from aegis_provider.errors import EntryError, PlanError, nearest
from aegis_provider.plan.model import Plan
from aegis_provider.progress import Progress
from aegis_provider.table import Source
from aegis_sdk.wire import Attribute, EntryDocument, pointer_of

_PARTS = 1000
"""Into how many parts the progress of an attribute is divided."""


def disclose(
    entry: EntryDocument,
    attributes: Sequence[str] | None = None,
    *,
    below: int = 5,
    within: int = 2,
    table: "Source | None" = None,
    plan: Plan | None = None,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    seconds: float = 60.0,
    progress: Progress = lambda _done, _total: None,
) -> Disclosure:
    """What the counts of an entry give away, each table by itself and all tables of an attribute together.

    Of the attributes of these names, or of all. Counts above 0 and below `below` are small; `within`: how far off, in
    records, a cell may be known. With `table`, and the plan by which it was summarised, every attribute is compared
    with the truth. The bounds of an attribute take `seconds` at most: they hold in any case, and may then be wider
    than need be.

    Raises `EntryError` for an attribute that the entry lacks and for counts that contradict each other; with a table
    `PlanError` and `TableError`, also if it is not the table of the entry.
    """
    chosen = _chosen(entry, attributes)
    evidence = [_evidence(entry, each) for each in chosen]
    truths = _truths(entry, chosen, table, plan, delimiter, memory_limit)
    found: list[AttributeDisclosure] = []
    for number, (each, known, truth) in enumerate(zip(chosen, evidence, truths, strict=True)):
        bounds = _bounds(known, seconds, _part(progress, number, len(chosen)))
        if truth is not None:
            refuse_other_counts(truth, known, bounds)
        found.append(
            AttributeDisclosure(
                name=each.name,
                tables=tuple(attribute_tables(each, entry.label.domain, below)),
                together=together_of(each, entry.label.domain, known, bounds, below=below, within=within),
                compared=None if truth is None else compare(known, truth.joint),
            )
        )
    return Disclosure(
        entry=entry.name,
        records=entry.records,
        label=entry.label.name,
        below=below,
        within=within,
        epsilon=entry.disclosure_control.epsilon if entry.disclosure_control else None,
        histogram=label_table(entry.label, below),
        attributes=tuple(found),
        pairs=tuple(pair_tables(entry, [each.name for each in chosen], below)),
    )


def _chosen(entry: EntryDocument, names: Sequence[str] | None) -> list[Attribute]:
    known = {each.name: each for each in entry.attributes}
    for name in names or ():
        if name not in known:
            raise EntryError(f"no attribute {name!r}; {nearest(name, [*known])}")
    return [each for each in entry.attributes if not names or each.name in names]


def _evidence(entry: EntryDocument, attribute: Attribute) -> AttributeEvidence:
    """What the advisor knows of the attribute. Raises `EntryError` for counts that do not add up."""
    found = attribute_evidence(attribute.model_dump(), entry.label.model_dump())
    for fault in find_faults(found):
        place = entry.attributes.index(attribute)
        raise EntryError(f"{pointer_of(('attributes', place, *fault.path))}: {fault.detail}")
    return found


def _truths(
    entry: EntryDocument,
    chosen: Sequence[Attribute],
    table: "Source | None",
    plan: Plan | None,
    delimiter: str,
    memory_limit: str,
) -> Sequence[Truth | None]:
    if table is None:
        return [None] * len(chosen)
    if plan is None:
        raise PlanError("a table is compared by the plan by which the entry was made of it: give both")
    return true_counts(table, plan, entry, chosen, delimiter=delimiter, memory_limit=memory_limit)


def _bounds(evidence: AttributeEvidence, seconds: float, progress: Progress) -> CellBounds:
    end = monotonic() + seconds
    try:
        return bound_cells(evidence, progress=progress, stop=lambda: monotonic() > end)
    except AdvisorError as error:
        raise EntryError(f"{evidence.name!r}: {error}") from error


def _part(progress: Progress, number: int, numbers: int) -> Progress:
    """The progress of one of several attributes, as progress of them all."""
    progress(number * _PARTS, numbers * _PARTS)
    return lambda done, total: progress(number * _PARTS + done * _PARTS // max(total, 1), numbers * _PARTS)
