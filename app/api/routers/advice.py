"""Advice: questions about an entry, and their answers."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Header, Query, Response

from aegis_sdk import wire
from app.api.bodies import validated
from app.api.dependencies import CallerDependency, FactoryDependency, SmallBodyDependency, StateDependency
from app.api.describe import answers, body
from app.api.mapping import advice_body, question_of
from app.api.preferences import wait_seconds
from app.api.responses import JsonResponse
from app.api.state import State
from app.domain.advice import Advice, AdviceQuestion
from app.domain.callers import Caller
from app.factory import Factory

router = APIRouter(tags=["advice"])

#: Seconds after which a caller who got 202 may look again.
_RETRY_AFTER = "1"


@router.post(
    "/v1/entries/{entry_id}/advice",
    summary="Ask which configuration to use",
    openapi_extra=body(wire.AdviceRequest),
    responses=answers(200, wire.Advice, "The answer", 400, 404, 413, 415, 422)
    | answers(202, wire.Advice, "Not answered yet; follow Location", headers=("Location", "Retry-After")),
)
async def ask_advice(
    entry_id: str,
    caller: CallerDependency,
    document: SmallBodyDependency,
    state: StateDependency,
    version: Annotated[int | None, Query(ge=1, description="An older version; the latest by default")] = None,
    prefer: Annotated[
        str | None, Header(description="`wait=SECONDS` (10 by default, 60 at most) or `respond-async`")
    ] = None,
) -> Response:
    """The configuration that loses least predictive utility. The same question is computed once."""
    question = question_of(validated(wire.AdviceRequest, document))
    advice = await _answer(state, caller, entry_id, version, question, wait_seconds(prefer))
    if advice.status.is_final:
        return JsonResponse(advice_body(advice))
    headers = {"Location": f"/v1/advice/{advice.id}", "Retry-After": _RETRY_AFTER}
    return JsonResponse(advice_body(advice), 202, headers)


@router.get(
    "/v1/advice/{advice_id}",
    summary="Read an advice",
    responses=answers(200, wire.Advice, "The advice, finished or not", 404),
)
async def read_advice(advice_id: str, caller: CallerDependency, factory: FactoryDependency) -> Response:
    """Its result fields are null until it has succeeded; a failed one has `problem`."""
    return JsonResponse(advice_body(await factory.advising().read(caller, advice_id)))


async def _answer(
    state: State, caller: Caller, entry_id: str, version: int | None, question: AdviceQuestion, wait: float
) -> Advice:
    """Ask, then look until the answer is there, as long as the caller wants to wait.

    Never a transaction while waiting: one stores the question with its job, others look.
    """
    deadline = asyncio.get_running_loop().time() + wait
    with state.announcements.attention() as attention:
        async with state.database.transaction() as session:
            factory = Factory(session, state.queue)
            head = await factory.cataloguing().head(caller, entry_id, version)
            asked = await factory.advising().ask(head, question)
            # Before the commit: no worker can have announced the answer yet.
            attention.turn_to(asked.id)
        if asked.is_new:
            await attention.wait(wait)
        while True:
            async with state.database.transaction() as session:
                advice = await Factory(session, state.queue).advising().read(caller, asked.id)
            remaining = deadline - asyncio.get_running_loop().time()
            if advice.status.is_final or remaining <= 0:
                return advice
            await attention.wait(remaining)
