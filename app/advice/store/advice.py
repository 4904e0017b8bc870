"""The store of advice: questions, their status and progress, and their answers."""

import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Integer,
    Select,
    Text,
    Uuid,
    and_,
    any_,
    bindparam,
    case,
    cast,
    column,
    exists,
    func,
    literal,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.dml import ReturningUpdate

from app.advice.model import Advice, AdviceQuestion, Progress, Status
from app.advice.tables import AdviceRow, QuestionBudgetRow, QuestionRow, ReferenceRow
from app.entries.model.configurations import GENERATED
from app.entries.tables import EntryRow, EntryVersionRow
from app.platform.database.base import Base, Store, one_of, read_token, write_token
from app.platform.errors import NotFoundError
from app.platform.members import model_of
from app.platform.queue.model import Problem
from app.tenants.store import tenant_id
from app.tenants.tables import TenantRow

#: The channel that announces finished or deleted advice, with the id as the payload.
CHANNEL = "aegis_advice"


@dataclass(frozen=True, slots=True)
class Asked:
    """An advice, and whether this call added it."""

    id: str
    is_new: bool
    status: Status


class AdviceStore(Store):
    """Advice by id, or by question."""

    async def find_answer(self, version_id: int, question: AdviceQuestion, model_version: str) -> Asked | None:
        """The advice for `question`, finished or not; None if nobody has asked or the last attempt failed."""
        row = (await self._session.execute(_ASKED, _key(version_id, question, model_version))).first()
        if row is None or row.status == Status.FAILED:
            return None
        return Asked(str(row.id), is_new=False, status=Status(row.status))

    async def find_or_add(self, version_id: int, question: AdviceQuestion, model_version: str, first: int = 0) -> Asked:
        """The advice for `question`; queued if new or if the last attempt failed.

        `first`: the number of the first attribute's reference, by the question's label.
        """
        key = _key(version_id, question, model_version)
        new = {"id": uuid.uuid4(), "question": _stored(question, first), "status": Status.QUEUED.value}
        added = (await self._session.execute(_ADD, new | key)).scalar()
        if added is not None:
            return Asked(str(added), is_new=True, status=Status.QUEUED)
        advice_id, status = (await self._session.execute(_ASKED, key)).one()
        return Asked(str(advice_id), is_new=False, status=Status(status))

    async def find(self, advice_id: str) -> Advice | None:
        """The advice with this id."""
        try:
            rows = await self._session.execute(_ADVICE, {"wanted": uuid.UUID(advice_id)})
        except ValueError:
            return None
        return next(
            (
                model_of(
                    Advice,
                    row,
                    entry_id=version.entry_id,
                    version=version.version,
                    digest=version.digest,
                    question=_asked(row.question),
                )
                for row, version in rows
            ),
            None,
        )

    async def hold(self, advice_id: str) -> None:
        """Block the completion and deletion of an advice during the transaction."""
        held = select(AdviceRow.id).where(AdviceRow.id == uuid.UUID(advice_id)).with_for_update(read=True)
        await self._session.execute(held)

    async def progress(self, advice_id: str, model_version: str) -> Progress | None:
        """The number of stored references that an advice needs; None if the advice has been deleted."""
        statement = _needs(model_version, _DONE, _TOTAL).where(AdviceRow.id == uuid.UUID(advice_id))
        counts = (await self._session.execute(statement)).first()
        return None if counts is None else Progress(*counts)

    async def complete(self, version_id: int, model_version: str, attributes: Sequence[int]) -> list[str]:
        """The queued advice on a version that needs any of `attributes` and has all its references."""
        needs_some = func.bool_or(one_of(_NUMBER, attributes))
        return await self._queued(version_id, model_version, needs_some, _DONE == _TOTAL)

    async def lacking(self, version_id: int, model_version: str, attributes: Sequence[int]) -> list[str]:
        """The queued advice on a version that lacks the reference of any of `attributes`."""
        lacks_some = func.bool_or(one_of(_NUMBER, attributes) & ReferenceRow.attribute.is_(None))
        return await self._queued(version_id, model_version, lacks_some)

    async def _queued(self, version_id: int, model_version: str, *conditions: ColumnElement[bool]) -> list[str]:
        waiting = (AdviceRow.version_id == version_id, AdviceRow.status == Status.QUEUED.value)
        statement = _needs(model_version, AdviceRow.id).where(*waiting).having(and_(*conditions))
        return [str(advice_id) for advice_id in (await self._session.execute(statement)).scalars()]

    async def wake_waiting(self, entry_id: str) -> None:
        """Wake the callers that wait for advice on a deleted entry, at the commit."""
        await self._session.execute(_ANNOUNCE_WAITING, {"channel": CHANNEL, "wanted": uuid.UUID(entry_id)})

    async def mark(self, advice_id: str, status: Status) -> None:
        """Mark an advice as running, or as queued again, unless it is answered."""
        await self._change(advice_id, _UNANSWERED, status=status.value)

    async def answer_by(self, advice_id: str, model_version: str) -> bool:
        """Assign the advice to another model version; False if that already has the same question."""
        values = {"wanted": uuid.UUID(advice_id), "model": model_version}
        return (await self._session.execute(_ANSWER_BY, values)).first() is not None

    async def succeed(self, advice_id: str, result: bytes, elapsed_ms: float) -> bool:
        """Store the answer and announce it at the commit; False if there is one already."""
        return await self._finish(
            advice_id, _UNANSWERED, status=Status.SUCCEEDED.value, result=result, elapsed_ms=elapsed_ms, problem=None
        )

    async def fail(self, advice_id: str, problem: Problem) -> bool:
        """Store the reason for a failure and announce it at the commit; False if the advice has already ended."""
        return await self._finish(advice_id, _UNENDED, status=Status.FAILED.value, problem=asdict(problem))

    async def _finish(self, advice_id: str, statement: ReturningUpdate[Any], **values: object) -> bool:
        changed = await self._change(advice_id, statement, **values)
        await self._session.execute(_ANNOUNCE, {"channel": CHANNEL, "payload": advice_id})
        return changed

    async def _change(self, advice_id: str, statement: ReturningUpdate[Any], **values: object) -> bool:
        """Change an advice by the statement unless it has ended; return whether it was changed.

        Jobs may run twice: the slower one must not undo an answer, nor repeat a failure.
        """
        changed = await self._session.execute(statement, {"wanted": uuid.UUID(advice_id)} | values)
        return changed.first() is not None


