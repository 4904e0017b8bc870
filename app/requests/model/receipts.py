from collections.abc import Sequence
from datetime import datetime
from typing import Any

from app.audit.model import Place, moment
from app.requests.model.data_requests import Change, DataRequest


def receipt_claims(
    request: DataRequest, changes: Sequence[Change], file_sha256: str | None, last: Place | None, now: datetime
) -> dict[str, Any]:
    """What a receipt says.

    Args:
        request: the request as its reader sees it.
        changes: its history.
        file_sha256: of the delivered file; None before there is one.
        last: the place of its last change in the log; None if that is older than the log.
        now: when it is signed.
    """
    return {
        "request": request.id,
        "state": request.state.value,
        "provider": request.provider,
        "consumer": request.consumer,
        "entry": {"id": request.entry_id, "version": request.version, "digest": request.digest},
        "terms": request.terms,
        "configuration": request.configuration,
        "file_sha256": file_sha256,
        "changes": [_change_claims(one) for one in changes],
        "audit": None if last is None else {"sequence": last.sequence, "hash": last.hash},
        "signed_at": moment(now),
    }


def _change_claims(change: Change) -> dict[str, Any]:
    """A step without its reason, which is free text, and without the person."""
    return {
        "at": None if change.at is None else moment(change.at),
        "action": change.action,
        "state": change.state.value,
        "side": change.side.value,
        "tenant": change.tenant,
        "configuration": change.configuration,
    }
