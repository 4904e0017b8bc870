"""Verdicts: a job checks whether the counts of each new version disclose small ones."""

from app.entries.model.verdicts import StoredVerdict
from app.entries.service.judging import VerdictInput
from app.entries.store.contents import ContentStore
from app.entries.store.verdicts import VerdictStore


class VerdictService:
    """Loads the input of a verdict, and stores the verdict. Each call belongs in a short transaction."""

    def __init__(self, contents: ContentStore, verdicts: VerdictStore) -> None:
        self._contents = contents
        self._verdicts = verdicts

    async def load(self, version_id: int) -> VerdictInput | None:
        """The input for the verdict on a version; None if there is a verdict, or the version is deleted."""
        if not await self._contents.pin(version_id) or await self._verdicts.find(version_id) is not None:
            return None
        schema = await self._contents.schema(version_id)
        configurations = await self._contents.configurations(version_id)
        if schema is None or configurations is None:
            return None
        return VerdictInput(schema, configurations, await self._contents.count_tables(version_id))

    async def store(self, version_id: int, verdict: StoredVerdict) -> None:
        """Store a verdict. Does nothing if the version has been deleted."""
        if await self._contents.pin(version_id) and await self._verdicts.add(version_id, verdict):
            await self._verdicts.record(version_id, "passed" if verdict.passed else "failed")

    async def find(self, version_id: int) -> StoredVerdict | None:
        """The verdict on a version; None if there is none yet."""
        return await self._verdicts.find(version_id)
