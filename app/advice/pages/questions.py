"""The page of questions of all tenants, for operators."""

from typing import Annotated
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from aegis_sdk import wire
from app.advice.api.answers import question_answer, request_of
from app.advice.model import USUAL
from app.edge.state import StateDependency, services_of
from app.pages.commands import Commands, aegis, curl
from app.pages.page import page
from app.pages.page_route import PageRoute
from app.pages.viewers import ViewerDependency
from app.platform.callers import LONGEST_TENANT
from app.platform.errors import Fault, InvalidDocumentError


class QuestionsForm(BaseModel):
    """The filters of the list; empty ones have no effect."""

    tenant: str = Field(default="", max_length=LONGEST_TENANT)
    entry: str = Field(default="", max_length=64)
    page_token: str = Field(default="", max_length=255)

    @property
    def asked(self) -> dict[str, str]:
        """The filters that are set, as parameters of the API."""
        return {name: text for name, text in (("tenant", self.tenant), ("entry", self.entry.strip())) if text}

    @property
    def entry_id(self) -> UUID | None:
        """The entry.

        Raises:
            InvalidDocumentError: the field has no id.
        """
        try:
            return UUID(entry) if (entry := self.entry.strip()) else None
        except ValueError:
            fault = Fault("/entry", "Must be an id like those in the list.")
            raise InvalidDocumentError("The filter is invalid.", (fault,)) from None

    def link(self, page_token: str | None = None) -> str:
        """The address of a page of this list; of the first one without a token."""
        asked = self.asked | ({} if page_token is None else {"page_token": page_token})
        return f"/operator/questions?{urlencode(asked)}" if asked else "/operator/questions"


def in_words(asked: wire.AdviceRequest) -> str:
    """A question in one line."""
    required = [f"{name} {number:g}" for name, number in (asked.require or {}).items()]
    required += ["of people"] if required and asked.unit else []
    parts = [asked.measure or USUAL, *([] if asked.label is None else [f"about {asked.label}"])]
    parts += [] if asked.target is None else [f"label as {asked.target}"]
    parts += [f"of {len(asked.attributes)} attributes"] if asked.attributes else []
    parts += [f"{len(asked.weights)} weights"] if asked.weights else []
    parts += [f"requires {', '.join(required)}"] if required else []
    return "; ".join(parts)


router = APIRouter(route_class=PageRoute)

#: The numbers of questions and of budgets on a page.
PER_PAGE, MOST_BUDGETS = 25, 20


@router.get("/operator/questions")
async def show_questions(
    request: Request, viewer: ViewerDependency, state: StateDependency, form: Annotated[QuestionsForm, Query()]
) -> Response:
    """The most used budgets, and all questions, newest first."""
    tenant, token, entry = form.tenant or None, form.page_token or None, form.entry.strip()
    only = ("--entry", entry) if entry else ()
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
        commands=Commands((aegis("audit", *only),), (curl(viewer, "/v1/questions", form.asked),)),
        here="operator",
    )
