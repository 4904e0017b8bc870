"""Questions: which tenant asked for which advice, and how many it may still ask."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ARRAY, Uuid, any_, bindparam, literal, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.catalog.stores.tenants import tenant_id
from app.catalog.tables import Base, QuestionBudgetRow, QuestionRow, TenantRow


@dataclass(frozen=True, slots=True)
class TenantQuestion:
    """A question that a tenant has asked, and the advice that answers it."""

    id: str
    advice_id: str
    tenant: str
    view: str
    created_at: datetime


class QuestionStore:
    """Questions by their id, the only one that callers see."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, advice_id: str, tenant: str, view: str) -> tuple[TenantQuestion, bool]:
        """A tenant's question, and whether the tenant asks it for the first time."""
        key = {"advice_id": uuid.UUID(advice_id), "tenant_id": await tenant_id(self._session, tenant), "view": view}
        added = (await self._session.execute(_ADD, {"id": uuid.uuid4()} | key)).first()
        known = added or (await self._session.execute(_ASKED, key)).one()
        return TenantQuestion(str(known.id), advice_id, tenant, view, known.created_at), added is not None

    async def find(self, question_id: str) -> TenantQuestion | None:
        """The question of this id."""
        try:
            wanted = {"wanted": uuid.UUID(question_id)}
        except ValueError:
            return None
        rows = await self._session.execute(_QUESTION, wanted)
        return next((TenantQuestion(str(q.id), str(q.advice_id), name, q.view, q.created_at) for q, name in rows), None)

    async def tenants(self, advice_ids: Sequence[str]) -> list[tuple[str, str]]:
        """The tenants that have asked for any of these advices, each with its advice, in the order of their names."""
        asked = select(TenantRow.name, QuestionRow.advice_id).join(QuestionRow).distinct()
        wanted = literal([uuid.UUID(one) for one in advice_ids], ARRAY(Uuid))  # one parameter, however many they are
        asked = asked.where(QuestionRow.advice_id == any_(wanted))
        rows = await self._session.execute(asked.order_by(TenantRow.name, QuestionRow.advice_id))
        return [(name, str(advice_id)) for name, advice_id in rows]

    async def count(self, version_id: int, tenant: str) -> int:
        """Count one more distinct question of a tenant about a version, and return how many it has asked.

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


_TABLE = Base.metadata.tables[QuestionRow.__tablename__]
_KEY = ("advice_id", "tenant_id", "view")
_ADD = insert(_TABLE).on_conflict_do_nothing().returning(_TABLE.c.id, _TABLE.c.created_at)
_ASKED = select(_TABLE.c.id, _TABLE.c.created_at).where(*(_TABLE.c[name] == bindparam(name) for name in _KEY))
_QUESTION = select(QuestionRow, TenantRow.name).join(TenantRow).where(QuestionRow.id == bindparam("wanted"))
