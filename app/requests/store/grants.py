"""How many data requests of a tenant a provider has granted."""

import uuid
from datetime import timedelta

from sqlalchemy import distinct, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.requests.model.data_requests import DataRequest, State
from app.requests.tables.data_request import DataRequestChangeRow, DataRequestRow


class GrantStore:
    """Grants: the requests that were approved, whatever has become of them since."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def count(self, request: DataRequest, time: timedelta) -> int:
        """How many requests of its consumer the provider of a request has granted lately.

        Others that count them wait until this transaction ends.
        """
        tenants = {"provider": request.provider, "consumer": request.consumer}
        await self._session.execute(_ONE_BY_ONE, tenants)
        one = aliased(DataRequestRow)
        granted = (
            select(func.count(distinct(DataRequestChangeRow.request_id)))
            .join(DataRequestRow, DataRequestRow.id == DataRequestChangeRow.request_id)
            .join(
                one, (one.provider_id == DataRequestRow.provider_id) & (one.consumer_id == DataRequestRow.consumer_id)
            )
            .where(one.id == uuid.UUID(request.id))
            .where(DataRequestChangeRow.state == State.APPROVED.value, DataRequestChangeRow.at > func.now() - time)
        )
        return (await self._session.execute(granted)).scalar_one()


_ONE_BY_ONE = text(
    "SELECT pg_advisory_xact_lock(hashtextextended('grants of ' || :provider || ' to ' || :consumer, 0))"
)