# Statements are built once: building one takes longer than running it.
_TABLE = Base.metadata.tables[AdviceRow.__tablename__]
_KEY = ("version_id", "question_digest", "model_version")
_ADVICE: Select[AdviceRow, EntryVersionRow] = (
    select(AdviceRow, EntryVersionRow)
    .join(EntryVersionRow, EntryVersionRow.id == AdviceRow.version_id)
    .where(AdviceRow.id == bindparam("wanted"))
)
_ASKED = select(_TABLE.c.id, _TABLE.c.status).where(*(_TABLE.c[name] == bindparam(name) for name in _KEY))
_ADD = (
    insert(_TABLE)
    .on_conflict_do_update(
        index_elements=_KEY,
        set_={"status": Status.QUEUED.value, "problem": None},
        where=_TABLE.c.status == Status.FAILED.value,
    )
    .returning(_TABLE.c.id)
)
_UNANSWERED = (
    update(_TABLE)
    .where(_TABLE.c.id == bindparam("wanted"), _TABLE.c.status != Status.SUCCEEDED.value)
    .returning(_TABLE.c.id)
)
_UNENDED = _UNANSWERED.where(_TABLE.c.status != Status.FAILED.value)
_OTHER = _TABLE.alias("other")
_ANSWER_BY = (
    update(_TABLE)
    .values(model_version=bindparam("model"))
    .where(
        _TABLE.c.id == bindparam("wanted"),
        ~exists().where(
            _OTHER.c.version_id == _TABLE.c.version_id,
            _OTHER.c.question_digest == _TABLE.c.question_digest,
            _OTHER.c.model_version == bindparam("model"),
        ),
    )
    .returning(_TABLE.c.id)
)
_ANNOUNCE_WAITING = (
    select(func.pg_notify(bindparam("channel", type_=Text), cast(AdviceRow.id, Text)))
    .select_from(AdviceRow)
    .join(EntryVersionRow, EntryVersionRow.id == AdviceRow.version_id)
    .where(EntryVersionRow.entry_id == bindparam("wanted"), AdviceRow.status.not_in([Status.SUCCEEDED, Status.FAILED]))
)
_ANNOUNCE = select(func.pg_notify(bindparam("channel", type_=Text), bindparam("payload", type_=Text)))

#: The attributes in the outline of an advice's version, with their places.
_ATTRIBUTE = (
    func.jsonb_array_elements(EntryVersionRow.outline)
    .table_valued(column("value", JSONB), with_ordinality="place")
    .render_derived("attribute")
)
_PLACE = _ATTRIBUTE.c.place - 1
#: The number of an attribute's reference, and its name: the default label's at the place of another label.
_FIRST = func.coalesce(AdviceRow.question["first"].as_integer(), 0)
_NUMBER = _FIRST + _PLACE
_NAME = case(
    (_ATTRIBUTE.c.value["name"] == AdviceRow.question["label"], func.to_jsonb(EntryVersionRow.label)),
    else_=_ATTRIBUTE.c.value["name"],
)
_DONE = func.count(ReferenceRow.attribute)
_TOTAL = func.count()


