"""Between domain values and what travels: the contract's names stand here and in the wire models."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import orjson

from aegis_advisor.measures import MEASURES, Measure
from aegis_sdk import wire
from app.domain.advice import Advice, AdviceQuestion, ReferenceKind
from app.domain.documents import attach, decompress, without_counts
from app.domain.entries import Audience, CountTable, Head, HeadPage, Visibility


def head_body(head: Head) -> dict[str, Any]:
    """A head as `wire.Head`."""
    return {
        "id": head.id,
        "name": head.name,
        "title": head.title,
        "description": head.description,
        "keywords": head.keywords,
        "license": head.license,
        "label": head.label,
        "tenant": head.tenant,
        "visibility": visibility_body(head.visibility),
        "version": head.version,
        "digest": head.digest,
        "created_at": timestamp(head.created_at),
    }


def page_body(page: HeadPage) -> dict[str, Any]:
    """A page as `wire.HeadPage`."""
    return {"items": [head_body(head) for head in page.items], "next_page_token": page.next_page_token}


def timestamp(moment: datetime) -> str:
    """RFC 3339 in UTC."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def visibility_body(visibility: Visibility) -> str | dict[str, list[str]]:
    """A visibility as it is published."""
    if visibility.audience is Audience.TENANTS:
        return {"tenants": list(visibility.tenants)}
    return visibility.audience.value


def visibility_of(published: object) -> Visibility:
    """A published visibility as the domain says it."""
    if isinstance(published, wire.VisibleTo):
        return Visibility(Audience.TENANTS, tuple(published.tenants))
    return Visibility(Audience(str(published)))


def entry_json(visibility: Visibility, schema: bytes, configurations: bytes, tables: tuple[CountTable, ...]) -> bytes:
    """The published document as JSON: with `tables` all of it, without them the schema. Heavy for large entries.

    Its visibility is what it is now, if it was published with one.
    """
    stored = decompress(schema)
    document = (attach(stored, tables) if tables else without_counts(stored)) | decompress(configurations)
    if "visibility" in document:
        document["visibility"] = visibility_body(visibility)
    return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)


def entry_head_json(head: Head, document: bytes) -> bytes:
    """A head with its schema, as `wire.EntryHead`."""
    return orjson.dumps(head_body(head) | {"schema": orjson.Fragment(document)})


def question_of(request: wire.AdviceRequest) -> AdviceQuestion:
    """A validated request as the domain asks it."""
    return AdviceQuestion(
        measure=request.measure,
        attributes=None if request.attributes is None else tuple(request.attributes),
        weights=request.weights,
        require=request.require,
        reference=ReferenceKind(request.reference),
        rounding_seed=request.rounding_seed,
        limit=request.limit,
        bias_correction=_wants_correction(request),
    )


def _wants_correction(request: wire.AdviceRequest) -> bool:
    """What the question says of the bias, or else what its measure does by default."""
    if request.bias_correction is not None:
        return request.bias_correction
    return request.measure in MEASURES and MEASURES[request.measure].corrected_by_default


#: The fields of an answer, null until it has succeeded.
_RESULT_FIELDS = (
    "configuration",
    "deviation",
    "tied",
    "considered",
    "ranking_basis",
    "indistinguishable",
    "indistinguishable_count",
    "ranking",
    "attributes",
    "joint",
    "unit",
    "better",
)


def advice_body(advice: Advice) -> dict[str, Any]:
    """An advice as `wire.Advice`, finished or not."""
    result = dict.fromkeys(_RESULT_FIELDS) if advice.result is None else decompress(advice.result)
    body = {
        "id": advice.id,
        "status": advice.status.value,
        "entry": {"id": advice.entry_id, "version": advice.version, "digest": advice.digest},
        "request": asdict(advice.question),
        **result,
        "progress": None if advice.progress is None else asdict(advice.progress),
        "model_version": advice.model_version,
        "created_at": timestamp(advice.created_at),
        "elapsed_ms": advice.elapsed_ms,
    }
    if advice.problem is not None:
        title = "Advice failed"
        body["problem"] = {
            "type": "about:blank",
            "title": title,
            "code": advice.problem.code,
            "detail": advice.problem.detail,
        }
    return body


def measures_body() -> dict[str, Any]:
    """The registry of measures as `wire.MeasureList`."""
    return {"items": [_measure_body(measure) for measure in MEASURES.values()]}


def _measure_body(measure: Measure) -> dict[str, Any]:
    fields = ("id", "unit", "better", "monotone", "formula", "guarantee", "reason", "source", "corrected_by_default")
    return {field: getattr(measure, field) for field in fields} | {"bias_correction": measure.bias is not None}
