"""The counts of a delivered configuration as the answer that they are."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aegis_advisor.evidence import LabelContent, MaskingContent
from aegis_sdk import wire
from app.entries.model.documents import read_as, stored_entry
from app.requests.model.approved_counts import ApprovedCounts, ApprovedPair, ApprovedTable, Inexact, configuration_in
from app.requests.service.verifications import PackedEvidence


@dataclass(frozen=True, slots=True)
class _Control:
    """What was done to all counts, with the members that were published."""

    disclosure_control: dict[str, Any] | None = None


def evidence_json(packed: PackedEvidence) -> bytes:
    """The evidence as the JSON of `wire.Evidence`. Slow for large entries."""
    entry = stored_entry(packed.schema, packed.tables, packed.configurations)
    request = packed.request
    configuration = configuration_in(entry, request.configuration or "")
    counts = ApprovedCounts.of(entry, configuration)
    evidence = wire.Evidence(
        request=request.id,
        entry=wire.EntryVersion(id=request.entry_id, version=request.version, digest=request.digest),
        configuration=configuration.id,
        kind=configuration.kind,
        records=entry.records if configuration.records is None else configuration.records,
        label=_label(counts.label, counts.label_inexact),
        disclosure_control=read_as(_Control, packed.schema).disclosure_control,
        suppressed=configuration.suppressed,
        suppressed_cells=configuration.suppressed_cells,
        privacy=dict(configuration.privacy or {}),
        require=request.required.numbers,
        attributes=list(map(_table, counts.tables)),
        pairs=list(map(_pair, counts.pairs)),
    )
    return evidence.model_dump_json().encode()


def _label(label: LabelContent, inexact: Inexact) -> wire.EvidenceLabel:
    return wire.EvidenceLabel(
        name=label.name,
        domain=list(label.domain),
        joint=[np.asarray(label.histogram).tolist()],
        off_by=inexact.off_by,
        noise=_noise(inexact),
    )


def _table(table: ApprovedTable) -> wire.EvidenceTable:
    masking = table.about if isinstance(table.about, MaskingContent) else None
    return wire.EvidenceTable(
        attribute=table.attribute.name,
        type=table.attribute.type,
        masking=table.masking,
        function=None if masking is None or masking.function is None else masking.function.as_published,
        domain=list(table.about.domain),
        joint=None if table.joint is None else table.joint.tolist(),
        records=None if masking is None else masking.records,
        off_by=table.inexact.off_by,
        noise=_noise(table.inexact),
    )


def _pair(pair: ApprovedPair) -> wire.EvidencePair:
    places = pair.counted_with
    return wire.EvidencePair(
        attributes=list(pair.attributes),
        maskings=list(pair.maskings),
        joint=pair.joint.tolist(),
        counted_with=None if places is None else [each.tolist() for each in places],
        off_by=pair.inexact.off_by,
        noise=_noise(pair.inexact),
    )


def _noise(inexact: Inexact) -> wire.EvidenceNoise | None:
    scale = inexact.noise_scale
    return None if scale is None else wire.EvidenceNoise(scale=scale, terms=inexact.terms)
