"""What can go wrong between a program and the service.

* AegisError
    * SettingsError               the address or the key cannot be used (also a ValueError)
    * ServiceUnreachableError     no answer came
    * UnexpectedAnswerError       what came is not an answer of this service
    * ProblemError                the service refused, and said why
        * BadRequestError         400  not JSON, or a malformed header
        * UnauthorizedError       401  the key is missing, unknown, expired or revoked
        * ForbiddenError          403  the key's role may not do this
        * NotFoundError           404  no such thing, or not for this caller to see
        * ConflictError           409  the name is taken: `entry` is the id of the entry that has it
        * PreconditionFailedError 412, 428  somebody else changed the entry first, or `If-Match` is missing
        * TooLargeError           413  the body is over the service's limit
        * InvalidError            422  a rule of the contract is broken: `errors` says which, and where
        * UnavailableError        503  the service has no database just now
    * AdviceFailedError           the computation of an advice failed
    * AdviceTimeoutError          an advice was not ready in time; `advice_id` fetches it later
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what only says of what type something is: errors are needed where neither httpx nor the contract is
    from aegis_sdk.wire import Advice, Problem, ProblemFault


class AegisError(Exception):
    """Everything that the SDK raises on purpose."""


class SettingsError(AegisError, ValueError):
    """The address of the service, or the key, cannot be used."""


class ServiceUnreachableError(AegisError):
    """No answer came: no connection, or it was lost, or it took too long."""


class UnexpectedAnswerError(AegisError):
    """The answer is none of this service, as when a proxy answers in its place."""


class ProblemError(AegisError):
    """The service refused the request. `problem` is its answer, also read through the properties."""

    def __init__(self, status: int, problem: "Problem") -> None:
        super().__init__(f"{status} {problem.code or problem.title}: {problem.detail}".strip(": "))
        self.status = status
        self.problem = problem

    @property
    def code(self) -> str:
        """The stable slug of the kind of problem."""
        return self.problem.code

    @property
    def detail(self) -> str:
        """What is wrong with this request."""
        return self.problem.detail

    @property
    def errors(self) -> list["ProblemFault"]:
        """The faults of the body, each with its JSON Pointer."""
        return self.problem.errors


class BadRequestError(ProblemError):
    """400: the body is not JSON, or a header is malformed."""


class UnauthorizedError(ProblemError):
    """401: the key is missing, unknown, expired or revoked."""


class ForbiddenError(ProblemError):
    """403: the role of the key may not do this."""


class NotFoundError(ProblemError):
    """404: there is no such thing, or this caller may not see it."""


class ConflictError(ProblemError):
    """409: the name is taken."""

    @property
    def entry(self) -> str | None:
        """Id of the entry that has the name."""
        return self.problem.entry


class PreconditionFailedError(ProblemError):
    """412: the entry has changed since it was read; 428: `If-Match` is missing."""


class TooLargeError(ProblemError):
    """413: the body is over the service's limit."""


class InvalidError(ProblemError):
    """422: the body is JSON that breaks a rule of the contract."""


class UnavailableError(ProblemError):
    """503: the service cannot answer just now."""


class AdviceFailedError(AegisError):
    """The computation of an advice failed; `advice` is all that is known of it."""

    def __init__(self, advice: "Advice") -> None:
        reason = advice.problem.detail if advice.problem else "no reason given"
        super().__init__(f"Advice {advice.id} failed: {reason}")
        self.advice = advice


class AdviceTimeoutError(AegisError):
    """The advice was not ready in time; it is still being computed, for `Client.advice(advice_id)`."""

    def __init__(self, advice_id: str, waited: float) -> None:
        super().__init__(f"Advice {advice_id} was not ready after {waited:g} s")
        self.advice_id = advice_id
