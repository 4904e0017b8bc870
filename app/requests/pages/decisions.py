"""What is done with data requests from their pages: each form calls the service that the API's route calls."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import structlog
from fastapi import APIRouter, Request, Response

from aegis_sdk import wire
from app.edge.state import State, StateDependency
from app.factory import Factory
from app.pages.fields import validated_as, whole_number
from app.pages.forms import Form, FormDependency
from app.pages.once import once
from app.pages.page import see
from app.pages.page_route import PageRoute
from app.pages.refusals import Refusal
from app.pages.viewers import Viewer, ViewerDependency
from app.platform.callers import Caller
from app.platform.errors import NotFoundError, RefusalError, UnknownKeyError
from app.requests.model.data_requests import Action, DataRequest, GrantLimit
from app.requests.pages.data_request import refused_page
from app.requests.service.data_requests import DataRequestService

router = APIRouter(prefix="/requests/{request_id}", route_class=PageRoute)

_log = structlog.get_logger(__name__)

_ERASE: Final = "erase-contact"

Step = Callable[[DataRequestService, Caller, str, Form], Awaitable[DataRequest]]


async def _approve(service: DataRequestService, caller: Caller, request_id: str, form: Form) -> DataRequest:
    limit = {
        name: whole_number(form.text(f"limit-{name}")) for name in ("requests", "days") if form.text(f"limit-{name}")
    }
    asked = validated_as(wire.Approval, _reason(form) | {"limit": limit if "requests" in limit else None})
    granted = None if asked.limit is None else GrantLimit(asked.limit.requests, asked.limit.days)
    return await service.approve(caller, request_id, asked.reason, granted)


async def _counter(service: DataRequestService, caller: Caller, request_id: str, form: Form) -> DataRequest:
    offer = {"configuration": form.text("configuration")}
    asked = validated_as(wire.CounterOffer, _reason(form) | offer)
    return await service.counter(caller, request_id, asked.configuration, asked.reason)


def _plain(action: Action, model: type[wire.Decision] | type[wire.Refusal]) -> Step:
    """A step that needs no more than a reason."""

    async def act(service: DataRequestService, caller: Caller, request_id: str, form: Form) -> DataRequest:
        asked = validated_as(model, _reason(form))
        return await service.act(caller, request_id, action, asked.reason)

    return act


async def _erase(service: DataRequestService, caller: Caller, request_id: str, _: Form) -> DataRequest:
    return await service.erase_contact(caller, request_id)


STEPS: Final[Mapping[str, Step]] = {
    Action.APPROVE: _approve,
    Action.COUNTER: _counter,
    Action.DECLINE: _plain(Action.DECLINE, wire.Refusal),
    Action.ACCEPT: _plain(Action.ACCEPT, wire.Decision),
    Action.WITHDRAW: _plain(Action.WITHDRAW, wire.Decision),
    Action.END: _plain(Action.END, wire.Refusal),
    _ERASE: _erase,
}


@router.post("/{action}")
async def change_request(
    request_id: str,
    action: str,
    request: Request,
    viewer: ViewerDependency,
    state: StateDependency,
    form: FormDependency,
) -> Response:
    """Take a step with a request, once however often the form is sent, and lead back to its page."""
    if action not in STEPS:
        raise NotFoundError(f"There is no step {action[:50]!r} of a request.")
    try:
        changed_id = await _take(state, viewer, request_id, action, form)
    except (NotFoundError, UnknownKeyError):
        raise
    except RefusalError as error:
        return await refused_page(request, viewer, state, request_id, action, form, Refusal.of(request, error))
    return see(f"/requests/{changed_id}")


async def _take(state: State, viewer: Viewer, request_id: str, action: str, form: Form) -> str:
    async def act(services: Factory) -> str:
        service = services.data_requests(state.recent)
        changed = await STEPS[action](service, viewer.caller, request_id, form)
        by = viewer.caller.subject
        if action == _ERASE:
            _log.info("contact erased", data_request=changed.id, by=by)
        else:
            _log.info("request changed", data_request=changed.id, action=str(action), by=by)
        return changed.id

    return await once(state, viewer, f"/requests/{request_id}/{action}", form, act)


def _reason(form: Form) -> dict[str, Any]:
    """The reason that a form gives; None if its field is empty."""
    return {"reason": form.text("reason") or None}
