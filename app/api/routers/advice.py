"""Advice: questions about an entry, and their answers."""

import asyncio
from typing import Annotated

import structlog
from fastapi import APIRouter, Depends, Header, Response

from aegis_sdk import wire
from app.api.advice_json import advice_json
from app.api.asked import question_of
from app.api.bodies import validated
from app.api.conditional import NOT_MODIFIED, KnownTagsDependency, etag_of_advice
from app.api.dependencies import (
    CallerDependency,
    SmallBodyDependency,
    State,
    StateDependency,
    Version,
    require_room,
    services_of,
)
from app.api.describe import answers, body
from app.api.idempotency import OnceDependency
from app.api.mapping import JsonResponse
from app.api.preferences import Waiting, waiting
from app.domain.advice import AdviceQuestion
from app.domain.callers import Caller
from app.factory import Factory
from app.services.advice import QuestionRules, SeenAdvice

router = APIRouter(tags=["advice"])

_log = structlog.get_logger(__name__)

#: Seconds after which a caller who got 202 may ask again.
_RETRY_AFTER = "1"

#: Up to this many compressed bytes, an answer is put together in this process, in a few milliseconds.
SMALL = 10_000


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
    """Finds the configuration that loses the least predictive utility. The same question is computed only once."""
    wait = waiting(prefer)

    async def ask() -> tuple[str, Response]:
        question = question_of(await validated(wire.AdviceRequest, document))
        seen = await _answer(state, caller, entry_id, version, question, wait.seconds)
        return seen.advice.id, await _answered(state, caller, seen, wait)

    async def again(advice_id: str) -> Response:
        return await _answered(state, caller, await _read(state, caller, advice_id), wait)

    return await once.answer_by_name(document, ask, again)


async def _answered(state: State, caller: Caller, seen: SeenAdvice, wait: Waiting) -> Response:
    """The answer to a question, as far as there is one."""
    is_answered = seen.advice.status.is_final
    place = {} if is_answered else {"Location": f"/v1/advice/{seen.advice.id}", "Retry-After": _RETRY_AFTER}
    headers = place | wait.headers(is_answered=is_answered)
    return JsonResponse(await _json(state, caller, seen), 200 if is_answered else 202, headers)


async def _read(state: State, caller: Caller, advice_id: str) -> SeenAdvice:
    async with state.database.transaction() as session:
        return await services_of(state, session).advice(state.recent).read(caller, advice_id)


@router.get(
    "/v1/advice/{advice_id}",
    summary="Read an advice",
    responses=answers(200, wire.AdviceAnswer, "The advice, finished or not", 404) | NOT_MODIFIED,
)
async def read_advice(
    advice_id: str, caller: CallerDependency, state: StateDependency, known: KnownTagsDependency
) -> Response:
    """Returns an advice. Its result fields are null until it has succeeded; if it has failed, `problem` says why."""
    seen = await _read(state, caller, advice_id)
    tag = etag_of_advice(seen)
    headers = {} if tag is None else {"ETag": tag}
    if tag is not None and (unchanged := known.unchanged(tag, headers)) is not None:
        return unchanged
    return JsonResponse(await _json(state, caller, seen), headers=headers)


async def _answer(
    state: State, caller: Caller, entry_id: str, version: int | None, question: AdviceQuestion, wait: float
) -> SeenAdvice:
    """Ask, then wait for the answer, at most as long as the caller wants.

    No transaction is open while waiting. One transaction stores the question with its job, and each look at the answer
    has a transaction of its own.
    """
    clock = asyncio.get_running_loop().time
    start = clock()
    with state.announcements.attention() as attention:
        async with state.database.transaction() as session:
            factory = services_of(state, session)
            head = await factory.catalogue().head(caller, entry_id, version)
            rules = QuestionRules(state.question_budget, state.admission.required)
            asked = await factory.advice(state.recent).ask(caller, head, question, rules)
            _log.info("advice asked", entry=head.id, version=head.version, advice=asked.question.id, by=caller.subject)
            # This comes before the commit, so no worker can have announced the answer yet.
            attention.turn_to(asked.question.advice_id)
        if asked.is_new:
            await attention.wait(wait)
        while True:
            async with state.database.transaction() as session:
                seen = await Factory(session, state.queue).advice(state.recent).answer(caller, asked.question)
            is_final, elapsed = seen.advice.status.is_final, clock() - start
            if is_final or elapsed >= wait or attention.is_over:
                state.metrics.advised(elapsed, is_final=is_final, is_new=asked.is_new)
                return seen
            await attention.wait(wait - elapsed)


async def _json(state: State, caller: Caller, seen: SeenAdvice) -> bytes:
    """The answer as JSON. A child makes large ones; call this outside of any transaction."""
    if len(seen.advice.result or b"") <= SMALL:
        return advice_json(seen)
    return await state.making.run(advice_json, seen, on_behalf_of=caller.tenant)
