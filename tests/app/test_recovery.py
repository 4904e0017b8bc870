"""What dies under `aegis-server serve` comes back, and nothing that was acknowledged is lost."""

import os
import signal
from pathlib import Path

import httpx
import psycopg
import pytest

from app.platform.process.embedded.server import running_urls
from tests.running import address, line_with, process
from tests.service import ACCEPTED, example_entry
from tests.waiting import wait_until

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The whole service on an embedded database of its own."""
    data_dir = tmp_path_factory.mktemp("served") / "data"
    with process("serve", "--port", "0", "--workers", "1", "--data-dir", str(data_dir)) as server:
        with httpx.Client(base_url=address(server), timeout=30) as api:
            ready(api)
            yield api, server, data_dir
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)
        assert server.returncode == 0


def ready(api):
    """Wait until everything works."""

    def is_ready():
        try:
            return api.get("/readyz", params={"require": "workers"}).status_code == 200
        except httpx.HTTPError:
            return False

    wait_until(is_ready, "the service has not come back")


def child(server, words):
    """The process id of a child of the supervisor; None if there is none."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            line = (status.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if parent == server.pid and words in line:
            return int(status.parent.name)
    return None


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds processes in /proc")
def test_what_is_killed_comes_back_with_all_that_was_acknowledged(served):
    api, server, _ = served
    head = api.post("/v1/entries", params=ACCEPTED, json=example_entry()).json()
    for words, measure in (("/bin/postgres -D", "g3"), ("app.cli api", "g2"), ("app.cli worker", "g1")):
        killed = child(server, words)
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: child(server, words) not in {None, killed}, f"{words} was not started again")  # noqa: B023
        ready(api)
        assert api.get(f"/v1/entries/{head['id']}").json()["digest"] == head["digest"]
        question = {"json": {"measure": measure}, "headers": {"Prefer": "wait=60"}}
        assert api.post(f"/v1/entries/{head['id']}/advice", **question).json()["status"] == "succeeded"


@pytest.mark.long
def test_a_database_that_cannot_start_for_a_while_comes_back(served):
    """As with a full disk: the server ends each time until the reason is gone."""
    api, server, data_dir = served
    urls = running_urls(data_dir)
    with psycopg.connect(urls.owner) as connection:
        [cluster] = connection.execute("SHOW data_directory").fetchone()
    control = Path(cluster) / "global" / "pg_control"
    hidden = control.with_name("hidden")
    control.rename(hidden)
    os.kill(child(server, "/bin/postgres -D"), signal.SIGKILL)
    line_with(server, "2 times in a row")
    assert api.get("/readyz").status_code == 503
    hidden.rename(control)
    ready(api)
