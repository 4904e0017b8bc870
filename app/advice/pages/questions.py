"""Which tenant has asked what."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.advice.api.answers import question_answer, request_of
from app.advice.pages.views.questions import QuestionsForm, in_words, questions_commands
from app.edge.state import StateDependency, services_of
from app.pages.page import page
from app.pages.page_route import PageRoute
from app.pages.viewers import ViewerDependency

router = APIRouter(route_class=PageRoute)

#: How many questions a page has, and how many budgets.
PER_PAGE, MOST_BUDGETS = 25, 20


@router.get("/operator/questions")
async def show_questions(
    request: Request, viewer: ViewerDependency, state: StateDependency, form: Annotated[QuestionsForm, Query()]
) -> Response:
    """Who has asked most of what it may ask, and all questions, newest first."""
    tenant, token = form.tenant or None, form.page_token or None
    async with state.database.transaction() as session:
        questions = services_of(state, session).asked_questions()
        records, following = await questions.page(viewer.caller, tenant, form.entry_id, PER_PAGE, token)
        spent = await questions.spent(viewer.caller, tenant, form.entry_id, MOST_BUDGETS)
    return page(
        request,
        "questions.html",
        form=form,
        spent=spent,
        budget=state.question_budget,
        questions=[(question_answer(record), in_words(request_of(record.question))) for record in records],
        next_token=following,
        commands=questions_commands(viewer, form),
        here="operator",
    )
