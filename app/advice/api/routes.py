"""Routes of advice: questions about an entry, and answers."""

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Response

from aegis_sdk import wire
from app.advice.api.answers import etag_of_advice
from app.advice.api.asked import question_of
from app.advice.api.asking import answer_json, ask_and_wait, read_answer
from app.advice.service.advice import SeenAdvice
from app.edge.dependencies import CallerDependency, SmallBodyDependency, Version, require_room
from app.edge.idempotency import OnceDependency
from app.edge.state import State, StateDependency
from app.factory import Factory
from app.platform.callers import Caller
from app.platform.http.bodies import validated
from app.platform.http.conditional import NOT_MODIFIED, KnownTagsDependency
from app.platform.http.negotiation import Waiting, waiting
from app.platform.http.operations import JsonResponse, answers, body

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
