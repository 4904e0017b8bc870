"""The service as `aegis-server serve` runs it, API and worker, on a database of its own."""

import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import uuid4

import httpx

from app.process.bound import bound_command
from app.process.embedded import EmbeddedPostgres
from tests.postgres import SERVICE, as_role, create_database, drop_database
from tests.running import COMMAND, address, environment
from tests.service import Worker, create_key

TENANTS = ("clinic", "lab")
ROLES = ("provider", "consumer", "reviewer", "administrator")
OPERATOR = ("default", "operator")


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
def serving(database_url: str, **settings: str) -> Iterator[str]:
    """Run the service and yield its address. It ends with this process, even if that is killed."""
    environ = environment(log_level="WARNING", database_url=database_url, **settings)
    command = bound_command([*COMMAND, "serve", "--port", "0"], on_parent_death=signal.SIGKILL)
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(command, env=environ, text=True, stdout=subprocess.PIPE, stderr=log) as served,
    ):
        try:
            yield address(served)
        finally:
            served.kill()
            log.seek(0)
            sys.stderr.write(log.read())  # pytest shows it if a test failed


async def all_keys(database_url: str) -> dict[tuple[str, str], str]:
    """Create a key of each role for each tenant, and one of the operator."""
    whose = [OPERATOR, *((tenant, role) for tenant in TENANTS for role in ROLES)]
    made = {each: await create_key(database_url, *each) for each in whose}
    return {each: header["Authorization"].removeprefix("Bearer ") for each, header in made.items()}
