"""The errors of the SDK.

* AegisError
    * SettingsError               the address or the key is invalid (also a ValueError)
    * ServiceUnreachableError     no response came
    * UnexpectedAnswerError       the response is not from this service: also any refusal without a problem document
    * ProblemError                the service refused the request and said why
        * BadRequestError         400  not JSON, or a malformed header
        * UnauthorizedError       401  the key is missing, unknown, expired or revoked
        * ForbiddenError          403  the key's role may not do this
        * NotFoundError           404  it does not exist, or this caller may not see it
        * ConflictError           409  the name is taken: `entry` is the id of the entry that has it
        * PreconditionFailedError 412, 428  the entry has changed since it was read, or `If-Match` is missing
        * TooLargeError           413  the body is larger than the service's limit
        * InvalidError            422  the request breaks a rule: `errors` says which and where
        * LimitedError            429  the tenant sends or asks too much, or too many wrong keys were sent
            * BudgetSpentError         the tenant has asked enough distinct questions about this version
        * UnavailableError        503  the service cannot answer now, for example without its database, or because it
                                       is still processing the same request (409)
    * AdviceFailedError           the computation of an advice failed
    * PackageError                a table is not as its Data Package says
    * UniqueRecordsError          too many records are alone on all shared columns, which was not accepted
    * AdviceTimeoutError          an advice was not ready in time; `advice_id` fetches it later
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the errors must be importable without httpx and the contract
    from aegis_sdk.wire import AdviceHead, Problem


class AegisError(Exception):
    """Base class of the SDK's errors."""


class KeyExpiresWarning(UserWarning):
    """The API key expires within 14 days."""


class SettingsError(AegisError, ValueError):
    """The address of the service or the key is invalid."""


class ServiceUnreachableError(AegisError):
    """No response came: there was no connection, it was lost, or the response took too long."""


class UnexpectedAnswerError(AegisError):
    """The response is not from this service, for example because a proxy answered, or the address is wrong.

    `status` is its HTTP status, None if there is no meaningful one.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class PackageError(AegisError):
    """A table has no valid Data Package, or is not as that says."""


class UniqueRecordsError(AegisError):
    """Too many records are alone on all columns that a configuration shares, which was not accepted."""


class ProblemError(AegisError):
    """The service refused the call. `problem` is its response: `code` is a stable slug, `errors` are its faults."""

    def __init__(self, status: int, problem: "Problem") -> None:
        super().__init__(f"{status} {problem.code or problem.title}: {problem.detail}".strip(": "))
        self.status = status
        self.problem = problem
        self.code, self.detail, self.errors = problem.code, problem.detail, problem.errors


class BadRequestError(ProblemError):
    """400: the body is not JSON, or a header is malformed."""


class UnauthorizedError(ProblemError):
    """401: the key is missing, unknown, expired or revoked."""


class ForbiddenError(ProblemError):
    """403: the role of the key may not do this."""


class NotFoundError(ProblemError):
    """404: it does not exist, or this caller may not see it."""


class ConflictError(ProblemError):
    """409: the name is taken, or a data request is in a state in which this is not possible.

    `entry` is the id of the entry that has the name, `possible` what the caller may do with the data request instead,
    `allowed` the configuration that may be granted instead.
    """

    def __init__(self, status: int, problem: "Problem") -> None:
        super().__init__(status, problem)
        self.entry, self.possible, self.allowed = problem.entry, problem.possible or [], problem.allowed


class PreconditionFailedError(ProblemError):
    """412: the entry has changed since it was read; 428: `If-Match` is missing."""


class TooLargeError(ProblemError):
    """413: the body is larger than the service's limit."""


class InvalidError(ProblemError):
    """422: the body is well-formed but breaks a rule."""


class LimitedError(ProblemError):
    """429: the tenant sends too many requests or asks too many questions, or too many wrong keys were sent."""


class BudgetSpentError(LimitedError):
    """429: the tenant has no distinct questions left about this version of an entry."""


class UnavailableError(ProblemError):
    """503: the service cannot answer now."""


class AdviceFailedError(AegisError):
    """The computation of an advice failed; `advice` has the details."""

    def __init__(self, advice: "AdviceHead") -> None:
        reason = advice.problem.detail if advice.problem else "no reason given"
        super().__init__(f"Advice {advice.id} failed: {reason}")
        self.advice = advice


class AdviceTimeoutError(AegisError):
    """The advice was not ready in time. Its computation goes on; get it later with `Client.advice(advice_id)`."""

    def __init__(self, advice_id: str, waited: float) -> None:
        super().__init__(f"Advice {advice_id} was not ready after {waited:g} s")
        self.advice_id = advice_id
