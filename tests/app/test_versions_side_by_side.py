"""Two versions of the service on one database, before, during and after its migration."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import psycopg
import pytest

from tests.postgres import OWNER, SERVICE, as_role, create_database, drop_database
from tests.previous import PreviousVersion, previous_commit
from tests.running import line_with, process, serving
from tests.service import ACCEPTED, AUDIT_KEY, example_entry
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.processes

NAME = "side_by_side"


@pytest.fixture(scope="module")
def previous(tmp_path_factory) -> PreviousVersion:
    return PreviousVersion(tmp_path_factory.mktemp("previous"), previous_commit())


@pytest.fixture
def empty(postgres) -> Iterator[dict[str, str]]:
    """The settings of a new database, for its owner and for the service."""
    url = create_database(postgres.url, NAME)
    yield {"database_url": as_role(url, SERVICE), "owner_database_url": as_role(url, OWNER), "audit_key": AUDIT_KEY}
    drop_database(postgres.url, NAME)


def migrated(settings, version=None):
    with process("migrate", version=version, **settings) as migrating:
        _, errors = migrating.communicate(timeout=PATIENCE)
    assert migrating.returncode == 0, errors


def of_service(settings):
    return {name: value for name, value in settings.items() if name != "owner_database_url"}


@contextmanager
def working(settings, version=None):
    """A worker of a version, which is asked to end afterwards."""
    with process("worker", version=version, log_level="INFO", **of_service(settings)) as worker:
        line_with(worker, "worker started")
        yield
        worker.terminate()
        _, errors = worker.communicate(timeout=PATIENCE)
    assert worker.returncode == 0, errors


def published(api, name):
    answer = api.post("/v1/entries", params=ACCEPTED, json=example_entry(name=name, visibility="all"))
    assert answer.status_code == 201, answer.text
    return answer.json()


def advised(api, entry, measure):
    question = {"json": {"measure": measure}, "headers": {"Prefer": "wait=60"}}
    answer = api.post(f"/v1/entries/{entry['id']}/advice", **question)
    assert (answer.status_code, answer.json()["status"]) == (200, "succeeded"), answer.text
    return answer.json()


def assert_same_but_for_new_members(newer, older):
    """What the newer version added, at any depth, is null for a question without it, which an older client ignores."""
    if isinstance(older, dict):
        assert {name: newer[name] for name in newer.keys() - older.keys() if newer[name] is not None} == {}
        for name, value in older.items():
            assert_same_but_for_new_members(newer[name], value)
    elif isinstance(older, list):
        assert len(newer) == len(older)
        for one, other in zip(newer, older, strict=True):
            assert_same_but_for_new_members(one, other)
    else:
        assert newer == older


class Load:
    """Publishes, asks and reads, one request after another, until it is stopped; keeps each answer's status."""

    def __init__(self, api):
        self._address, self._over = str(api.base_url), threading.Event()
        self.statuses = []
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def goes_on(self):
        reached = len(self.statuses)
        wait_until(lambda: len(self.statuses) > reached + 3, "nothing is answered any more")

    def _run(self):
        with httpx.Client(base_url=self._address, timeout=PATIENCE) as api:
            while not self._over.is_set():
                posted = api.post("/v1/entries", params=ACCEPTED, json=example_entry(name=f"load-{len(self.statuses)}"))
                asked = api.post(f"/v1/entries/{posted.json()['id']}/advice", json={"measure": "g3"})
                self.statuses += [posted.status_code, asked.status_code, api.get("/v1/entries").status_code]


def assert_not_ready(new, settings):
    """This version says what is missing, and its workers take no job, which would fail."""
    for path in ("/readyz", "/readyz?require=workers"):
        answer = new.get(path)
        assert (answer.status_code, answer.json()["code"]) == (503, "schema_mismatch")
        assert "aegis-server migrate" in answer.json()["detail"]
    assert new.get("/healthz").status_code == 200
    with process("worker", **of_service(settings)) as worker:
        _, errors = worker.communicate(timeout=PATIENCE)
    assert (worker.returncode, errors.count("\n")) == (2, 1)
    assert "aegis-server migrate" in errors


def migrated_under_load(api, settings):
    with process("migrate", "--wait", "120", **of_service(settings)) as waiting, Load(api) as load:
        load.goes_on()
        assert waiting.poll() is None
        migrated(settings)
        load.goes_on()
        assert waiting.wait(timeout=PATIENCE) == 0
    assert all(status < 300 for status in load.statuses)


def assert_each_reads_what_the_other_stores(old, new):
    ours, theirs = published(new, "ours"), published(old, "theirs")
    for one, other, entry, measure in ((old, new, theirs, "g1"), (new, old, ours, "g2")):
        assert other.get(f"/v1/entries/{entry['id']}").json()["digest"] == entry["digest"]
        advice = advised(one, entry, measure)
        answers = {one: advice, other: other.get(f"/v1/advice/{advice['id']}").json()}
        assert_same_but_for_new_members(answers[new], answers[old])
        listed = other.get(f"/v1/entries?query={entry['name']}").json()["items"]
        assert [each["name"] for each in listed] == [entry["name"]]
        hidden = one.patch(f"/v1/entries/{entry['id']}", json={"visibility": "private"}, headers={"If-Match": "*"})
        assert hidden.status_code == 200
        assert other.get(f"/v1/entries/{entry['id']}").json()["visibility"] == "private"


@pytest.mark.long
def test_the_previous_version_works_before_while_and_after_the_database_is_migrated_and_beside_this_one(
    previous, empty
):
    assert all(path.is_relative_to(previous.tree) for path in previous.files())
    migrated(empty, previous)
    with serving(previous, **of_service(empty)) as (old, _), serving(**of_service(empty)) as (new, _):
        with working(empty, previous):
            before = published(old, "before")
            first = advised(old, before, "g1")
            assert_not_ready(new, empty)
            migrated_under_load(old, empty)
            wait_until(lambda: new.get("/readyz").json() == {"status": "ready", "workers": 1}, "it did not get ready")
            migrated(empty, previous)  # as each process of it does that is started again, or to go back
            assert new.get(f"/v1/entries/{before['id']}").json()["digest"] == before["digest"]
            assert_same_but_for_new_members(new.get(f"/v1/advice/{first['id']}").json(), first)
            assert_each_reads_what_the_other_stores(old, new)
        with working(empty):
            advised(old, before, "g2")
    with process("audit", "export", **empty) as exporting:
        log, errors = exporting.communicate(timeout=PATIENCE)
    assert (exporting.returncode, errors) == (0, "")
    assert log.count("\n") > 4


@pytest.mark.long
def test_a_worker_ends_once_the_schema_does_not_fit_any_more(empty):
    migrated(empty)
    with process("worker", log_level="INFO", **of_service(empty)) as worker:
        line_with(worker, "worker started")
        with psycopg.connect(empty["owner_database_url"]) as owner:
            owner.execute("DELETE FROM compatible_revision")
        _, errors = worker.communicate(timeout=120)
    assert worker.returncode not in (0, None)
    assert "install the newer version" in errors or "run `aegis-server migrate`" in errors
    assert "Traceback" not in errors
