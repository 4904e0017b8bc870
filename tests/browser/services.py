"""The service as `aegis-server serve` runs it, an API and a worker, on a database of its own."""

import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import httpx

from app.domain.callers import DEFAULT_TENANT
from app.process.bound import bound_command
from app.process.embedded import EmbeddedPostgres
from tests.postgres import SERVICE, as_role, create_database, drop_database
from tests.running import COMMAND, Running, address, environment
from tests.service import Worker, create_key

TENANTS = ("clinic", "lab")
ROLES = ("provider", "consumer", "reviewer", "administrator")
OPERATOR = (DEFAULT_TENANT, "operator")

#: As `serve` has it.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


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
        """A client of its API; in development mode, whose is of no importance."""
        headers = {"Authorization": f"Bearer {self.keys[tenant, role]}"} if self.keys else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)

    async def work(self) -> None:
        """Run the jobs that wait, as a worker does; for a service without one."""
        async with Worker.on(self.database_url) as worker:
            await worker.run()


@contextmanager
def own_database(postgres: EmbeddedPostgres, template: str) -> Iterator[str]:
    """A migrated database as the service uses it, for the block."""
    name = f"browser_{uuid4().hex}"
    try:
        yield as_role(create_database(postgres.url, name, template=template), SERVICE)
    finally:
        drop_database(postgres.url, name)


@contextmanager
def serving(database_url: str, *, worker: bool = True, **settings: str) -> Iterator[str]:
    """Run the API and a worker as `serve` starts them, and yield the API's address.

    They end with this process, even if that is killed.
    """
    settings = {"database_url": database_url, "port": "0", "log_level": "WARNING"} | settings
    with ExitStack() as running:
        api = running.enter_context(_started("api", settings))
        if worker:
            running.enter_context(_started("worker", settings))  # it becomes ready while the first pages are read
        yield address(api)


@contextmanager
def _started(command: str, settings: Mapping[str, str]) -> Iterator[Running]:
    """Run an operator's command; what it logs goes where pytest keeps what a test prints."""
    bound = bound_command([*COMMAND, command], on_parent_death=signal.SIGKILL)
    environ = environment(**settings) | ONE_THREAD
    with TemporaryDirectory() as folder, Running(bound, Path(folder), env=environ) as started:
        try:
            yield started
        finally:
            started.kill()
            sys.stderr.write(started.whole_log())


async def all_keys(database_url: str) -> dict[tuple[str, str], str]:
    """Create a key of each role for each tenant, and one of the operator."""
    whose = [OPERATOR, *((tenant, role) for tenant in TENANTS for role in ROLES)]
    made = {each: await create_key(database_url, *each) for each in whose}
    return {each: header["Authorization"].removeprefix("Bearer ") for each, header in made.items()}
