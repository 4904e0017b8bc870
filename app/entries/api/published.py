"""Conversion of a validated entry into the domain's form: the models become frozen values with arrays."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.evidence import AttributeEvidence, Masking, PairAssociation, PairCounts, Perturbation
from aegis_advisor.joint import PublishedTrace
from aegis_sdk import wire
from app.entries.api.mapping import visibility_of
from app.entries.model.published import ConfigurationColumns, DisclosureControl, Path, PublishedEntry
from app.entries.model.transfers import Figures


def published_entry(entry: wire.EntryDocument, document: dict[str, Any]) -> PublishedEntry:
    """Convert a validated model, and the document that it was read from, into a published entry."""
    control = entry.disclosure_control or wire.DisclosureControl()
    return PublishedEntry(
        name=entry.name,
        title=entry.title,
        description=entry.description,
        keywords=tuple(entry.keywords),
        license=entry.license,
        visibility=visibility_of(entry.visibility),
        label=entry.label.name,
        evidence=_evidence(entry),
        pairs=_pairs(entry),
        associations=_associations(entry),
        masked_records=_masked_records(entry),
        control=DisclosureControl(
            control.min_cell, control.rounded_to, control.rounding is not None, control.epsilon, control.open_answers
        ),
        trace=_trace(entry.joint_trace),
        configurations=_configurations(entry),
        document=document,
    )


def _trace(published: wire.JointTrace | None) -> PublishedTrace | None:
    return None if published is None else PublishedTrace(published.value, published.rounded_to)


def _evidence(entry: wire.EntryDocument) -> tuple[AttributeEvidence, ...]:
    histogram = np.asarray(entry.label.histogram, dtype=np.int64)
    about_label = _perturbation(entry.label.noise, entry.label.rounded_to)
    # If the label's counts are inexact, so is their sum: a masking that counts all records then adds information.
    records = entry.records if about_label.is_none else None
    control = entry.disclosure_control
    rounded_once = control.rounded_to if control is not None and control.rounding is not None else None
    return tuple(
        AttributeEvidence(
            name=attribute.name,
            values=len(attribute.domain),
            label_histogram=histogram,
            histogram=_counts(attribute.histogram),
            joint=_counts(attribute.joint),
            maskings=tuple(_masking(masking, records) for masking in attribute.maskings),
            label_perturbation=about_label,
            rounded_once=rounded_once,
        )
        for attribute in entry.attributes
    )


def _masking(masking: wire.Masking, records: int | None) -> Masking:
    counted = None if masking.records == records else masking.records
    transition = masking.transition
    return Masking(
        id=masking.id,
        groups=len(masking.domain),
        mapping=_counts(masking.mapping),
        joint=_counts(masking.joint),
        deterministic=masking.is_deterministic,
        perturbation=_perturbation(masking.noise, masking.rounded_to, counted),
        transition=None if transition is None else np.asarray(transition, dtype=np.float64),
    )


def _perturbation(noise: wire.Noise | None, rounded_to: int | None, records: int | None = None) -> Perturbation:
    return Perturbation(None if noise is None else noise.scale, rounded_to, records)


def _counts(counts: list[int] | list[list[int]] | None) -> NDArray[np.int64] | None:
    return None if counts is None else np.asarray(counts, dtype=np.int64)


def _places(counted_with: list[list[int]] | None) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    if counted_with is None:
        return None
    first, second = (np.asarray(places, dtype=np.int64) for places in counted_with)
    return first, second


def _pairs(entry: wire.EntryDocument) -> dict[int, PairCounts]:
    return {
        place: PairCounts(
            attributes,
            (pair.maskings[0], pair.maskings[1]),
            np.asarray(pair.joint, dtype=np.int64),
            replace(_perturbation(pair.noise, pair.rounded_to), within=pair.within),
            _places(pair.counted_with),
        )
        for place, (attributes, pair) in enumerate(_placed(entry))
        if pair.joint is not None
    }


def _associations(entry: wire.EntryDocument) -> dict[int, PairAssociation]:
    return {
        place: PairAssociation(
            attributes,
            (pair.maskings[0], pair.maskings[1]),
            known.chi_square,
            known.combinations,
            known.rounded_to,
            known.digits,
            None if known.noise is None else known.noise.scale,
        )
        for place, (attributes, pair) in enumerate(_placed(entry))
        if (known := pair.with_label) is not None
    }


def _placed(entry: wire.EntryDocument) -> Iterator[tuple[tuple[int, int], wire.Pair]]:
    """Each pair with the places of its attributes."""
    position = {attribute.name: place for place, attribute in enumerate(entry.attributes)}
    for pair in entry.pairs:
        yield (position[pair.attributes[0]], position[pair.attributes[1]]), pair


def _masked_records(entry: wire.EntryDocument) -> dict[tuple[int, int], int]:
    return {
        (place, index): masking.records
        for place, attribute in enumerate(entry.attributes)
        for index, masking in enumerate(attribute.maskings)
        if masking.records is not None
    }


def _configurations(entry: wire.EntryDocument) -> ConfigurationColumns:
    table, rows = entry.configuration_table, entry.configurations or []
    on_records = list(_measured_on_records(entry))
    if table is not None:
        alone = table.alone or ()
        return ConfigurationColumns(table.ids, table.maskings, table.privacy or {}, alone=alone, on_records=on_records)
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
        figures=Figures.of([None if row.transfer is None else row.transfer.model_dump() for row in rows], names),
    )


def _measured_on_records(entry: wire.EntryDocument) -> Iterator[Path]:
    """Where the entry has numbers that its provider measured on the records, besides AUCs."""
    if entry.holdout is not None:
        yield ("holdout",)
    for place, row in enumerate(entry.configurations or ()):
        if row.transfer is not None:
            yield "configurations", place, "transfer"
        if isinstance(row, wire.GeneratedConfiguration) and row.attacks:
            yield "configurations", place, "attacks"
