"""Refusals that are shown on the page of the form that was refused, which keeps what was typed."""

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
        status: of the answer.
        detail: a sentence.
        faults: what is wrong and where.
        seconds: after which it may be sent again; None if that changes nothing.
    """

    status: int
    detail: str
    faults: tuple[Fault, ...] = ()
    seconds: int | None = None

    @classmethod
    def of(cls, request: Request, error: RefusalError) -> Self:
        """The refusal of an error, which is counted as the API counts it."""
        request.app.state.metrics.refused(error.code)
        faults = error.faults[:FAULTS_SHOWN] if isinstance(error, InvalidDocumentError) else ()
        seconds = error.seconds if isinstance(error, WaitError) else None
        return cls(status_and_title(error)[0], error.detail, faults, seconds)

    @property
    def by_field(self) -> dict[str, str]:
        """The first fault of each field, by the first name of its place."""
        told: dict[str, str] = {}
        for fault in self.faults:
            told.setdefault(fault.pointer.strip("/").partition("/")[0], fault.detail)
        return told

    def on(self, answer: Response) -> Response:
        """The answer, which says when to send the form again."""
        if self.seconds is not None:
            answer.headers["Retry-After"] = str(self.seconds)
        return answer
