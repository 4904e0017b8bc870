"""The advice workbench: the form of a question, its progress, and its answer."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from aegis_sdk import wire
from app.advice.api.answers import question_of, request_of
from app.advice.api.routes import ask_and_wait, read_answer
from app.advice.model import Status
from app.advice.pages.answer import AnswerView, Choices, answer_view
from app.advice.pages.question import (
    Labels,
    advice_commands,
    question_commands,
    question_form,
    question_link,
    question_members,
)
from app.advice.service.advice import SeenAdvice
from app.edge.state import State, StateDependency, services_of
from app.entries.api.parameters import version_key
from app.entries.model.documents import is_small
from app.entries.model.entries import Head
from app.entries.pages.entry import read_index
from app.entries.pages.entry_index import ABOUT, NAMES
from app.pages.forms import Form, FormDependency, validated_as
from app.pages.page import page, see
from app.pages.page_route import PageRoute, Refusal
from app.pages.slices import read_part
from app.pages.viewers import Viewer, ViewerDependency
from app.platform.callers import Caller
from app.platform.errors import BudgetSpentError, InvalidDocumentError, QuotaSpentError

router = APIRouter(route_class=PageRoute)

#: Seconds that a person waits for the answer before a page shows its progress.
PATIENCE = 1.0

#: Up to this many bytes of an answer and of each part of its entry, this process builds the page itself.
SMALL = 50_000


@router.get("/entries/{entry_id}/ask")
async def show_question(
    entry_id: str,
    request: Request,
    viewer: ViewerDependency,
    state: StateDependency,
    version: Annotated[int | None, Query(ge=1)] = None,
) -> Response:
    """The form of a question, filled in by the parameters of the address."""
    return await _question_page(request, viewer, state, entry_id, version, Form.in_address(request))


@router.post("/entries/{entry_id}/ask")
async def ask(
    entry_id: str,
    request: Request,
    viewer: ViewerDependency,
    state: StateDependency,
    form: FormDependency,
    version: Annotated[int | None, Query(ge=1)] = None,
) -> Response:
    """Ask, and redirect to the answer; equal questions are computed only once."""
    state.limits.refuse_full_disk()
    head, index = await read_index(state, viewer.caller, entry_id, version)
    names = read_part(index.names, NAMES)
    members = question_members(form, names, head.label) | {"limit": None, "frontier": form.texts("frontier") or None}
    try:
        question = question_of(validated_as(wire.AdviceRequest, members))
        seen = await ask_and_wait(state, viewer.caller, entry_id, version, question, PATIENCE)
    except (InvalidDocumentError, BudgetSpentError, QuotaSpentError) as error:
        return await _question_page(request, viewer, state, entry_id, version, form, Refusal.of(request, error))
    return see(f"/advice/{seen.advice.id}")


@router.get("/advice/{advice_id}")
async def show_advice(
    advice_id: str,
    request: Request,
    viewer: ViewerDependency,
    state: StateDependency,
    choices: Annotated[Choices, Query()],
) -> Response:
    """The answer at the viewer's level of detail, or its progress."""
    seen = await read_answer(state, viewer.caller, advice_id)
    asked = request_of(seen.advice.question)
    again, about = question_link(seen.advice.entry_id, asked), (advice_id, seen.advice.entry_id, asked)
    if not seen.advice.status.is_final or seen.advice.status is Status.FAILED:
        template = "advice_failed.html" if seen.advice.status.is_final else "advice_progress.html"
        commands = advice_commands(viewer, *about)
        return page(request, template, seen=seen, again=again, commands=commands, here="catalogue")
    head, view = await _view(state, viewer.caller, seen, choices)
    return page(
        request,
        "advice.html",
        seen=seen,
        head=head,
        view=view,
        choices=choices,
        again=again,
        commands=advice_commands(viewer, *about, view.names),
        here="catalogue",
    )


async def _view(state: State, caller: Caller, seen: SeenAdvice, choices: Choices) -> tuple[Head, AnswerView]:
    """The head of the entry, and the view of the answer, which is cached: answers do not change.

    Permissions are checked before each call.
    """
    async with state.database.transaction() as session:
        catalogue = services_of(state, session).catalogue()
        head = await catalogue.head(caller, seen.advice.entry_id, seen.advice.version)
        in_full = head.shows_counts_to(caller)
        key = choices.link(seen.advice.id), seen.view, seen.is_stale, version_key(head, in_full)
        view: AnswerView | tuple[bytes, bytes] = state.answers.find(key) or await catalogue.schema(head)
    if isinstance(view, AnswerView):
        return head, view
    if all(is_small(part, SMALL) for part in (seen.advice.result or b"", *view)):
        made = answer_view(seen, *view, in_full, choices)
    else:  # a child process handles long rankings, so that others are served meanwhile
        made = await state.making.run(answer_view, seen, *view, in_full, choices, on_behalf_of=caller.tenant)
    state.answers.keep(key, made)
    return head, made


@router.get("/advice/{advice_id}/progress")
async def show_progress(advice_id: str, request: Request, viewer: ViewerDependency, state: StateDependency) -> Response:
    """The progress of an answer, as a part of its page, which reloads when the answer is ready."""
    seen = await read_answer(state, viewer.caller, advice_id)
    answer = page(request, "advice_bar.html", seen=seen)
    if seen.advice.status.is_final:
        answer.headers["HX-Refresh"] = "true"
    return answer


async def _question_page(
    request: Request,
    viewer: Viewer,
    state: State,
    entry_id: str,
    version: int | None,
    asked: Form,
    refusal: Refusal | None = None,
) -> Response:
    """The form with its faults."""
    head, index = await read_index(state, viewer.caller, entry_id, version)
    async with state.database.transaction() as session:
        advice = services_of(state, session).advice(state.recent)
        left = await advice.questions_left(viewer.caller, head, state.question_budget)
        can = await advice.askable(head)
        labels = Labels(head.labels, can.estimated, can.targets)
    about, names = read_part(index.about, ABOUT), read_part(index.names, NAMES)
    form = question_form(about, names, labels, asked, () if refusal is None else refusal.faults)
    label = None if form.label == head.label else form.label
    shown = wire.AdviceRequest.model_construct(measure=form.measure, label=label, frontier=form.frontier or None)
    answer = page(
        request,
        "ask.html",
        200 if refusal is None else refusal.status,
        head=head,
        version=version,
        form=form,
        left=left,
        budget=state.question_budget,
        refusal=refusal,
        commands=question_commands(viewer, head.id, shown),
        here="catalogue",
    )
    return answer if refusal is None else refusal.on(answer)
