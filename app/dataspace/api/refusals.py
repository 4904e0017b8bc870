"""Refusals in the form and with the statuses of the Dataspace Protocol."""

import re
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, ClassVar, Final

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from aegis_sdk.wire import FAULTS_SHOWN
from aegis_sdk.wire import dataspace as dsp
from app.platform import errors
from app.platform.errors import InvalidDocumentError, RefusalError, WaitError
from app.platform.http.operations import JsonResponse, Reference
from app.platform.http.refusals import INTERNAL, note_defect, status_and_title

Handler = Callable[[Request], Coroutine[Any, Any, Response]]

#: An id of a process in a refusal of a message that names none.
_NO_PID: Final = "urn:uuid:00000000-0000-0000-0000-000000000000"

_PRINTABLE: Final = re.compile("[!-~]{1,255}")

#: The protocol knows no other statuses for refusals: who is not authorised learns nothing, and what is not possible is
#: a bad request.
_STATUSES: Final[Mapping[int, int]] = {401: 404, 403: 404, 409: 400, 412: 400, 422: 400}
_OWN: Final[Mapping[type[RefusalError], int]] = {errors.QuotaExceededError: 400}


class DataspaceRoute(APIRoute):
    """A route of the protocol, with refusals in its form."""

    error: ClassVar[type[dsp.CatalogError | dsp.ContractNegotiationError | dsp.TransferError]]

    def get_route_handler(self) -> Handler:
        """The handler, with refusals in the protocol's form."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                return await handle(request)
            except RefusalError as error:
                return self._refusal(request, error)
            except RequestValidationError:
                return self._refusal(request, InvalidDocumentError("A parameter is invalid."))
            except HTTPException:
                raise
            except Exception as error:  # noqa: BLE001 -- logged, and then answered in the protocol's form
                note_defect(request, error)
                return self._answer(request, 500, INTERNAL[1], ["The service failed. Its log says why."])

        return answer

    def _refusal(self, request: Request, error: RefusalError) -> Response:
        status, _ = status_and_title(error)
        reasons = [error.detail]
        if isinstance(error, InvalidDocumentError):
            reasons += [f"{fault.pointer}: {fault.detail}" for fault in error.faults[:FAULTS_SHOWN]]
        answered = _OWN.get(type(error), _STATUSES.get(status, status))
        refused = self._answer(request, answered, error.code, reasons)
        if isinstance(error, WaitError):
            refused.headers["Retry-After"] = str(error.seconds)
        return refused

    def _answer(self, request: Request, status: int, code: str, reasons: list[str]) -> Response:
        request.app.state.metrics.refused(code)
        pids = {}
        if self.error is not dsp.CatalogError:
            named = request.path_params.get("process_id", _NO_PID)
            named = named if _PRINTABLE.fullmatch(named) else _NO_PID
            pids = {"providerPid": named, "consumerPid": getattr(request.state, "consumer_pid", _NO_PID)}
        return JsonResponse(self.error.of(**pids, code=code, reason=reasons).written(), status)


class CatalogRoute(DataspaceRoute):
    """A route of the catalogue."""

    error = dsp.CatalogError


class NegotiationRoute(DataspaceRoute):
    """A route of negotiations."""

    error = dsp.ContractNegotiationError


class TransferRoute(DataspaceRoute):
    """A route of transfers."""

    error = dsp.TransferError


def described(
    error: type[BaseModel], status: int, model: type[BaseModel], description: str, *others: int
) -> dict[int | str, dict[str, Any]]:
    """The `responses` of an operation: its result, and its refusals, which are an `error` of the protocol."""
    refusals = {400: "Malformed, invalid, or not possible now", 404: "Unknown, or not for this caller"}
    refusals |= {
        413: "Body too large",
        415: "Unsupported media type",
        429: "Wait",
        503: "Unavailable",
        507: "Storage full",
    }
    said = {code: refusals[code] for code in sorted({400, 404, 429, 503, *others})}
    kinds = [(status, description, model), *((code, text, error) for code, text in said.items())]
    return {
        code: {"description": text, "content": {"application/json": {"schema": Reference(kind)}}}
        for code, text, kind in kinds
    }
