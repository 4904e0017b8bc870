"""Small counts and required privacy from end to end: services with and without keys, asked by `aegis`."""

import json
from uuid import uuid4

import anyio
import pytest

from aegis_sdk import Client, InvalidError
from aegis_sdk.wire import EXAMPLE_ENTRY
from tests.in_thread import serving
from tests.service import create_key


@pytest.fixture
def entry(tmp_path):
    """The file of the paper's example, which has small counts, under a name for the test alone."""
    path = tmp_path / "entry.json"
    path.write_text(json.dumps(EXAMPLE_ENTRY | {"name": f"small-{uuid4().hex}"}), encoding="utf-8")
    return path


@pytest.fixture
def keyed(aegis, database_url, monkeypatch):
    """Let `aegis` ask a service with keys that requires k, as a provider; and that provider's client."""
    key = anyio.run(create_key, database_url, "acme", "provider")["Authorization"].removeprefix("Bearer ")
    monkeypatch.setenv("AEGIS_API_KEY", key)
    with serving(database_url, require_privacy="k=5") as address, Client(address, key) as client:
        monkeypatch.setenv("AEGIS_URL", address)
        yield aegis, client


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
