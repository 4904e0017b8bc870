"""Small counts and required privacy from end to end: services with and without keys, asked by `aegis`."""

import json
import os
import subprocess
import sys
from functools import partial
from uuid import uuid4

import pytest

from aegis_sdk import Client, InvalidError
from aegis_sdk.wire import EXAMPLE_ENTRY
from tests.contract.conftest import service
from tests.postgres import create_database


@pytest.fixture
def entry(tmp_path):
    """The file of the paper's example, which has small counts, under a name for the test alone."""
    path = tmp_path / "entry.json"
    path.write_text(json.dumps(EXAMPLE_ENTRY | {"name": f"small-{uuid4().hex}"}), encoding="utf-8")
    return path


def ran(program, *arguments, **environment):
    """Run a command and return its exit code, output and error lines."""
    command = [sys.executable, "-m", program, *map(str, arguments)]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def keyed(postgres, migrated):
    """Run `aegis` against a service with keys that requires k, as a provider; and that provider's client."""
    database_url = create_database(postgres.url, f"small_{uuid4().hex}", template=migrated)
    created = ("keys", "create", "--tenant", "acme", "--role", "provider")
    key = ran("app.cli", *created, AEGIS_DATABASE_URL=database_url)[1].strip()
    with service(database_url, AEGIS_REQUIRE_PRIVACY="k=5", AEGIS_MIN_K="3") as address, Client(address, key) as client:
        yield partial(ran, "aegis_sdk.cli", AEGIS_URL=address, AEGIS_API_KEY=key), client


@pytest.mark.long
def test_with_keys_they_are_published_only_if_whoever_publishes_accepts_them(keyed, entry):
    aegis, client = keyed
    code, output, complaint = aegis("publish", entry)
    assert (code, output, complaint.count("\n")) == (2, "", 1)
    assert complaint.startswith("aegis: FAIL: ")
    assert "To mend it: aegis summarize TABLE" in complaint
    assert "--accept-small-counts" in complaint
    with pytest.raises(InvalidError, match="small_counts"):
        client.publish(json.loads(entry.read_text()))
    code, output, complaint = aegis("publish", entry, "--accept-small-counts")
    assert (code, complaint) == (0, "")
    assert client.entry(output.strip()).accepted_small_counts is True
    assert aegis("publish", entry) == (0, output, "")  # it is published already

    entry.write_text(entry.read_text().replace("Self-rated", "Rated"), encoding="utf-8")
    assert aegis("publish", entry, "--update")[0] == 2
    assert aegis("publish", entry, "--update", "--accept-small-counts") == (0, output, "")

    code, report, _ = aegis("advise", output.strip(), "--measure", "mutual_information")
    assert (code, report.split(" of what ")[0]) == (0, "c01 keeps all")
    assert "a policy requires of every configuration: k=5" in report.splitlines()


@pytest.mark.long
def test_in_development_mode_the_command_asks_too_and_the_service_accepts_them_and_says_so(aegis, client, entry):
    code, output, complaint = aegis("publish", entry)
    assert (code, output, complaint.count("\n")) == (2, "", 1)
    head = client.publish(json.loads(entry.read_text()))
    [warning] = head.warnings
    assert "--accept-small-counts" in warning
    output = f"{head.id}\n"
    assert aegis("publish", entry) == (0, output, "")
    entry.write_text(entry.read_text().replace("Self-rated", "Rated"), encoding="utf-8")
    assert aegis("publish", entry, "--update", "--accept-small-counts") == (0, output, "")
