import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import pytest

from aegis_sdk import Client
from app.catalog.embedded import EmbeddedPostgres
from tests.postgres import create_database


@contextmanager
def service(database_url: str, **environment: str) -> Iterator[str]:
    """The service as an operator starts it, with one worker; its address."""
    command = [sys.executable, "-m", "app.cli", "serve", "--port", "0"]
    environment = os.environ | {"AEGIS_DATABASE_URL": database_url} | environment
    running = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        yield next(line for line in running.stdout if line.startswith("Aegis listens on ")).split()[-1]
    finally:
        running.send_signal(signal.SIGTERM)
        assert running.wait(20) == 0
        running.stdout.close()


@pytest.fixture(scope="session")
def url(postgres: EmbeddedPostgres, migrated: str) -> Iterator[str]:
    """A service in development mode, shared: tests publish under names of their own."""
    with service(create_database(postgres.url, f"contract_{uuid4().hex}", template=migrated)) as address:
        yield address


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    with Client(url) as found:
        yield found
