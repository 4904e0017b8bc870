"""Questions as the domain has them, and advice and questions as responses.

Rankings can be long, so they go from the row to JSON without models.
"""

from dataclasses import asdict
from typing import Any

import msgspec
import orjson
from pydantic_core import to_jsonable_python

from aegis_sdk import wire
from app.advice.model import USUAL, AdviceQuestion, View
from app.advice.service.advice import SeenAdvice
from app.advice.service.views import RESULT_FIELDS, shown
from app.advice.store.advice import AskedRecord
from app.platform.http.conditional import hex_digits
from app.platform.http.operations import timestamp
from app.platform.queue.model import Problem
from app.tenants.required_privacy import required_privacy


def advice_json(seen: SeenAdvice) -> bytes:
    """An advice as JSON, finished or not. Slow for long rankings."""
    return orjson.dumps(advice_body(seen))


def advice_body(seen: SeenAdvice) -> dict[str, Any]:
    """An advice as `wire.Advice`, finished or not, without models: they would be slow for long rankings."""
    advice = seen.advice
    result = shown(advice, seen.view) or dict.fromkeys(RESULT_FIELDS[seen.view])
    elapsed = {"elapsed_ms": advice.elapsed_ms} if seen.view is View.FULL else {}
    problem = {} if advice.problem is None else {"problem": failure(advice.problem).model_dump(exclude_unset=True)}
    return {
        "id": advice.id,
        "status": advice.status.value,
        "view": seen.view.value,
        "entry": {"id": advice.entry_id, "version": advice.version, "digest": advice.digest},
        "stale": seen.is_stale,
        "request": request_of(advice.question).model_dump(),
        "policy": advice.question.policy.numbers or None,
        "policy_unit": advice.question.policy.unit,
        **result,
        "progress": None if advice.progress is None else asdict(advice.progress),
        "model_version": advice.model_version,
        "created_at": timestamp(advice.created_at),
        **elapsed,
        **problem,
    }


def request_of(question: AdviceQuestion) -> wire.AdviceRequest:
    """Convert a question back into the contract's form, where `require` has the limits of both kinds.

    Rules are not checked again, since there may be new ones since the question.
    """
    require = None if question.at_least is None else {**question.at_least, **(question.at_most or {})}
    members = (name for name in wire.AdviceRequest.model_fields if name != "require")
    asked = {name: to_jsonable_python(getattr(question, name)) for name in members}
    asked["frontier"] = list(question.axes) or None
    return wire.AdviceRequest.model_construct(**asked, require=require)


def failure(problem: Problem) -> wire.Problem:
    """The problem of a failed advice."""
    return wire.Problem(type="about:blank", title="Advice failed", code=problem.code, detail=problem.detail)


def question_answer(record: AskedRecord) -> wire.QuestionRecord:
    """A question in the list for operators."""
    return wire.QuestionRecord(
        advice=record.id,
        tenant=record.tenant,
        entry=wire.AskedVersion(id=record.entry_id, version=record.version),
        request=request_of(record.question).model_dump(),
        view=record.view,
        asked_at=record.created_at,
    )


def etag_of_advice(seen: SeenAdvice) -> str | None:
    """The tag of an advice at the caller's level of detail. None until final; failures can be retried."""
    advice = seen.advice
    if not advice.status.is_final:
        return None
    parts = (
        *(advice.id, seen.view, seen.is_stale, advice.status, advice.model_version),
        *(advice.digest, advice.elapsed_ms, advice.problem),
    )
    return f'"{hex_digits(repr(parts).encode(), 32)}"'


def question_of(asked: wire.Question) -> AdviceQuestion:
    """A validated question in the domain's form; without a limit, with as many rows as answers may have."""
    required = None if asked.require is None else required_privacy(asked.require)
    limit, axes = (asked.limit, asked.frontier or ()) if isinstance(asked, wire.AdviceRequest) else (None, ())
    members = asked.model_dump(exclude={"require"}) | {
        "at_least": None if required is None else required.at_least,
        "at_most": None if required is None else required.at_most,
        "limit": wire.ROWS if limit is None else limit,
        "measure": asked.measure or USUAL,
        "frontier": [(name, wire.AXES[name]) for name in axes] or None,
    }
    question: AdviceQuestion = msgspec.convert(members, AdviceQuestion)
    return question.by(question.measure)