def _needs(model_version: str, *columns: ColumnElement[Any] | InstrumentedAttribute[Any]) -> Select[Any]:
    """Select advice with the attributes that it scores and their references, if stored, grouped by advice.

    Advice on generated configurations uses declared utilities, and needs no references.
    """
    names = AdviceRow.question["attributes"]
    declared = func.coalesce(AdviceRow.question["kinds"].contains([GENERATED]), False)
    selected = ~declared & ((func.jsonb_typeof(names) == "null") | names.contains(_NAME))
    stored = and_(
        ReferenceRow.version_id == AdviceRow.version_id,
        ReferenceRow.model_version == model_version,
        ReferenceRow.attribute == _NUMBER,
    )
    needed = select(*columns).select_from(AdviceRow).join(EntryVersionRow, EntryVersionRow.id == AdviceRow.version_id)
    return needed.join(_ATTRIBUTE, selected).outerjoin(ReferenceRow, stored).group_by(AdviceRow.id)


_ABOUT = " about "


def _stored(question: AdviceQuestion, first: int) -> dict[str, Any]:
    """A question as stored.

    A version of the service that knows no labels or targets would answer for the default label as it is. So it reads a
    measure that there is not, and refuses it.
    """
    if question.label is None and question.target is None:
        return asdict(question)
    return asdict(question) | {"measure": f"{question.measure}{_about(asdict(question))}", "first": first}


def _asked(stored: dict[str, Any]) -> dict[str, Any]:
    """A stored question as it was asked."""
    return stored | {"measure": stored["measure"].removesuffix(_about(stored))}


def _about(question: dict[str, Any]) -> str:
    """What is added to the measure of a stored question about another label or a target."""
    asked = (question.get("label"), question.get("target"))
    return _ABOUT + " ".join(filter(None, asked)) if any(asked) else ""


def _key(version_id: int, question: AdviceQuestion, model_version: str) -> dict[str, Any]:
    return {"version_id": version_id, "question_digest": question.digest(), "model_version": model_version}


@dataclass(frozen=True, slots=True)
class TenantQuestion:
    """A tenant's question, and its advice."""

    id: str
    advice_id: str
    tenant: str
    view: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class AskedRecord:
    """A question in the list for operators."""

    id: str
    tenant: str
    entry_id: str
    version: int
    question: AdviceQuestion
    view: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SpentBudget:
    """The used budget of a tenant for a version of an entry."""

    tenant: str
    entry_id: str
    entry: str
    version: int
    used: int


