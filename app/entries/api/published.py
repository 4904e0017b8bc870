"""Conversion of validated models into the domain's frozen values with arrays."""

from collections.abc import Iterator
from typing import Any

from aegis_advisor.evidence import EntryContent, associations_of, evidence_of, pairs_of
from aegis_sdk import wire
from app.entries.api.mapping import visibility_of
from app.entries.model.documents import entry_in
from app.entries.model.published import ConfigurationColumns, DisclosureControl, Path, PublishedEntry
from app.entries.model.transfers import Figures


def published_entry(entry: wire.EntryDocument, document: dict[str, Any]) -> PublishedEntry:
    """Convert a validated model and its document into a published entry."""
    control = entry.disclosure_control or wire.DisclosureControl()
    content = entry_in(document)
    return PublishedEntry(
        name=entry.name,
        title=entry.title,
        description=entry.description,
        keywords=tuple(entry.keywords),
        license=entry.license,
        visibility=visibility_of(entry.visibility),
        label=entry.label.name,
        evidence=evidence_of(content),
        pairs=pairs_of(content),
        associations=associations_of(content),
        masked_records=_masked_records(entry),
        control=DisclosureControl(
            control.min_cell,
            control.rounded_to,
            control.rounding is not None,
            control.epsilon,
            control.open_answers,
            is_declared=entry.disclosure_control is not None,
        ),
        trace=content.joint_trace,
        terms=content.terms,
        configurations=_configurations(entry, content),
        document=document,
    )


def _masked_records(entry: wire.EntryDocument) -> dict[tuple[int, int], int]:
    return {
        (place, index): masking.records
        for place, attribute in enumerate(entry.attributes)
        for index, masking in enumerate(attribute.maskings)
        if masking.records is not None
    }


def _configurations(entry: wire.EntryDocument, content: EntryContent) -> ConfigurationColumns:
    table, rows = entry.configuration_table, entry.configurations or []
    on_records = list(_measured_on_records(entry))
    if table is not None:
        return ConfigurationColumns(
            table.ids,
            table.maskings,
            table.privacy or {},
            alone=table.alone or (),
            on_records=on_records,
            in_columns=True,
        )
    masked = [row if isinstance(row, wire.Configuration) else None for row in rows]
    names = [one.name for one in entry.attributes]
    guarantees = {name for row in rows for name in row.privacy or ()}
    return ConfigurationColumns(
        ids=[row.id for row in rows],
        maskings={name: [wire.DROP if row is None else row.maskings[name] for row in masked] for name in names},
        privacy={name: [(row.privacy or {}).get(name) for row in rows] for name in sorted(guarantees)},
        suppressed=[None if row is None else row.suppressed for row in masked],
        suppressed_cells=[None if row is None else row.suppressed_cells for row in masked],
        alone=[None if row is None else row.alone for row in masked],
        measured=[place for place, row in enumerate(masked) if row is not None and row.measured is not None],
        generated=[row is None for row in masked],
        on_records=on_records,
        unguaranteed=[
            place for place, row in enumerate(rows) if masked[place] is None and "epsilon" not in (row.privacy or {})
        ],
        figures=Figures.of([row.transfer for row in content.configurations or ()], names),
    )


def _measured_on_records(entry: wire.EntryDocument) -> Iterator[Path]:
    """The places of numbers measured on the records, besides AUCs."""
    if entry.holdout is not None:
        yield ("holdout",)
    for place, row in enumerate(entry.configurations or ()):
        if row.transfer is not None:
            yield "configurations", place, "transfer"
        if isinstance(row, wire.GeneratedConfiguration) and row.attacks:
            yield "configurations", place, "attacks"
