import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from aegis_provider import load_plan, prepare_entry
from aegis_provider.handover import Task
from aegis_sdk import Client
from app.process.embedded import EmbeddedPostgres
from tests.postgres import SERVICE, as_role, create_database

PLAN = """label: ill
quasi_identifiers: [age, town]
attributes:
  age: {type: integer, maskings: {tens: {bucketize: {width: 20}}, whole: {suppress: {}}}}
  town: {type: string, maskings: {hidden: {suppress: {}}}}
configurations:
  tens: {age: tens, town: hidden}
  whole: {age: whole, town: hidden}
privacy:
  tens: {k: 20}
  whole: {k: 1000}
"""


@contextmanager
def service(database_url: str, **environment: str) -> Iterator[str]:
    """The address of a service that was started as an operator would, with one worker."""
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
def url(postgres: EmbeddedPostgres, migrated: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A shared service in development mode; each test publishes under its own names.

    It runs as in production: with a role that does not own its database, and with a key that signs.
    """
    owner_url = create_database(postgres.url, f"contract_{uuid4().hex}", template=migrated)
    key_file = str(tmp_path_factory.mktemp("audit") / "audit-key.pem")
    settings = {"AEGIS_OWNER_DATABASE_URL": owner_url, "AEGIS_AUDIT_KEY_FILE": key_file}
    settings |= {"AEGIS_LINKS_ALLOW_PRIVATE": "true"}  # delivered files are on this machine
    with service(as_role(owner_url, SERVICE), **settings) as address:
        yield address


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    with Client(url) as found:
        yield found


@pytest.fixture(scope="session")
def aegis(url):
    """Run the command against the service and return its exit code, output and error lines."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        command = [sys.executable, "-m", "aegis_sdk.cli", *map(str, arguments)]
        done = subprocess.run(command, env=os.environ | {"AEGIS_URL": url}, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture(scope="session")
def people(tmp_path_factory):
    """A table and its plan, of which `tens` loses less."""
    rng, folder = random.Random(5), tmp_path_factory.mktemp("people")
    ages = [rng.randint(20, 79) for _ in range(1000)]
    lines = [f"{age},{rng.choice('ABC')},{'yes' if rng.random() < age / 100 else 'no'}" for age in ages]
    (folder / "people.csv").write_text("\n".join(["age,town,ill", *lines]) + "\n")
    (folder / "plan.yaml").write_text(PLAN)
    return folder


@pytest.fixture
def head(client, people):
    """The entry of this table, under a name of its own."""
    plan = load_plan(people / "plan.yaml")
    prepared = prepare_entry(people / "people.csv", plan, name=f"people-{uuid4().hex}", exact=True)
    return client.publish(prepared.entry, accept_small_counts=True)


@pytest.fixture
def approved(client, head):
    """A request for `tens` that its provider has approved."""
    asked = {"purpose": "a study", "contact": "me", "terms": head.terms}
    made = client.requests.create(head.id, "mutual_information", **asked, require={"k": 5}, wait=60)
    assert (made.state, made.configuration) == ("advised", "tens")
    return client.requests.approve(made.id)


@pytest.fixture
def task(client, people, approved):
    """Its fulfilment."""
    return Task(client, approved.id, people / "people.csv", load_plan(people / "plan.yaml"))
