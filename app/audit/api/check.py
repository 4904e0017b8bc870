"""The check of the audit log by the service itself, part by part."""

from dataclasses import dataclass

from anyio import to_thread

from aegis_sdk.receipts import ReceiptError
from app.audit.api.promises import head_promise, key_set
from app.audit.model import Place, SigningKey
from app.audit.service.chain import BrokenLogError, check_chain
from app.audit.service.log import LogPart
from app.edge.state import State, services_of
from app.platform.callers import Caller

#: How many records are checked at a time.
PART = 2_000


@dataclass(frozen=True, slots=True)
class CheckedPart:
    """What the check of a part came to.

    Attributes:
        last: the last record that is in order.
        signed: the last one of them that a signed head covers; 0 if none does.
        length: the number of the last record of the whole log.
        is_end: whether nothing is left to be checked.
        fault: what is wrong; empty if all is in order.
    """

    last: Place
    signed: int
    length: int
    is_end: bool
    fault: str = ""


async def check_part(state: State, caller: Caller, after: Place) -> CheckedPart:
    """Check the records after one that was checked before.

    Raises:
        RoleNotAllowedError: the caller is no operator.
    """
    async with state.database.transaction() as session:
        audit = services_of(state, session).audit()
        part = await audit.part(caller, after.sequence, PART)
        keys = await audit.keys()
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
