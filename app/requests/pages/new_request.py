"""The form for requesting the masked table of an entry."""

import csv
import io
from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

import structlog
from fastapi import APIRouter, Request, Response
from pydantic import ValidationError

from aegis_sdk import wire
from aegis_sdk.wire.data_requests import LONGEST_PURPOSE
from app.advice.api.answers import question_of, request_of
from app.advice.api.routes import read_answer
from app.advice.pages.question import Labels, question_form, question_link, question_members
from app.advice.service.advice import QuestionRules
from app.edge.state import State, StateDependency, services_of
from app.entries.model.entries import Head
from app.entries.pages.entry import read_index
from app.entries.pages.entry_index import ABOUT, NAMES
from app.factory import Factory
from app.pages.commands import Commands, aegis, curl
from app.pages.forms import Form, FormDependency, draw_key, in_forms_words, once
from app.pages.page import page, see
from app.pages.page_route import PageRoute, Refusal
from app.pages.slices import read_part
from app.pages.viewers import Viewer, ViewerDependency
from app.platform.errors import Fault, InvalidDocumentError, NotFoundError, RefusalError, UnknownKeyError
from app.platform.members import model_of
from app.requests.model.data_requests import NewDataRequest

#: The members of a request that its form has besides the question and the terms. Those that are optional may be empty.
SAID = [name for name in wire.NewDataRequest.model_fields if name not in {*wire.Question.model_fields, "terms"}]


def new_request_in(form: Form, names: Sequence[str], default: str = "") -> wire.NewDataRequest:
    """The request in a form; `names` and `default` are as in `question_members`.

    Raises:
        InvalidDocumentError: a field breaks a rule of the contract, or the terms are not accepted.
    """
    said = {name: form.text(name) or None for name in SAID}
    said["terms"] = form.text("terms") if form.has("accept") else ""
    members = question_members(form, names, default) | said
    try:
        return wire.NewDataRequest.model_validate(members)
    except ValidationError as error:
        faults = in_forms_words(error).faults
    remedies = {
        "/terms": "Accept the terms; otherwise nothing is requested.",
        "/purpose": f"State the purpose of the data in at most {LONGEST_PURPOSE:,} characters.",
        "/configuration": "Give the id of a configuration of the entry, or nothing.",
        "/contact": "Give a contact for the provider's questions, such as a mail address.",
    }
    worded = tuple(Fault(one.pointer, remedies.get(one.pointer, one.detail)) for one in faults)
    raise InvalidDocumentError("The form is incomplete.", worded)


def new_request_commands(viewer: Viewer, head: Head, asked: Form, names: Sequence[str]) -> Commands:
    """The commands for the same request. Replace the words in capitals."""
    members = {name: value for name, value in question_members(asked, names, head.label).items() if value}
    known = wire.NewDataRequest.model_fields
    said = {name: asked.text(name) or name.upper() for name in SAID if asked.text(name) or known[name].is_required()}
    options = ["--measure", str(members["measure"])] if members.get("measure") else []
    options += [word for name in ("label", "target") if members.get(name) for word in (f"--{name}", str(members[name]))]
    options += [word for name in members.get("attributes", ()) for word in ("--attribute", name)]
    options += [word for name, limit in members.get("require", {}).items() for word in ("--require", f"{name}={limit}")]
    options += [word for name, one in members.get("weights", {}).items() for word in ("--weights", _weight(name, one))]
    options += ["--kinds", ",".join(members["kinds"])] if len(members["kinds"]) > 1 else []
    options += [word for name, text in said.items() for word in (f"--{name}", text)]
    body = {"measure": "joint"} | members | said | {"terms": head.terms}
    query = {"version": str(head.version)}
    return Commands(
        (aegis("requests", "new", head.id, *options, "--accept-terms"),),
        (curl(viewer, f"/v1/entries/{head.id}/requests", query, body=body),),
    )


def _weight(name: str, weight: object) -> str:
    """A weight as a value of the option, quoted if the name has a comma or a quote."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([f"{name}={weight}"])
    return line.getvalue()


router = APIRouter(route_class=PageRoute)

_log = structlog.get_logger(__name__)

_PATH = "/requests/new"


@router.get(_PATH)
async def show_new_request(request: Request, viewer: ViewerDependency, state: StateDependency) -> Response:
    """The form of a new request, filled in by the parameters of the address.

    They are `entry` and, for another version than the latest, `version`; and either `advice`, the id of the advice
    whose question is repeated (it names entry and version, too), or the fields of the question as
    `/entries/{entry_id}/ask` has them: `measure`, `label`, `attributes` (repeated), `weight-NAME` for an attribute,
    `require-NAME` for a privacy criterion such as `require-k`, and `kinds=generated`. `purpose`, `contact` and
    `configuration` may be given, too.
    """
    asked = Form.in_address(request)
    if asked.text("advice"):
        advice = (await read_answer(state, viewer.caller, asked.text("advice"))).advice
        question = parse_qs(urlsplit(question_link(advice.entry_id, request_of(advice.question))).query)
        chosen = {"configuration": [asked.text("configuration")]} if asked.text("configuration") else {}
        asked = Form(question | chosen | {"entry": [advice.entry_id], "version": [str(advice.version)]})
    if not asked.text("entry"):
        commands = Commands((aegis("search"),), (curl(viewer, "/v1/entries"),))
        return page(request, "new_request_nowhere.html", commands=commands, here="requests")
    return await _form_page(request, viewer, state, asked)


@router.post(_PATH)
async def request_data(
    request: Request, viewer: ViewerDependency, state: StateDependency, form: FormDependency
) -> Response:
    """Make the request, only once per form, and redirect to its page. A job finds its configuration."""
    head, index = await read_index(state, viewer.caller, form.text("entry"), form.version)
    names = read_part(index.names, NAMES)

    async def create(services: Factory) -> str:
        asked = new_request_in(form, names, head.label)
        new = model_of(NewDataRequest, asked, question=question_of(asked))
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
    """The form with the reason of its refusal."""
    head, index = await read_index(state, viewer.caller, asked.text("entry"), asked.version)
    about, names = read_part(index.about, ABOUT), read_part(index.names, NAMES)
    async with state.database.transaction() as session:
        can = await services_of(state, session).advice(state.recent).askable(head)
        labels = Labels(head.labels, can.estimated, can.targets)
    answer = page(
        request,
        "new_request.html",
        200 if refusal is None else refusal.status,
        head=head,
        form=question_form(about, names, labels, asked, () if refusal is None else refusal.faults),
        policy=about.terms,
        asked=asked,
        once=draw_key(),
        refusal=refusal,
        by_field={} if refusal is None else refusal.by_field,
        commands=new_request_commands(viewer, head, asked, names),
        here="requests",
    )
    return answer if refusal is None else refusal.on(answer)
