"""Requests for data as answers."""

from collections.abc import Mapping

from app.api.json_response import JsonResponse
from app.domain.callers import Caller
from app.domain.data_requests import DataRequest
from app.services.data_requests import DataRequestService
from app.web.data_request_json import data_request_body


async def answer(
    service: DataRequestService,
    request: DataRequest,
    caller: Caller,
    days: int,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> JsonResponse:
    """A request with its history, as `data_request_body` makes it."""
    return JsonResponse(await data_request_body(service, request, caller, days), status, headers)
