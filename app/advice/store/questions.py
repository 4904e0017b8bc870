"""The store of tenants' questions, and of their used budgets."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ARRAY, Integer, Text, Uuid, any_, bindparam, literal, select, tuple_
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.advice.model.advice import AdviceQuestion
from app.advice.tables import AdviceRow, QuestionBudgetRow, QuestionRow
from app.entries.tables import EntryRow, EntryVersionRow
from app.platform.database.base import Base, read_token, write_token
from app.platform.errors import NotFoundError
from app.tenants.store import tenant_id
from app.tenants.tables import TenantRow


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


class QuestionStore:
    """Questions by their id, the only one that callers see."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, advice_id: str, tenant: str, view: str) -> tuple[TenantQuestion, bool]:
        """Add a tenant's question; return it, and whether it is new for this tenant.

        Raises:
            NotFoundError: the advice has just been deleted.
        """
        key = {"advice_id": uuid.UUID(advice_id), "tenant_id": await tenant_id(self._session, tenant), "view": view}
        asked = (await self._session.execute(_ASKED, key)).first()
        added = None if asked else (await self._session.execute(_ADD, {"id": uuid.uuid4()} | key)).first()
        known = asked or added or (await self._session.execute(_ASKED, key)).first()
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
        records = [
            AskedRecord(
                str(row.id),
                row.tenant,
                str(row.entry_id),
                row.version,
                AdviceQuestion.from_json(row.question),
                row.view,
                row.created_at,
            )
            for row in rows[:limit]
        ]
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
        return [SpentBudget(row.tenant, str(row.id), row.entry, row.version, row.used) for row in rows]

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
        EntryRow.id,
        EntryRow.name.label("entry"),
        EntryVersionRow.version,
        QuestionBudgetRow.used,
    )
    .select_from(QuestionBudgetRow)
    .join(TenantRow, TenantRow.id == QuestionBudgetRow.tenant_id)
    .join(EntryVersionRow, EntryVersionRow.id == QuestionBudgetRow.version_id)
    .join(EntryRow, EntryRow.id == EntryVersionRow.entry_id)
)
_TABLE = Base.metadata.tables[QuestionRow.__tablename__]
_KEY = ("advice_id", "tenant_id", "view")
_ADVICE = Base.metadata.tables[AdviceRow.__tablename__]
#: Only if the advice exists: the lock, which a foreign key takes anyway, blocks its deletion until the transaction
#: ends.
_ADD = (
    insert(_TABLE)
    .from_select(
        ["id", "advice_id", "tenant_id", "view"],
        select(
            bindparam("id", type_=Uuid),
            _ADVICE.c.id,
            bindparam("tenant_id", type_=Integer),
            bindparam("view", type_=Text),
        )
        .where(_ADVICE.c.id == bindparam("advice_id"))
        .with_for_update(read=True, key_share=True),
    )
    .on_conflict_do_nothing()
    .returning(_TABLE.c.id, _TABLE.c.created_at)
)
_ASKED = select(_TABLE.c.id, _TABLE.c.created_at).where(*(_TABLE.c[name] == bindparam(name) for name in _KEY))
_QUESTION = select(QuestionRow, TenantRow.name).join(TenantRow).where(QuestionRow.id == bindparam("wanted"))
