"""Data requests and their evidence as wire models."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import numpy as np

from aegis_advisor.evidence import MaskingContent
from aegis_sdk import wire
from app.advice.api.answers import failure, request_of
from app.entries.model.documents import decompress, read_as, stored_entry
from app.platform.callers import Caller
from app.platform.http.operations import JsonResponse
from app.platform.members import answer_of
from app.requests.model.approved_counts import (
    ApprovedCounts,
    ApprovedPair,
    ApprovedTable,
    Inexact,
    configuration_in,
)
from app.requests.model.composition import Composition
from app.requests.model.data_requests import OPEN, DataRequest
from app.requests.service.data_requests import DataRequestService
from app.requests.service.handovers import PackedEvidence
from app.tenants.model import PERSON

_ASKED: Final = set(wire.Question.model_fields)


async def answer(
    service: DataRequestService,
    request: DataRequest,
    caller: Caller,
    days: int,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> JsonResponse:
    """The response for a request, with its history."""
    return JsonResponse(await request_answer(service, request, caller, days), status, headers)


async def request_answer(
    service: DataRequestService, request: DataRequest, caller: Caller, days: int
) -> wire.DataRequest:
    """A request with its history; it expires `days` after its last change."""
    changes, handover, verification = await service.history(caller, request)
    delivery = handover and answer_of(
        wire.Delivery,
        handover,
        privacy=handover.reached.numbers,
        card=None if handover.card is None else decompress(handover.card),
    )
    outcome = verification and answer_of(wire.Verification, verification, privacy=verification.measured.numbers)
    place = await service.full_rank(caller, request)
    beside = await service.composition(caller, request)
    return wire.DataRequest(
        **dict(head_answer(request, caller, days)),
        delivery=delivery,
        verification=outcome,
        full_rank=place and answer_of(wire.FullRank, place),
        composition=beside and _composition(beside),
        changes=[answer_of(wire.Change, one, by=one.subject) for one in changes],
    )


def _composition(composition: Composition) -> wire.Composition:
    granted = [
        answer_of(wire.Granted, one, request=one.request_id, entry=one.entry_name, delivered=one.is_delivered)
        for one in composition.granted
    ]
    return answer_of(wire.Composition, composition, kept=composition.is_kept, granted=granted)


def head_answer(request: DataRequest, caller: Caller, days: int) -> wire.DataRequestHead:
    """A request in a listing."""
    entry = wire.RequestedEntry(
        id=request.entry_id,
        version=request.version,
        digest=request.digest,
        name=request.entry_name,
        tenant=request.provider,
    )
    return answer_of(
        wire.DataRequestHead,
        request,
        entry=entry,
        stale=request.is_stale,
        request=request_of(request.question).model_dump(include=_ASKED),
        advice=request.question_id,
        problem=None if request.problem is None else failure(request.problem),
        possible=request.possible_for(request.sides_of(caller)),
        expires_at=request.changed_at + timedelta(days=days) if request.state in OPEN else None,
    )


@dataclass(frozen=True, slots=True)
class _Control:
    """The disclosure control of all counts, with the published members."""

    disclosure_control: dict[str, Any] | None = None


def evidence_json(packed: PackedEvidence) -> bytes:
    """The evidence as the JSON of `wire.Evidence`. Slow for large entries."""
    entry = stored_entry(packed.schema, packed.tables, packed.configurations)
    request = packed.request
    configuration = configuration_in(entry, request.configuration or "")
    counts = ApprovedCounts.of(entry, configuration)
    label = wire.EvidenceLabel(
        name=counts.label.name,
        domain=list(counts.label.domain),
        joint=[np.asarray(counts.label.histogram).tolist()],
        **_about(counts.label_inexact),
    )
    evidence = wire.Evidence(
        request=request.id,
        entry=wire.EntryVersion(id=request.entry_id, version=request.version, digest=request.digest),
        configuration=configuration.id,
        kind=configuration.kind,
        records=entry.records if configuration.records is None else configuration.records,
        label=label,
        disclosure_control=read_as(_Control, packed.schema).disclosure_control,
        suppressed=configuration.suppressed,
        suppressed_cells=configuration.suppressed_cells,
        unit=None if entry.people is None else PERSON,
        privacy=dict(configuration.privacy or {}),
        require=request.required.numbers,
        attributes=list(map(_table, counts.tables)),
        pairs=list(map(_pair, counts.pairs)),
    )
    return evidence.model_dump_json().encode()


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
        **_about(table.inexact),
    )


def _pair(pair: ApprovedPair) -> wire.EvidencePair:
    places = pair.counted_with
    return wire.EvidencePair(
        attributes=list(pair.attributes),
        maskings=list(pair.maskings),
        joint=pair.joint.tolist(),
        counted_with=None if places is None else [place.tolist() for place in places],
        **_about(pair.inexact),
    )


def _about(inexact: Inexact) -> dict[str, Any]:
    """The members of `wire.Inexact`."""
    scale, terms = inexact.noise_scale, inexact.terms
    noise = None if scale is None else wire.EvidenceNoise(scale=scale, terms=terms)
    return {"off_by": inexact.off_by, "noise": noise}
