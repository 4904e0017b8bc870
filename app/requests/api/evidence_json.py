"""Conversion of the counts of a delivered configuration to the contract's JSON."""

from typing import Any

import orjson

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
    """The evidence as `wire.Evidence`. Slow for large entries."""
    document = attach(decompress(packed.schema), packed.tables)
    request = packed.request
    configuration = configuration_in(decompress(packed.configurations), request.configuration or "")
    counts = ApprovedCounts.of(document, configuration)
    body = {
        "request": request.id,
        "entry": {"id": request.entry_id, "version": request.version, "digest": request.digest},
        **_configuration_body(document, counts),
        "require": request.required.numbers,
        "attributes": [_table_body(each) for each in counts.tables],
        "pairs": [_pair_body(each) for each in counts.pairs],
    }
    return orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)


def _configuration_body(document: Document, counts: ApprovedCounts) -> dict[str, Any]:
    configuration = counts.configuration
    return {
        "configuration": configuration["id"],
        "kind": configuration.get("kind", "masked"),
        "records": configuration.get("records", document["records"]),
        "label": {
            "name": counts.label["name"],
            "domain": counts.label["domain"],
            "joint": [counts.label["histogram"]],
            **_inexact_body(counts.label_inexact),
        },
        "disclosure_control": document.get("disclosure_control"),
        "suppressed": configuration.get("suppressed"),
        "suppressed_cells": configuration.get("suppressed_cells"),
        "privacy": numbers_of(configuration),
    }


def _table_body(table: ApprovedTable) -> dict[str, Any]:
    return {
        "attribute": table.attribute["name"],
        "type": table.attribute["type"],
        "masking": table.masking,
        "function": table.about.get("function"),
        "domain": table.about["domain"],
        "joint": None if table.joint is None else table.joint.tolist(),
        "records": table.about.get("records"),
        **_inexact_body(table.inexact),
    }


def _pair_body(pair: ApprovedPair) -> dict[str, Any]:
    places = pair.counted_with
    return {
        "attributes": pair.attributes,
        "maskings": pair.maskings,
        "joint": pair.joint.tolist(),
        "counted_with": None if places is None else [each.tolist() for each in places],
        **_inexact_body(pair.inexact),
    }


def _inexact_body(inexact: Inexact) -> dict[str, Any]:
    scale = inexact.noise_scale
    return {"off_by": inexact.off_by, "noise": None if scale is None else {"scale": scale, "terms": inexact.terms}}
