"""Questions of all tenants, for operators."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from aegis_sdk import wire
from app.advice.api.answers import question_answer
from app.edge.dependencies import CallerDependency, FactoryDependency
from app.platform.callers import LONGEST_TENANT
from app.platform.http.operations import JsonResponse, PageLimit, PageToken, answers, links

router = APIRouter(tags=["operation"])


@router.get(
    "/v1/questions",
    summary="List questions",
    responses=answers(200, wire.QuestionPage, "One page, newest first", 422, headers=("Link",)),
)
async def list_questions(
    request: Request,
    caller: CallerDependency,
    factory: FactoryDependency,
    tenant: Annotated[str | None, Query(max_length=LONGEST_TENANT, description="Only questions of this tenant")] = None,
    entry: Annotated[UUID | None, Query(description="Only questions about the entry with this id")] = None,
    limit: PageLimit = 50,
    page_token: PageToken = None,
) -> Response:
    """Lists the distinct questions of all tenants. The log shows which key or person asked, and how often."""
    records, token = await factory.asked_questions().page(caller, tenant, entry, limit, page_token)
    answer = wire.QuestionPage(items=list(map(question_answer, records)), next_page_token=token)
    return JsonResponse(answer, headers={"Link": links(request, token)})
