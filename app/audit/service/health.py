"""Whether the database and the audit log are as they should be, for whoever administers."""

from dataclasses import dataclass

from anyio import to_thread

from app.audit.model import Place, SignedHead
from app.audit.store.reading import AuditLogStore
from app.platform.callers import Caller, administered_tenant
from app.platform.database.revisions import newest_revision
from app.platform.database.schema import SchemaStore
from app.platform.errors import SchemaMismatchError


@dataclass(frozen=True, slots=True)
class Health:
    """What the database says, besides that it answers.

    Attributes:
        revision: by which migration the database was last changed.
        expected: the one that this version of the service works with.
        is_changeable: whether the service's own role could change the audit log.
        last: the place of the last record of the log; None if there is none.
        head: the last signed head; None if nothing was ever signed.
    """

    revision: str | None
    expected: str | None
    is_changeable: bool
    last: Place | None
    head: SignedHead | None


class HealthService:
    """Looks at the database and at the audit log."""

    def __init__(self, schema: SchemaStore, log: AuditLogStore) -> None:
        self._schema = schema
        self._log = log

    async def refuse_mismatch(self) -> None:
        """Look whether this version of the service works with the schema.

        Raises:
            SchemaMismatchError: it does not.
        """
        reason = await self._schema.mismatch()
        if reason is not None:
            raise SchemaMismatchError(reason)

    async def look(self, caller: Caller) -> Health:
        """How the database and the audit log are.

        Raises:
            RoleNotAllowedError: the caller administers nothing.
        """
        administered_tenant(caller, None)
        heads = await self._log.heads(1, None)
        return Health(
            await self._schema.revision(),
            await to_thread.run_sync(newest_revision),
            await self._log.is_changeable(),
            await self._log.last(),
            next(iter(heads), None),
        )
