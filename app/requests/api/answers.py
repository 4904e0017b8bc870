"""Requests for data as answers."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from aegis_sdk import wire
from app.advice.api.answers import failure, request_of
from app.entries.model.documents import decompress
from app.platform.callers import Caller
from app.platform.http.json_response import JsonResponse
from app.requests.model.data_requests import Change, DataRequest
from app.requests.model.handovers import Handover
from app.requests.model.verifications import Verification
from app.requests.service.data_requests import DataRequestService

_ASKED: Final = set(wire.Question.model_fields)


async def answer(
    service: DataRequestService,
    request: DataRequest,
    caller: Caller,
    days: int,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> JsonResponse:
    """A request with its history, as `request_answer` makes it."""
    return JsonResponse(await request_answer(service, request, caller, days), status, headers)


async def request_answer(
    service: DataRequestService, request: DataRequest, caller: Caller, days: int
) -> wire.DataRequest:
    """A request with its history.

    Args:
        service: knows its history.
        request: the request.
        caller: who reads it.
        days: how many days after its last change it expires.
    """
    handover, verification = await service.handover(request), await service.verification(caller, request)
    return wire.DataRequest(
        **dict(head_answer(request, caller, days)),
        delivery=None if handover is None else _delivery(handover),
        verification=None if verification is None else _verification(verification),
        changes=[_change(one) for one in await service.changes(request)],
    )


def head_answer(request: DataRequest, caller: Caller, days: int) -> wire.DataRequestHead:
    """A request as listings show it."""
    cost, problem = request.cost, request.problem
    return wire.DataRequestHead(
        id=request.id,
        state=request.state,
        entry=wire.RequestedEntry(
            id=request.entry_id,
            version=request.version,
            digest=request.digest,
            name=request.entry_name,
            tenant=request.provider,
        ),
        stale=request.is_stale,
        consumer=request.consumer,
        request=request_of(request.question).model_dump(include=_ASKED),
        purpose=request.purpose,
        contact=request.contact,
        terms=request.terms,
        advice=request.question_id,
        configuration=request.configuration,
        cost=None if cost is None else wire.Cost.model_validate(cost, from_attributes=True),
        problem=None if problem is None else failure(problem),
        possible=list(request.possible_for(request.sides_of(caller))),
        created_at=request.created_at,
        changed_at=request.changed_at,
        expires_at=request.changed_at + timedelta(days=days) if request.is_open else None,
    )


def _delivery(handover: Handover) -> wire.Delivery:
    return wire.Delivery(
        url=handover.link.url,
        expires_at=handover.link.expires_at,
        media_type=handover.media_type,
        size=handover.size,
        sha256=handover.sha256,
        records=handover.records,
        configuration=handover.configuration,
        privacy=handover.reached.numbers,
        card=None if handover.card is None else decompress(handover.card),
        delivered_at=handover.delivered_at,
    )


def _verification(verification: Verification) -> wire.Verification:
    differences = verification.differences
    return wire.Verification(
        sha256=verification.sha256,
        size=verification.size,
        records=verification.records,
        privacy=verification.measured.numbers,
        cells_compared=verification.cells_compared,
        cells_differing=verification.cells_differing,
        differences=None if differences is None else list(map(dict, differences)),
        verified_at=verification.verified_at,
    )


def _change(change: Change) -> wire.Change:
    return wire.Change(
        at=change.at,
        action=change.action,
        state=change.state,
        side=change.side,
        tenant=change.tenant,
        by=change.subject,
        reason=change.reason,
        configuration=change.configuration,
    )
