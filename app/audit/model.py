"""The audit log: who did what, when, to what, and with which digests. No counts, no contacts, no free text."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

#: How long a key still signs after another has taken its place: processes are not all restarted at once.
OVERLAP: Final = timedelta(days=1)


class AuditAction(StrEnum):
    """What is written into the log. Steps of data requests are `request.` and the action, as in `request.approve`.

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
    BEGIN_SESSION = "session.begin"
    END_SESSION = "session.end"


#: Old versions that are not kept any more; the statement that deletes them writes it.
DELETE_VERSION: Final = "version.delete"


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """Something that was done, but for who did it, when, and its place in the log.

    Attributes:
        action: what was done.
        entry_id: the entry that it is about, `version` its version.
        digest: SHA-256 of the version's content.
        terms: the digest of its terms.
        request_id: the data request that it is about.
        target: what else it is about: the prefix of an API key, the id of a webhook or of a signing key, a tenant.
        value: what was set: a role, an audience, a policy, a verdict, the end of a key or session; or why.
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
    """The criteria of a listing; None for one that is not used. `until` is not part of the time."""

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
        id: in the order of signing.
        sequence: the record's.
        jws: what is signed, with its signature.
    """

    id: int
    sequence: int
    key_id: str
    signed_at: datetime
    jws: str


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A public key by which heads and receipts are checked.

    Attributes:
        id: its thumbprint (RFC 7638).
        public_key: its 32 bytes as base64url.
        valid_until: None for the one in use.
    """

    id: str
    public_key: str
    valid_from: datetime
    valid_until: datetime | None = None

    def may_sign(self, now: datetime) -> bool:
        """Whether what it signs now is valid."""
        return self.valid_until is None or now < self.valid_until


def head_claims(last: Place, now: datetime) -> dict[str, Any]:
    """What a signed head says."""
    return {"sequence": last.sequence, "hash": last.hash, "signed_at": moment(now)}


def moment(time: datetime) -> str:
    """A time as the log writes it: RFC 3339 in UTC, always with six digits of the second."""
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
