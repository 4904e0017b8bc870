"""A running service and the keys of its users."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx

from app.platform.callers import DEFAULT_TENANT
from tests.service import Worker, create_key

TENANTS = ("clinic", "lab")
ROLES = ("provider", "consumer", "reviewer", "administrator")
OPERATOR = (DEFAULT_TENANT, "operator")


@dataclass(frozen=True)
class RunningService:
    """A running service.

    Attributes:
        url: its address, an origin.
        database_url: its database.
        keys: its keys by tenant and role; none in development mode.
    """

    url: str
    database_url: str
    keys: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def api(self, tenant: str = "", role: str = "") -> httpx.Client:
        """A client of its API; development mode ignores tenant and role."""
        headers = {"Authorization": f"Bearer {self.keys[tenant, role]}"} if self.keys else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)

    async def work(self) -> None:
        """Run the waiting jobs in place of a worker."""
        async with Worker.on(self.database_url) as worker:
            await worker.run()


async def all_keys(database_url: str) -> dict[tuple[str, str], str]:
    """Create a key of every role for every tenant, and one of the operator."""
    whose = [OPERATOR, *((tenant, role) for tenant in TENANTS for role in ROLES)]
    made = {holder: await create_key(database_url, *holder) for holder in whose}
    return {holder: header["Authorization"].removeprefix("Bearer ") for holder, header in made.items()}
