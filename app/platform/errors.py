"""Refusals and their reasons, independent of HTTP; the API assigns the statuses."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault in a document: where (an RFC 6901 JSON Pointer) and what."""

    pointer: str
    detail: str


def pointer(*path: str | int) -> str:
    """The JSON Pointer of a place, from the names and indices that lead to it."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


class OperatorError(Exception):
    """An error that the operator can correct. The first line says what is wrong, and what to do."""


class RefusalError(Exception):
    """A request that the service refuses. `code` is a stable slug for programs; the text is for people."""

    code = "refused"

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class WaitError(RefusalError):
    """The caller has to wait: `seconds` until it may try again."""

    code = "wait"

    def __init__(self, detail: str, seconds: int) -> None:
        super().__init__(detail)
        self.seconds = seconds


class UnknownKeyError(RefusalError):
    """The key or the token is missing, unknown, expired or revoked."""

    code = "unauthenticated"


class RoleNotAllowedError(RefusalError):
    """The caller is known but may not do this."""

    code = "forbidden"


class NotFoundError(RefusalError):
    """It does not exist, or this caller may not see it."""

    code = "not_found"


class NameTakenError(RefusalError):
    """The tenant already has an entry of this name: `entry_id`."""

    code = "name_taken"

    def __init__(self, name: str, entry_id: str) -> None:
        super().__init__(
            f"This tenant already has an entry named {name!r}. To add a version to it, use PUT /v1/entries/{entry_id}."
        )
        self.entry_id = entry_id


class InFlightError(WaitError):
    """The same request, with the same idempotency key, is being executed."""

    code = "in_flight"


class KeyReusedError(RefusalError):
    """The idempotency key was used for another request."""

    code = "idempotency_key_reused"


class ActionNotPossibleError(RefusalError):
    """The action is not possible in the present state of the request; those in `possible` are."""

    code = "not_possible"

    def __init__(self, state: str, action: str, possible: Sequence[str]) -> None:
        instead = f"You may: {', '.join(possible)}." if possible else "You cannot change it now."
        super().__init__(f"This request is {state}, so {action} is not possible. {instead}")
        self.possible = tuple(possible)


class EnoughGrantedError(RefusalError):
    """The consumer has reached the provider's limit of granted requests."""

    code = "enough_granted"


class NotComposedError(RefusalError):
    """The provider's policy forbids the configuration beside those that the consumer has; `allowed` keeps it."""

    code = "not_composed"

    def __init__(self, detail: str, allowed: str | None) -> None:
        super().__init__(detail)
        self.allowed = allowed


class LeasedError(RefusalError):
    """Another program fulfils the request until `expires_at`."""

    code = "leased"

    def __init__(self, expires_at: datetime) -> None:
        until = expires_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        super().__init__(f"Another program fulfils this request and has its lease until {until}. Try again then.")


class StaleVersionError(RefusalError):
    """The entry has changed since the caller read it."""

    code = "stale_version"


class InvalidDocumentError(RefusalError):
    """A well-formed document breaks rules; `faults` lists where and how."""

    code = "invalid"

    def __init__(self, detail: str, faults: tuple[Fault, ...] = (), *, code: str = "invalid") -> None:
        super().__init__(detail)
        self.faults = faults
        self.code = code


class BudgetSpentError(RefusalError):
    """The tenant has used up its distinct questions about this version."""

    code = "budget_spent"


class QuotaExceededError(RefusalError):
    """The tenant would exceed its storage quota."""

    code = "quota_exceeded"


class QuotaSpentError(WaitError):
    """The tenant has used up its questions of a day."""

    code = "quota_spent"


class RateExceededError(WaitError):
    """The tenant exceeds its request rate."""

    code = "rate_exceeded"


class TooManyGuessesError(WaitError):
    """Too many wrong keys came from the caller's address."""

    code = "too_many_guesses"


class StorageFullError(RefusalError):
    """The disk of the database is almost full."""

    code = "storage_full"


class OverloadedError(RefusalError):
    """The service is overloaded."""

    code = "overloaded"


class InterruptedWorkError(RefusalError):
    """The process that worked on the request died, because of the request or for another reason."""

    code = "interrupted"


class IssuerUnavailableError(RefusalError):
    """The issuer of tokens does not respond, and none of its keys is known."""

    code = "issuer_unavailable"


class DatabaseUnavailableError(RefusalError):
    """The catalogue's database cannot be reached."""

    code = "database_unavailable"


class SchemaMismatchError(RefusalError):
    """This version of the service does not work with the database's schema."""

    code = "schema_mismatch"


class SupersededError(RefusalError):
    """The question was asked of another version of the service, whose model is not this one's."""

    code = "superseded"


class NothingSignedError(RefusalError):
    """This service has no valid signing key."""

    code = "nothing_signed"


class NoWorkerError(RefusalError):
    """No worker runs, so questions are not answered."""

    code = "no_worker"


def some(names: Sequence[str], most: int = 10) -> str:
    """The first names, and the number of the others."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
