"""Asking for advice, and reading it."""

import asyncio

import structlog

from app.advice.api.answers import advice_json
from app.advice.model.advice import AdviceQuestion
from app.advice.service.advice import QuestionRules, SeenAdvice
from app.edge.state import State, services_of
from app.factory import Factory
from app.platform.callers import Caller

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
            asked = await factory.advice(state.recent).ask(caller, head, question, rules)
            _log.info("advice asked", entry=head.id, version=head.version, advice=asked.question.id, by=caller.subject)
            # Registered before the commit, so no worker can have announced the answer yet.
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