class QuestionStore(Store):
    """Questions by their id, the only one that callers see."""

    async def add(self, advice_id: str, tenant: str, view: str) -> tuple[TenantQuestion, bool]:
        """Add a tenant's question; return it, and whether it is new for this tenant.

        Raises:
            NotFoundError: the advice has just been deleted.
        """
        key = {"advice_id": uuid.UUID(advice_id), "tenant_id": await tenant_id(self._session, tenant), "view": view}
        asked = (await self._session.execute(_ALREADY_ASKED, key)).first()
        added = None if asked else (await self._session.execute(_ADD_QUESTION, {"id": uuid.uuid4()} | key)).first()
        known = asked or added or (await self._session.execute(_ALREADY_ASKED, key)).first()
        if known is None:
            raise NotFoundError("The advice for this question has just been deleted. Ask again.")
        return TenantQuestion(str(known.id), advice_id, tenant, view, known.created_at), added is not None

    async def find(self, question_id: str) -> TenantQuestion | None:
        """The question of this id."""
        try:
            wanted = {"wanted": uuid.UUID(question_id)}
        except ValueError:
            return None
        rows = await self._session.execute(_QUESTION, wanted)
        return next((TenantQuestion(str(q.id), str(q.advice_id), name, q.view, q.created_at) for q, name in rows), None)

    async def page(
        self, tenant: str | None, entry_id: uuid.UUID | None, limit: int, page_token: str | None
    ) -> tuple[list[AskedRecord], str | None]:
        """Questions, newest first, of a tenant and about an entry where these are given; and the next page's token.

        Raises:
            InvalidDocumentError: the page token is invalid.
        """
        wanted = _RECORDS.order_by(QuestionRow.created_at.desc(), QuestionRow.id.desc()).limit(limit + 1)
        if tenant is not None:  # by id, which the index contains
            owner = select(TenantRow.id).where(TenantRow.name == tenant).scalar_subquery()
            wanted = wanted.where(QuestionRow.tenant_id == owner)
        if entry_id is not None:
            wanted = wanted.where(EntryRow.id == entry_id)
        if page_token is not None:
            wanted = wanted.where(tuple_(QuestionRow.created_at, QuestionRow.id) < tuple_(*read_token(page_token)))
        rows = (await self._session.execute(wanted)).all()
        records = [model_of(AskedRecord, row, question=_asked(row.question)) for row in rows[:limit]]
        more = len(rows) > limit
        return records, write_token(rows[limit - 1].created_at, rows[limit - 1].id) if more else None

    async def spent(self, tenant: str | None, entry_id: uuid.UUID | None, limit: int) -> list[SpentBudget]:
        """Used budgets of tenants by version, the largest first."""
        wanted = _SPENT.order_by(QuestionBudgetRow.used.desc(), EntryRow.name, EntryVersionRow.version).limit(limit)
        if tenant is not None:
            wanted = wanted.where(TenantRow.name == tenant)
        if entry_id is not None:
            wanted = wanted.where(EntryRow.id == entry_id)
        rows = await self._session.execute(wanted)
        return [model_of(SpentBudget, row) for row in rows]

    async def tenants(self, advice_ids: Sequence[str]) -> list[tuple[str, str]]:
        """The tenants with questions for any of these advices, each with its advice, ordered by name."""
        asked = select(TenantRow.name, QuestionRow.advice_id).join(QuestionRow).distinct()
        wanted = literal([uuid.UUID(one) for one in advice_ids], ARRAY(Uuid))  # a single parameter for any number
        asked = asked.where(QuestionRow.advice_id == any_(wanted))
        rows = await self._session.execute(asked.order_by(TenantRow.name, QuestionRow.advice_id))
        return [(name, str(advice_id)) for name, advice_id in rows]

    async def used(self, version_id: int, tenant: str) -> int:
        """The number of counted distinct questions of a tenant about a version."""
        used = select(QuestionBudgetRow.used).join(TenantRow, TenantRow.id == QuestionBudgetRow.tenant_id)
        counted = used.where(QuestionBudgetRow.version_id == version_id, TenantRow.name == tenant)
        return await self._session.scalar(counted) or 0

    async def count(self, version_id: int, tenant: str) -> int:
        """Count a further distinct question of a tenant about a version, and return the new number.

        Other questions of the tenant wait until this transaction ends; if it fails, the question is not counted.
        """
        owner = await tenant_id(self._session, tenant)
        counted = await self._session.execute(
            insert(QuestionBudgetRow)
            .values(version_id=version_id, tenant_id=owner, used=1)
            .on_conflict_do_update(
                index_elements=["version_id", "tenant_id"], set_={"used": QuestionBudgetRow.used + 1}
            )
            .returning(QuestionBudgetRow.used)
        )
        return counted.scalar_one()


_RECORDS = (
    select(
        QuestionRow.id,
        TenantRow.name.label("tenant"),
        EntryRow.id.label("entry_id"),
        EntryVersionRow.version,
        AdviceRow.question,
        QuestionRow.view,
        QuestionRow.created_at,
    )
    .join(TenantRow, TenantRow.id == QuestionRow.tenant_id)
    .join(AdviceRow, AdviceRow.id == QuestionRow.advice_id)
    .join(EntryVersionRow, EntryVersionRow.id == AdviceRow.version_id)
    .join(EntryRow, EntryRow.id == EntryVersionRow.entry_id)
)
_SPENT = (
    select(
        TenantRow.name.label("tenant"),
        EntryRow.id.label("entry_id"),
        EntryRow.name.label("entry"),
        EntryVersionRow.version,
        QuestionBudgetRow.used,
    )
    .select_from(QuestionBudgetRow)
    .join(TenantRow, TenantRow.id == QuestionBudgetRow.tenant_id)
    .join(EntryVersionRow, EntryVersionRow.id == QuestionBudgetRow.version_id)
    .join(EntryRow, EntryRow.id == EntryVersionRow.entry_id)
)
_QUESTIONS = Base.metadata.tables[QuestionRow.__tablename__]
_QUESTION_KEY = ("advice_id", "tenant_id", "view")
#: Only if the advice exists: the lock, which a foreign key takes anyway, blocks its deletion until the transaction
#: ends.
_ADD_QUESTION = (
    insert(_QUESTIONS)
    .from_select(
        ["id", "advice_id", "tenant_id", "view"],
        select(
            bindparam("id", type_=Uuid),
            _TABLE.c.id,
            bindparam("tenant_id", type_=Integer),
            bindparam("view", type_=Text),
        )
        .where(_TABLE.c.id == bindparam("advice_id"))
        .with_for_update(read=True, key_share=True),
    )
    .on_conflict_do_nothing()
    .returning(_QUESTIONS.c.id, _QUESTIONS.c.created_at)
)
_ALREADY_ASKED = select(_QUESTIONS.c.id, _QUESTIONS.c.created_at).where(
    *(_QUESTIONS.c[name] == bindparam(name) for name in _QUESTION_KEY)
)
_QUESTION = select(QuestionRow, TenantRow.name).join(TenantRow).where(QuestionRow.id == bindparam("wanted"))
