"""Requests for data as answers."""

from collections.abc import Mapping

from app.platform.callers import Caller
from app.platform.http.json_response import JsonResponse
from app.requests.api.json import data_request_body
from app.requests.model.data_requests import DataRequest
from app.requests.service.data_requests import DataRequestService


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
