"""Refusals shown on the page of the refused form, together with what was typed."""

from dataclasses import dataclass
from typing import Self

from fastapi import Request, Response

from aegis_sdk.wire import FAULTS_SHOWN
from app.platform.errors import Fault, InvalidDocumentError, RefusalError, WaitError
from app.platform.http.refusals import status_and_title


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a form was refused, in the API's words.

    Attributes:
        status: the HTTP status.
        detail: the reason in a sentence.
        faults: what is wrong and where.
        seconds: the time after which a retry makes sense; None if it does not.
    """

    status: int
    detail: str
    faults: tuple[Fault, ...] = ()
    seconds: int | None = None

    @classmethod
    def of(cls, request: Request, error: RefusalError) -> Self:
        """The refusal of an error, counted like one of the API."""
        request.app.state.metrics.refused(error.code)
        faults = error.faults[:FAULTS_SHOWN] if isinstance(error, InvalidDocumentError) else ()
        seconds = error.seconds if isinstance(error, WaitError) else None
        return cls(status_and_title(error)[0], error.detail, faults, seconds)

    @property
    def by_field(self) -> dict[str, str]:
        """The first fault of every field, by the first name in its pointer."""
        first: dict[str, str] = {}
        for fault in self.faults:
            first.setdefault(fault.pointer.strip("/").partition("/")[0], fault.detail)
        return first

    def on(self, answer: Response) -> Response:
        """The response with `Retry-After` if there is a time to wait."""
        if self.seconds is not None:
            answer.headers["Retry-After"] = str(self.seconds)
        return answer
