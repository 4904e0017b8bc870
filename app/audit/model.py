"""The audit log: who did what, when, to what, and with which digests. No counts, no contacts, no free text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final
from uuid import UUID

import orjson

#: How long a replaced key may still sign, since processes do not all restart at once.
OVERLAP: Final = timedelta(days=1)


class AuditAction(StrEnum):
    """The logged actions. Steps of data requests are `request.` and the action, as in `request.approve`.

    The database itself writes `audit_key.add` when a public key is added.
    """

    PUBLISH_ENTRY = "entry.publish"
    SHOW_ENTRY = "entry.set_visibility"
    SIGN_OFF_ENTRY = "entry.sign_off"
    JUDGE_ENTRY = "entry.judge"
    DELETE_ENTRY = "entry.delete"
    ERASE_CONTACT = "request.erase_contact"
    CREATE_KEY = "key.create"
    REPLACE_KEY = "key.replace"
    REVOKE_KEY = "key.revoke"
    RENEW_SERVER_KEY = "server_key.renew"
    SET_POLICY = "policy.set"
    SET_QUOTA = "quota.set"
    CREATE_WEBHOOK = "webhook.create"
    ENABLE_WEBHOOK = "webhook.enable"
    DISABLE_WEBHOOK = "webhook.disable"
    ROTATE_WEBHOOK = "webhook.rotate"
    DELETE_WEBHOOK = "webhook.delete"
    SAVE_SEARCH = "search.save"
    DELETE_SEARCH = "search.delete"
    BEGIN_SESSION = "session.begin"
    END_SESSION = "session.end"


#: Written by the statement that deletes old versions.
DELETE_VERSION: Final = "version.delete"


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """A logged action without its actor, its time and its place in the log.

    Attributes:
        entry_id: the entry, and `version` its version.
        digest: SHA-256 of the version's content.
        terms: the digest of the entry's terms.
        target: any other object: the prefix of an API key, the id of a webhook, a saved search or a signing key, or a
            tenant.
        value: what was set (a role, an audience, a policy, a verdict, the end of a key or session), or a reason.
    """

    action: AuditAction
    entry_id: str | None = None
    version: int | None = None
    digest: str | None = None
    terms: str | None = None
    request_id: str | None = None
    target: str | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class WantedRecords:
    """The filters of a listing; None for an unused one. `until` is exclusive."""

    since: datetime | None = None
    until: datetime | None = None
    entry_id: UUID | None = None
    request_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A record's place in the log: its number, from 1 without gaps, and its hash, which covers all records before."""

    sequence: int
    hash: str


@dataclass(frozen=True, slots=True)
class SignedHead:
    """The last record at a time, signed.

    Attributes:
        id: increases in the order of signing.
    """

    id: int
    sequence: int
    key_id: str
    signed_at: datetime
    jws: str


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A public key that verifies heads and receipts.

    Attributes:
        id: its thumbprint (RFC 7638).
        public_key: its 32 bytes as base64url.
        valid_until: None for the current key.
    """

    id: str
    public_key: str
    valid_from: datetime
    valid_until: datetime | None = None

    def may_sign(self, now: datetime) -> bool:
        """Whether its signatures made now are valid."""
        return self.valid_until is None or now < self.valid_until


def head_claims(last: Place, now: datetime) -> dict[str, Any]:
    """The claims of a signed head."""
    return {"sequence": last.sequence, "hash": last.hash, "signed_at": moment(now)}


def moment(time: datetime) -> str:
    """A time as the log writes it: RFC 3339 in UTC, always with six digits of the second."""
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


#: The previous hash in the first record.
START: Final = Place(0, "0" * 64)

#: JSON implementations differ on integers beyond this (RFC 8785, section 3.2.2.3).
_LARGEST: Final = 2**53


class BrokenLogError(Exception):
    """The log was altered. The message names the first bad record and its fault."""


@dataclass(frozen=True, slots=True)
class PromisedRecord:
    """A record that the log must contain according to `source`, a signed head or a receipt."""

    place: Place
    source: str


def check_chain(lines: Iterable[bytes], promises: Sequence[PromisedRecord], start: Place = START) -> Place:
    """Check the records of a log, oldest first, one per line; only one is in memory at a time.

    Args:
        lines: the records, each as RFC 8785 JSON.
        promises: records that the log must contain.
        start: the place of the record before the first one, already checked.

    Returns:
        The place of the last record; `start` if there is none.

    Raises:
        BrokenLogError: a record was changed, moved, removed or added; the message names the first one.
    """
    promised: dict[int, list[PromisedRecord]] = {}
    for one in promises:
        promised.setdefault(one.place.sequence, []).append(one)
    last, rest = start, iter(lines)
    for line in rest:
        last = _checked(line, last, rest)
        for one in promised.pop(last.sequence, ()):
            if one.place != last:
                raise BrokenLogError(
                    f"record {last.sequence} is not the one that {one.source} has: it, or one before it, was replaced, "
                    "and all that follow were hashed anew"
                )
    for number in sorted(promised):
        raise BrokenLogError(
            f"the log is truncated: it ends with record {last.sequence}, but {promised[number][0].source} has record "
            f"{number}"
        )
    return last


def _checked(line: bytes, last: Place, rest: Iterator[bytes]) -> Place:
    """The place of a record, if it is unchanged and follows the last one."""
    record, what = _record_in(line), f"the record after record {last.sequence}"
    if record is None:
        raise BrokenLogError(f"{what} was changed: it is not a record in its hashed form")
    own = Place(record["sequence"], record.pop("hash"))
    what = f"record {own.sequence}"
    if sha256(_written(record)).hexdigest() != own.hash:
        raise BrokenLogError(f"{what} was changed: its hash does not match its content")
    if own.sequence > last.sequence + 1:
        raise BrokenLogError(_gap(last.sequence + 1, own.sequence, rest))
    if own.sequence <= last.sequence:
        raise BrokenLogError(f"{what} is in the wrong place: it follows record {last.sequence}; inserted, or repeated")
    if record["previous"] != last.hash:
        raise BrokenLogError(
            f"{what} does not follow the record before it, whose hash it would have: one of them was replaced"
        )
    return own


def _record_in(line: bytes) -> dict[str, Any] | None:
    """The record in a line; None if the line is not in the hashed form."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    is_one = isinstance(record, dict) and isinstance(record.get("hash"), str) and "previous" in record
    if (
        not is_one
        or not all(isinstance(value, str) or _is_number(value) for value in record.values())
        or not _is_number(record.get("sequence"))
    ):
        return None
    return record if _written(record) == line.rstrip(b"\n") else None


def _is_number(value: object) -> bool:
    return type(value) is int and 0 < value < _LARGEST


def _written(record: Mapping[str, Any]) -> bytes:
    """A record as RFC 8785 JSON; orjson writes the same for strings, small integers and ASCII names."""
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS)


def _gap(missing: int, seen: int, rest: Iterator[bytes]) -> str:
    """Whether the missing record comes later or was removed."""
    for line in rest:
        later = _record_in(line)
        if later is not None and later["sequence"] == missing:
            return f"record {missing} is in the wrong place: it comes after record {seen}"
    return f"record {missing} was removed: record {seen} is in its place"
