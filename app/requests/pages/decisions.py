"""What is done with data requests from their pages: each form calls the service that the API's route calls."""

from collections.abc import Mapping
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
from app.platform.errors import NotFoundError, RefusalError, UnknownKeyError
from app.requests.api.routes import act
from app.requests.model.data_requests import Action
from app.requests.pages.data_request import refused_page

router = APIRouter(prefix="/requests/{request_id}", route_class=PageRoute)

_log = structlog.get_logger(__name__)

_ERASE: Final = "erase-contact"

_MODELS: Final[Mapping[str, type[wire.Step]]] = {
    "approve": wire.Approve,
    "counter": wire.Counter,
    "decline": wire.Decline,
    "accept": wire.Accept,
    "withdraw": wire.Withdraw,
    "end": wire.End,
}

#: What there are forms for.
STEPS: Final = (*_MODELS, _ERASE)


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
    async def take(services: Factory) -> str:
        if action == _ERASE:
            changed = await services.data_requests(state.recent).erase_contact(viewer.caller, request_id)
            _log.info("contact erased", data_request=changed.id, by=viewer.caller.subject)
            return changed.id
        asked = validated_as(_MODELS[action], _members(action, form))
        return (await act(services, state, viewer.caller, request_id, asked)).id

    return await once(state, viewer, f"/requests/{request_id}/{action}", form, take)


def _members(action: str, form: Form) -> dict[str, Any]:
    """What the form of an action says. A limit of no requests is none."""
    members: dict[str, Any] = {"action": action, "reason": form.text("reason") or None}
    if action == Action.COUNTER:
        members["configuration"] = form.text("configuration")
    if action == Action.APPROVE and form.text("limit-requests"):
        typed = {name: form.text(f"limit-{name}") for name in ("requests", "days")}
        members["limit"] = {name: whole_number(text) for name, text in typed.items() if text}
    return members
