"""Routes of advice: questions about an entry, their answers, the measures, and the questions of all tenants."""

import asyncio
from functools import cache
from typing import Annotated
from uuid import UUID

import structlog
from fastapi import APIRouter, Depends, Header, Query, Request, Response

from aegis_advisor.measures import MEASURES
from aegis_sdk import wire
from app.advice.api.answers import advice_json, etag_of_advice, question_answer, question_of
from app.advice.model import AdviceQuestion
from app.advice.service.advice import QuestionRules, SeenAdvice
from app.edge.dependencies import CallerDependency, FactoryDependency, SmallBodyDependency, Version, require_room
from app.edge.idempotency import OnceDependency
from app.edge.state import State, StateDependency, services_of
from app.factory import Factory
from app.platform.callers import LONGEST_TENANT, Caller
from app.platform.http.bodies import validated
from app.platform.http.conditional import NOT_MODIFIED, REVALIDATED, KnownTagsDependency, etag_of
from app.platform.http.negotiation import Waiting, waiting
from app.platform.http.operations import JsonResponse, PageLimit, PageToken, answers, body, links
from app.platform.members import answer_of

router = APIRouter(tags=["advice"])

#: `Retry-After` of a 202 response, in seconds.
_RETRY_AFTER = "1"


@router.post(
    "/v1/entries/{entry_id}/advice",
    summary="Ask which configuration to use",
    dependencies=[Depends(require_room)],
    openapi_extra=body(wire.AdviceRequest),
    responses=answers(
        200, wire.AdviceAnswer, "The answer", 400, 404, 409, 413, 415, 422, 429, 507, headers=("Preference-Applied",)
    )
    | answers(
        202,
        wire.AdviceAnswer,
        "Not answered yet; read the advice at `Location`",
        headers=("Location", "Preference-Applied", "Retry-After"),
    ),
)
async def ask_advice(
    entry_id: str,
    caller: CallerDependency,
    document: SmallBodyDependency,
    state: StateDependency,
    once: OnceDependency,
    version: Version = None,
    prefer: Annotated[
        str | None, Header(description="`wait=SECONDS` (10 by default, at most 60) or `respond-async`")
    ] = None,
) -> Response:
    """Finds the configuration that loses the least predictive utility. Equal questions are computed only once."""
    wait = waiting(prefer)

    async def ask() -> tuple[str, Response]:
        question = question_of(await validated(wire.AdviceRequest, document))
        seen = await ask_and_wait(state, caller, entry_id, version, question, wait.seconds)
        return seen.advice.id, await _answered(state, caller, seen, wait)

    async def again(advice_id: str) -> Response:
        return await _answered(state, caller, await read_answer(state, caller, advice_id), wait)

    async def asked(_: Factory, answered: tuple[str, Response]) -> tuple[str, Response]:
        return answered

    if not once.has_key:  # then nothing is stored for retries, and the response needs no further connection
        return (await ask())[1]
    return await once.answer(document, ask, asked, again)


async def _answered(state: State, caller: Caller, seen: SeenAdvice, wait: Waiting) -> Response:
    """The response to a question, with the answer if it is ready."""
    is_answered = seen.advice.status.is_final
    place = {} if is_answered else {"Location": f"/v1/advice/{seen.advice.id}", "Retry-After": _RETRY_AFTER}
    headers = place | wait.headers(is_answered=is_answered)
    return JsonResponse(await answer_json(state, caller, seen), 200 if is_answered else 202, headers)


@router.get(
    "/v1/advice/{advice_id}",
    summary="Read an advice",
    responses=answers(200, wire.AdviceAnswer, "The advice, finished or not", 404) | NOT_MODIFIED,
)
async def read_advice(
    advice_id: str, caller: CallerDependency, state: StateDependency, known: KnownTagsDependency
) -> Response:
    """Returns an advice. Its result fields are null until it has succeeded; after a failure, `problem` has the
    reason.
    """
    seen = await read_answer(state, caller, advice_id)
    tag = etag_of_advice(seen)
    headers = {} if tag is None else {"ETag": tag}
    if tag is not None and (unchanged := known.unchanged(tag, headers)) is not None:
        return unchanged
    return JsonResponse(await answer_json(state, caller, seen), headers=headers)


_log = structlog.get_logger(__name__)

#: Up to this many compressed bytes, this process builds the response itself, in a few milliseconds.
SMALL = 10_000


async def ask_and_wait(
    state: State, caller: Caller, entry_id: str, version: int | None, question: AdviceQuestion, wait: float
) -> SeenAdvice:
    """Ask, then wait for the answer, at most for the caller's `wait`.

    No transaction is open while waiting: one stores the question with its job, and each poll uses a new one.
    """
    clock = asyncio.get_running_loop().time
    start = clock()
    with state.announcements.attention() as attention:
        async with state.database.transaction() as session:
            factory = services_of(state, session)
            head = await factory.catalogue().head(caller, entry_id, version)
            rules = QuestionRules(state.question_budget, state.admission.required)
            asked, is_new = await factory.advice(state.recent).ask(caller, head, question, rules)
            _log.info("advice asked", entry=head.id, version=head.version, advice=asked.id, by=caller.subject)
            # Registered before the commit, so no worker can have announced the answer yet.
            attention.advice_id = asked.advice_id
        if is_new:
            await attention.wait(wait)
        while True:
            async with state.database.transaction() as session:
                seen = await Factory(session, state.queue).advice(state.recent).answer(caller, asked)
            is_final, elapsed = seen.advice.status.is_final, clock() - start
            if is_final or elapsed >= wait or attention.is_over:
                state.metrics.advised(elapsed, is_final=is_final, is_new=is_new)
                return seen
            await attention.wait(wait - elapsed)


async def read_answer(state: State, caller: Caller, advice_id: str) -> SeenAdvice:
    """The advice that answers a question of the caller's tenant.

    Raises:
        NotFoundError: there is no such advice, or the caller may not see it.
    """
    async with state.database.transaction() as session:
        return await services_of(state, session).advice(state.recent).read(caller, advice_id)


async def answer_json(state: State, caller: Caller, seen: SeenAdvice) -> bytes:
    """The answer as JSON. A child process builds large ones; call this outside of transactions."""
    if len(seen.advice.result or b"") <= SMALL:
        return advice_json(seen)
    return await state.making.run(advice_json, seen, on_behalf_of=caller.tenant)


measures_router = APIRouter(tags=["measures"])


@measures_router.get(
    "/v1/measures",
    summary="List the measures",
    responses=answers(200, wire.MeasureList, "All measures", headers=("ETag",)) | NOT_MODIFIED,
)
async def list_measures(_caller: CallerDependency, known: KnownTagsDependency) -> Response:
    """Lists the measures available for advice, and which of them guarantee an exact ranking."""
    body, tag = _measures()
    headers = {"ETag": tag, "Cache-Control": REVALIDATED}
    return known.unchanged(tag, headers) or JsonResponse(body, headers=headers)


@cache
def _measures() -> tuple[bytes, str]:
    """The constant response and its tag."""
    items = [answer_of(wire.Measure, one, bias_correction=one.correction is not None) for one in MEASURES.values()]
    body = wire.MeasureList(items=items).model_dump_json().encode()
    return body, etag_of(body)


questions_router = APIRouter(tags=["operation"])


@questions_router.get(
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
