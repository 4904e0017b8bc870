"""Conversion of requests for data to the contract's JSON."""

from dataclasses import asdict
from datetime import timedelta
from typing import Any, Final

from aegis_sdk import wire
from app.advice.api.json import request_of
from app.entries.model.documents import decompress
from app.platform.callers import Caller
from app.platform.timestamps import timestamp
from app.requests.model.data_requests import Change, DataRequest
from app.requests.model.handovers import Handover
from app.requests.model.verifications import Verification
from app.requests.service.data_requests import DataRequestService

_ASKED: Final = frozenset(wire.Question.model_fields)


async def data_request_body(
    service: DataRequestService, request: DataRequest, caller: Caller, days: int
) -> dict[str, Any]:
    """A request with its history as `wire.DataRequest`.

    Args:
        service: knows its history.
        request: the request.
        caller: who reads it.
        days: how many days after its last change it expires.
    """
    handover, verification = await service.handover(request), await service.verification(caller, request)
    return head_body(request, caller, days) | {
        "delivery": None if handover is None else _delivery_body(handover),
        "verification": None if verification is None else _verification_body(verification),
        "changes": [_change_body(one) for one in await service.changes(request)],
    }


def head_body(request: DataRequest, caller: Caller, days: int) -> dict[str, Any]:
    """A request as `wire.DataRequestHead`."""
    problem = request.problem
    return {
        "id": request.id,
        "state": request.state.value,
        "entry": {
            "id": request.entry_id,
            "version": request.version,
            "digest": request.digest,
            "name": request.entry_name,
            "tenant": request.provider,
        },
        "stale": request.is_stale,
        "consumer": request.consumer,
        "request": {name: value for name, value in request_of(request.question).items() if name in _ASKED},
        "purpose": request.purpose,
        "contact": request.contact,
        "terms": request.terms,
        "advice": request.question_id,
        "configuration": request.configuration,
        "cost": None if request.cost is None else asdict(request.cost),
        "problem": None if problem is None else {"type": "about:blank", "title": "Advice failed"} | asdict(problem),
        "possible": [action.value for action in request.possible_for(request.sides_of(caller))],
        "created_at": timestamp(request.created_at),
        "changed_at": timestamp(request.changed_at),
        "expires_at": timestamp(request.changed_at + timedelta(days=days)) if request.is_open else None,
    }


def _delivery_body(handover: Handover) -> dict[str, Any]:
    """A handover as `wire.Delivery`."""
    expires_at, delivered_at = handover.link.expires_at, handover.delivered_at
    return {
        "url": handover.link.url,
        "expires_at": None if expires_at is None else timestamp(expires_at),
        "media_type": handover.media_type,
        "size": handover.size,
        "sha256": handover.sha256,
        "records": handover.records,
        "configuration": handover.configuration,
        "privacy": handover.reached.numbers,
        "card": None if handover.card is None else decompress(handover.card),
        "delivered_at": None if delivered_at is None else timestamp(delivered_at),
    }


def _verification_body(verification: Verification) -> dict[str, Any]:
    """A verification as `wire.Verification`."""
    differences, verified_at = verification.differences, verification.verified_at
    return {
        "sha256": verification.sha256,
        "size": verification.size,
        "records": verification.records,
        "privacy": verification.measured.numbers,
        "cells_compared": verification.cells_compared,
        "cells_differing": verification.cells_differing,
        "differences": None if differences is None else list(differences),
        "verified_at": None if verified_at is None else timestamp(verified_at),
    }


def _change_body(change: Change) -> dict[str, Any]:
    """A change as `wire.Change`."""
    return {
        "at": None if change.at is None else timestamp(change.at),
        "action": change.action,
        "state": change.state.value,
        "side": change.side.value,
        "tenant": change.tenant,
        "by": change.subject,
        "reason": change.reason,
        "configuration": change.configuration,
    }
