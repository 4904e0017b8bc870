"""The form by which a consumer requests the masked table of an entry."""

import structlog
from fastapi import APIRouter, Request, Response

from app.advice.api.asked import question_of
from app.advice.api.asking import read_answer
from app.advice.service.advice import QuestionRules
from app.edge.state import State, StateDependency
from app.entries.pages.reading import read_index
from app.entries.pages.views.entry_parts import ABOUT, NAMES
from app.factory import Factory
from app.pages.forms import Form, FormDependency
from app.pages.once import draw_key, once
from app.pages.page import page, see
from app.pages.page_route import PageRoute
from app.pages.refusals import Refusal
from app.pages.slices import read_part
from app.pages.viewers import Viewer, ViewerDependency
from app.platform.errors import NotFoundError, RefusalError, UnknownKeyError
from app.requests.model.data_requests import NewDataRequest
from app.requests.pages.views.new_request import (
    fields_of,
    finding_commands,
    new_request_commands,
    new_request_form,
    new_request_in,
)

router = APIRouter(route_class=PageRoute)

_log = structlog.get_logger(__name__)

_PATH = "/requests/new"


@router.get(_PATH)
async def show_new_request(request: Request, viewer: ViewerDependency, state: StateDependency) -> Response:
    """The form of a new request, filled in by the parameters of the address.

    They are `entry` and, for another version than the latest, `version`; and either `advice`, the id of the advice
    whose question the request repeats (it says which entry and version, too), or the fields of the question as
    `/entries/{entry_id}/ask` has them: `measure`, `attributes` (repeated), `weight-NAME` for an attribute,
    `require-NAME` for a privacy criterion such as `require-k`, and `kinds=generated`. `purpose` and `contact` may be
    given, too.
    """
    asked = Form.in_address(request)
    if asked.text("advice"):
        asked = fields_of(await read_answer(state, viewer.caller, asked.text("advice")))
    if not asked.text("entry"):
        return page(request, "new_request_nowhere.html", commands=finding_commands(viewer), here="requests")
    return await _form_page(request, viewer, state, asked)


@router.post(_PATH)
async def request_data(
    request: Request, viewer: ViewerDependency, state: StateDependency, form: FormDependency
) -> Response:
    """Make the request, once however often the form is sent, and lead to its page. A job finds its configuration."""
    _, index = await read_index(state, viewer.caller, form.text("entry"), form.version)
    names = read_part(index.names, NAMES)

    async def create(services: Factory) -> str:
        asked = new_request_in(form, names)
        new = NewDataRequest(question_of(asked), asked.purpose, asked.contact, asked.terms)
        rules = QuestionRules(state.question_budget, state.admission.required)
        service = services.data_requests(state.recent)
        made = await service.create(viewer.caller, form.text("entry"), form.version, new, rules)
        _log.info("data requested", data_request=made.id, entry=made.entry_id, by=viewer.caller.subject)
        return made.id

    try:
        state.limits.refuse_full_disk()
        request_id = await once(state, viewer, _PATH, form, create)
    except (NotFoundError, UnknownKeyError):
        raise
    except RefusalError as error:
        return await _form_page(request, viewer, state, form, Refusal.of(request, error))
    return see(f"/requests/{request_id}")


async def _form_page(
    request: Request, viewer: Viewer, state: State, asked: Form, refusal: Refusal | None = None
) -> Response:
    """The form, with why it was refused."""
    head, index = await read_index(state, viewer.caller, asked.text("entry"), asked.version)
    about, names = read_part(index.about, ABOUT), read_part(index.names, NAMES)
    answer = page(
        request,
        "new_request.html",
        200 if refusal is None else refusal.status,
        view=new_request_form(head, about, names, asked, draw_key(), () if refusal is None else refusal.faults),
        refusal=refusal,
        by_field={} if refusal is None else refusal.by_field,
        commands=new_request_commands(viewer, head, asked, names),
        here="requests",
    )
    return answer if refusal is None else refusal.on(answer)
