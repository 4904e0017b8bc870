"""What is kept only for some time: deleted in small parts, so that nobody waits long for it."""

from datetime import timedelta
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.data_requests import OPEN

#: How many rows are deleted in a transaction.
PART: Final = 500

#: Advice and versions stay for as long as a request for data needs them.
_OPEN = [state.value for state in OPEN]

_TRY_LOCK = text("SELECT pg_try_advisory_xact_lock(hashtextextended('retention', 0))")

_ADVICE = text(
    "DELETE FROM advice WHERE id IN (SELECT id FROM advice WHERE status IN ('succeeded', 'failed') "
    "AND created_at < now() - :age "
    "AND NOT EXISTS (SELECT FROM data_request WHERE advice_id = advice.id AND state = ANY(:open)) "
    "ORDER BY created_at LIMIT :part) RETURNING id"
)

# The latest version of all and the latest one that others see stay, however few are kept. A version that somebody is
# asking about is locked, and is left for the next time.
_VERSIONS = text(
    "DELETE FROM entry_version WHERE id IN (SELECT version.id FROM entry_version AS version "
    "JOIN entry ON entry.id = version.entry_id WHERE version.version <= entry.latest_version - :kept "
    "AND version.version <> coalesce(entry.released_version, entry.latest_version) "
    "AND NOT EXISTS (SELECT FROM data_request WHERE version_id = version.id AND state = ANY(:open)) "
    "ORDER BY version.id LIMIT :part FOR UPDATE OF version SKIP LOCKED) RETURNING id"
)

# Those that somebody changes are left for the next time: the others change them in another order.
_DELIVERIES = text(
    "DELETE FROM delivery WHERE id IN (SELECT id FROM delivery WHERE created_at < now() - :age "
    "ORDER BY created_at LIMIT :part FOR UPDATE SKIP LOCKED) RETURNING id"
)


class RetentionStore:
    """Deletes what is older than it may be."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def try_lock(self) -> bool:
        """Whether nobody else deletes until this transaction ends."""
        return bool((await self._session.execute(_TRY_LOCK)).scalar())

    async def delete_advice(self, age: timedelta) -> int:
        """Delete some advice that was finished and is older, with its questions; how much it was."""
        deleted = await self._session.execute(_ADVICE, {"age": age, "part": PART, "open": _OPEN})
        return len(deleted.all())

    async def delete_versions(self, kept: int) -> int:
        """Delete some versions of entries that have more than `kept`, with their advice; how many they were."""
        deleted = await self._session.execute(_VERSIONS, {"kept": kept, "part": PART, "open": _OPEN})
        return len(deleted.all())

    async def delete_deliveries(self, age: timedelta) -> int:
        """Delete some deliveries that are older; how many they were."""
        deleted = await self._session.execute(_DELIVERIES, {"age": age, "part": PART})
        return len(deleted.all())
