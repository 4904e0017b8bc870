"""The audit log (operators), receipts (both parties of a data request) and the keys that verify them (public)."""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

import orjson
from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response

from aegis_sdk import wire
from aegis_sdk.receipts import ReceiptError
from app.audit.model import BrokenLogError, Place, SigningKey, WantedRecords, check_chain
from app.audit.promises import head_promise, key_set
from app.audit.service import LogPart
from app.edge.dependencies import CallerDependency, FactoryDependency
from app.edge.state import State, StateDependency, services_of
from app.platform.callers import Caller
from app.platform.http.conditional import NOT_MODIFIED, PUBLIC, KnownTagsDependency, etag_of
from app.platform.http.operations import JsonResponse, PageLimit, PageToken, answers, links

router = APIRouter(tags=["audit"])


@router.get(
    "/v1/audit",
    summary="List what was done",
    responses=answers(200, wire.AuditPage, "One page, newest first", 422, headers=("Link",)),
)
async def list_audit_records(
    request: Request,
    caller: CallerDependency,
    factory: FactoryDependency,
    since: Annotated[wire.Moment | None, Query(description="Only records from this time on (RFC 3339)")] = None,
    until: Annotated[wire.Moment | None, Query(description="Only records before this time (RFC 3339)")] = None,
    entry: Annotated[UUID | None, Query(description="Only records of the entry with this id")] = None,
    about: Annotated[UUID | None, Query(alias="request", description="Only records of this data request")] = None,
    limit: PageLimit = 50,
    page_token: PageToken = None,
) -> Response:
    """Lists the records of the audit log, each exactly as it was hashed, for operators."""
    wanted = WantedRecords(since, until, entry, about)
    records, token = await factory.audit().page(caller, wanted, limit, page_token)
    listed = {"items": [orjson.Fragment(one) for one in records], "next_page_token": token}
    return JsonResponse(listed, headers={"Link": links(request, token)})


@router.get(
    "/v1/audit/heads",
    summary="List signed heads",
    responses=answers(200, wire.SignedHeadPage, "One page, newest first", 422, headers=("Link",)),
)
async def list_audit_heads(
    request: Request,
    caller: CallerDependency,
    factory: FactoryDependency,
    limit: PageLimit = 50,
    page_token: PageToken = None,
) -> Response:
    """Lists the daily signed heads of the audit log, for operators. Store them away from the service."""
    heads, token = await factory.audit().heads(caller, limit, page_token)
    items = [
        wire.SignedHead(sequence=one.sequence, kid=one.key_id, signed_at=one.signed_at, jws=one.jws) for one in heads
    ]
    listed = wire.SignedHeadPage(items=items, next_page_token=token)
    return JsonResponse(listed, headers={"Link": links(request, token)})


@router.get(
    "/v1/requests/{request_id}/receipt",
    summary="Get a request's receipt",
    responses=answers(200, wire.Receipt, "The receipt", 404, 501),
)
async def read_receipt(
    request_id: str, caller: CallerDependency, state: StateDependency, factory: FactoryDependency
) -> Response:
    """Returns a signed receipt of a request in any state, for anyone who may read the request."""
    claims, jws = await factory.receipts(state.signer).make(caller, request_id)
    return JsonResponse({"claims": claims, "jws": jws})  # a model would format times unlike the signed text


@router.get(
    "/.well-known/aegis-keys.json",
    summary="Get the keys that check receipts",
    responses=answers(200, wire.PublicKeySet, "All keys, oldest first", headers=("ETag",), needs_key=False)
    | NOT_MODIFIED,
)
async def read_keys(factory: FactoryDependency, known: KnownTagsDependency) -> Response:
    """Returns the public keys (a JWK Set, RFC 7517 and RFC 8037) that verify receipts and signed heads."""
    body = key_set(await factory.audit().log.keys()).model_dump_json().encode()
    headers = {"ETag": etag_of(body), "Cache-Control": PUBLIC}
    return known.unchanged(headers["ETag"], headers) or JsonResponse(body, headers=headers)


#: Records checked at a time.
PART = 2_000


@dataclass(frozen=True, slots=True)
class CheckedPart:
    """The result of checking a part of the log.

    Attributes:
        signed: the last intact record that a signed head covers; 0 if there is none.
        length: the number of the last record of the whole log.
        fault: what is wrong; empty if nothing is.
    """

    last: Place
    signed: int
    length: int
    is_end: bool
    fault: str = ""


async def check_part(state: State, caller: Caller, after: Place) -> CheckedPart:
    """Check the records after the last checked one."""
    async with state.database.transaction() as session:
        audit = services_of(state, session).audit()
        part = await audit.part(caller, after.sequence, PART)
        keys = await audit.log.keys()
    return await to_thread.run_sync(_checked, part, keys, after)


def _checked(part: LogPart, keys: list[SigningKey], after: Place) -> CheckedPart:
    if after.sequence > part.length:
        return CheckedPart(after, 0, part.length, is_end=True, fault=f"record {after.sequence} is missing")
    known = key_set(keys)
    try:
        promises = [head_promise(head.jws, known) for head in part.heads]
        last = check_chain((record.encode() for record in part.records), promises, after)
    except (BrokenLogError, ReceiptError) as error:
        return CheckedPart(after, 0, part.length, is_end=True, fault=str(error))
    signed = max((one.place.sequence for one in promises), default=0)
    return CheckedPart(last, signed, part.length, is_end=part.is_end)
