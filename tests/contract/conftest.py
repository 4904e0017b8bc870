import os
import random
import subprocess
import sys
from collections.abc import Iterator
from uuid import uuid4

import pytest

from aegis_provider import load_plan, prepare_entry
from aegis_provider.handover import Task
from aegis_sdk import Client
from app.platform.process.embedded.server import EmbeddedPostgres
from tests.in_thread import own_database, serving
from tests.service import AUDIT_KEY

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


@pytest.fixture(scope="session")
def url(postgres: EmbeddedPostgres, migrated: str) -> Iterator[str]:
    """A shared service in development mode; each test publishes under its own names.

    It runs as in production: with a role that does not own its database, and with a key that signs.
    """
    allowed = {"links_allow_private": "true"}  # delivered files are on this machine
    with own_database(postgres, migrated) as database_url, serving(database_url, audit_key=AUDIT_KEY, **allowed) as url:
        yield url


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    with Client(url) as found:
        yield found


@pytest.fixture
def aegis(aegis, url, monkeypatch):
    """Run the command against the service, in this process, and return its exit code, output and error lines."""
    monkeypatch.setenv("AEGIS_URL", url)
    return aegis


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


#: The command in a process that can write only so many bytes to a file, as on a disk that becomes full.
WRITING_LITTLE = """import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
from aegis_sdk.cli import main
main()"""


@pytest.fixture
def aegis_on_full_disk(url: str):
    """The command likewise, in a process that writes files of so many bytes at most."""

    def run(size, *arguments):
        command = [sys.executable, "-c", WRITING_LITTLE, str(size), *map(str, arguments)]
        settings = {**os.environ, "AEGIS_URL": url}
        ran = subprocess.run(command, capture_output=True, text=True, env=settings, check=False)
        return ran.returncode, ran.stdout, ran.stderr

    return run
