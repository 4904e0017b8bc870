"""Questions of tenants, for operators."""

from uuid import UUID

from app.advice.store.questions import AskedRecord, QuestionStore, SpentBudget
from app.platform.callers import Caller, refuse_name
from app.platform.errors import RoleNotAllowedError


class AskedQuestions:
    """Questions of all tenants, and their used budgets."""

    def __init__(self, questions: QuestionStore) -> None:
        self._questions = questions

    async def page(
        self, caller: Caller, tenant: str | None, entry_id: UUID | None, limit: int, page_token: str | None
    ) -> tuple[list[AskedRecord], str | None]:
        """A page of questions, newest first, and the next page's token.

        Raises:
            RoleNotAllowedError: the caller is not an operator.
            InvalidDocumentError: the page token is invalid.
        """
        _refuse_others(caller, tenant)
        return await self._questions.page(tenant, entry_id, limit, page_token)

    async def spent(self, caller: Caller, tenant: str | None, entry_id: UUID | None, limit: int) -> list[SpentBudget]:
        """Used budgets of tenants by version, the largest first.

        Raises:
            RoleNotAllowedError: the caller is not an operator.
        """
        _refuse_others(caller, tenant)
        return await self._questions.spent(tenant, entry_id, limit)


def _refuse_others(caller: Caller, tenant: str | None) -> None:
    if not caller.is_operator:
        raise RoleNotAllowedError("Only operators may list questions.")
    if tenant is not None:
        refuse_name(tenant)
