"""The counts of a delivered configuration as the answer that they are."""

import numpy as np

from aegis_sdk import wire
from app.entries.model.documents import Document, attach, decompress
from app.requests.model.approved_counts import (
    ApprovedCounts,
    ApprovedPair,
    ApprovedTable,
    Inexact,
    configuration_in,
    numbers_of,
)
from app.requests.service.verifications import PackedEvidence


def evidence_json(packed: PackedEvidence) -> bytes:
    """The evidence as the JSON of `wire.Evidence`. Slow for large entries."""
    document = attach(decompress(packed.schema), packed.tables)
    request = packed.request
    configuration = configuration_in(decompress(packed.configurations), request.configuration or "")
    counts = ApprovedCounts.of(document, configuration)
    evidence = wire.Evidence(
        request=request.id,
        entry=wire.EntryVersion(id=request.entry_id, version=request.version, digest=request.digest),
        configuration=configuration["id"],
        kind=configuration.get("kind", "masked"),
        records=configuration.get("records", document["records"]),
        label=_label(counts.label, counts.label_inexact),
        disclosure_control=document.get("disclosure_control"),
        suppressed=configuration.get("suppressed"),
        suppressed_cells=configuration.get("suppressed_cells"),
        privacy=numbers_of(configuration),
        require=request.required.numbers,
        attributes=list(map(_table, counts.tables)),
        pairs=list(map(_pair, counts.pairs)),
    )
    return evidence.model_dump_json().encode()


def _label(label: Document, inexact: Inexact) -> wire.EvidenceLabel:
    return wire.EvidenceLabel(
        name=label["name"],
        domain=label["domain"],
        joint=[np.asarray(label["histogram"]).tolist()],
        off_by=inexact.off_by,
        noise=_noise(inexact),
    )


def _table(table: ApprovedTable) -> wire.EvidenceTable:
    return wire.EvidenceTable(
        attribute=table.attribute["name"],
        type=table.attribute["type"],
        masking=table.masking,
        function=table.about.get("function"),
        domain=table.about["domain"],
        joint=None if table.joint is None else table.joint.tolist(),
        records=table.about.get("records"),
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
