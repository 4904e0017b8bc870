"""The operator's command, end to end."""

import json
import logging
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import httpx
import psycopg
import pytest
import structlog

from app.cli.__main__ import main
from app.platform.digests import keyed_digest
from docs.generate import ROOT
from tests.answers import OPENAPI
from tests.app.worker.test_recovery import descendants, runs
from tests.for_each import for_each
from tests.postgres import create_database, drop_database, throwaway_directory
from tests.relay import relay
from tests.running import address, environment, process
from tests.service import create_key, example_entry, publish, running_app, services_at
from tests.waiting import PATIENCE

NOWHERE = "postgresql://postgres@127.0.0.1:1/aegis"


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a short command in this process, through the entry point of the installed program."""
    log = structlog.get_config()

    def run(*arguments, **settings):
        with monkeypatch.context() as patched:
            patched.setattr(sys, "argv", ["aegis-server", *arguments])
            patched.setattr(os, "environ", environment(**settings))
            patched.setattr(logging.root, "handlers", [])
            patched.setattr(logging.root, "level", logging.root.level)
            with pytest.raises(SystemExit) as ended:
                main()
        return Outcome(ended.value.code, *capsys.readouterr())

    yield run
    structlog.configure(**log)


def test_the_version_is_that_of_the_build_whatever_a_variable_says(run):
    shown = run("--version", version="true")
    assert (shown.code, shown.out, shown.err) == (0, f"aegis-server {version('aegis-masking-server')}\n", "")
    assert run("keys", version="true").out != shown.out


@pytest.mark.long
def test_a_key_is_shown_once_listed_by_its_prefix_and_revoked(run, database_url):
    options = ("--tenant", "clinic", "--role", "provider", "--expires-days", "1")
    created = run("keys", "create", *options, database_url=database_url)
    key = created.out.strip()
    prefix = "_".join(key.split("_")[:2])
    assert created.code == 0
    assert re.fullmatch(r"aegis_[0-9a-f]{8}_[\w-]{43}", key)
    assert created.err.endswith(" the first key: a service that runs without keys requires them only after a restart\n")
    assert run("keys", "create", "--tenant", "lab", "--role", "consumer", database_url=database_url).err == ""

    listed = run("keys", "list", database_url=database_url)
    assert f"{prefix}\tclinic\tprovider\texpires 20" in listed.out
    assert key not in listed.out

    assert run("keys", "revoke", prefix, database_url=database_url).code == 0
    assert f"{prefix}\tclinic\tprovider\trevoked" in run("keys", "list", database_url=database_url).out


def test_a_key_that_there_is_not_cannot_be_revoked(run, database_url):
    revoked = run("keys", "revoke", "aegis_00000000", database_url=database_url)
    assert (revoked.code, revoked.out, len(revoked.err.splitlines())) == (2, "", 1)
    assert "aegis_00000000" in revoked.err


@pytest.fixture
def empty_url(postgres):
    """A database without tables."""
    yield create_database(postgres.url, "empty_for_cli")
    drop_database(postgres.url, "empty_for_cli")


def test_keys_can_be_listed_before_anything_else_was_done(run, empty_url):
    listed = run("keys", "list", database_url=empty_url)
    assert (listed.code, listed.out, listed.err) == (0, "", "")


def test_migrating_twice_and_the_first_key(run, empty_url, tmp_path):
    file = tmp_path / "key"
    for _ in range(2):
        assert run("migrate", "--first-key-file", str(file), database_url=empty_url).code == 0
    assert file.stat().st_mode & 0o777 == 0o600
    listed = run("keys", "list", database_url=empty_url).out.splitlines()
    assert [line.split("\t")[0] for line in listed] == ["_".join(file.read_text().split("_")[:2])]


def test_a_migration_waits_for_a_server_that_still_starts(run, empty_url):
    with relay(empty_url, refused=2) as led:
        ran = run("migrate", database_url=led.url)
        assert (ran.code, ran.out, led.refused) == (0, "", 0)
        [told] = map(json.loads, ran.err.splitlines())
        assert (told["event"], "reason" in told) == ("waiting for the database", True)
        assert run("keys", "list", database_url=led.url).code == 0


@for_each("command", [("migrate",), ("migrate", "--wait", "60"), ("api",), ("worker",), ("serve",), ("keys", "list")])
def test_a_server_that_is_too_old_is_refused_in_a_line_and_left_alone(run, empty_url, command):
    with relay(empty_url, major=b"14") as led:
        ran = run(*command, database_url=led.url, port="0")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "PostgreSQL 14." in ran.err
    assert "the oldest that Aegis works with is 15: upgrade" in ran.err
    with psycopg.connect(empty_url) as connection:
        assert connection.execute("SELECT FROM pg_tables WHERE schemaname = 'public'").rowcount == 0


def test_the_oldest_server_is_not_refused(run, empty_url):
    with relay(empty_url, major=b"15") as led:
        assert run("migrate", database_url=led.url).code == 0


def drawn_by_openssl():
    """A key as docs/operations.md has people draw it."""
    text = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    [command] = set(re.findall(r"^(printf 'aegis_.*) > first-key$", text, re.MULTILINE))
    return subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True).stdout


def test_a_first_key_is_read_once_and_opens_the_service(run, empty_url, tmp_path):
    file, unread = tmp_path / "key", tmp_path / "unread"
    missing = run("migrate", "--bootstrap-key-file", str(file), database_url=empty_url)
    assert (missing.code, missing.err.count("\n"), str(file) in missing.err) == (0, 1, True)
    for text in ("", "aegis_12345678_short\n", "x" * 58):
        file.write_text(text)
        refused = run("migrate", bootstrap_key_file=str(file), database_url=empty_url)
        assert (refused.code, refused.err.count("\n"), refused.out) == (2, 1, ""), text
        assert not text or text.strip() not in refused.err
    key = drawn_by_openssl()
    for given in (key + "\n", drawn_by_openssl()):  # another one, later, is too late
        file.write_text(given)
        ran = run("migrate", bootstrap_key_file=str(file), first_key_file=str(unread), database_url=empty_url)
        assert (ran.code, ran.out, ran.err) == (0, "", "")
    listed = run("keys", "list", database_url=empty_url).out
    assert listed == f"{key[:14]}\tdefault\toperator\tvalid\tnever used\n"
    assert not unread.exists()
    with psycopg.connect(empty_url) as connection:
        [hashed] = connection.execute("SELECT key_hash FROM api_key").fetchone()
    assert hashed == sha256(key.encode()).digest()


@pytest.mark.parametrize(
    ("command", "url"),
    [
        (("migrate",), NOWHERE),
        (("worker",), NOWHERE),
        (("serve", "--port", "0"), NOWHERE),
        (("keys", "list"), NOWHERE),
        (("keys", "list"), "nonsense"),
    ],
    ids=str,
)
def test_without_its_database_a_command_says_so_in_a_line(run, command, url, monkeypatch):
    monkeypatch.setattr("app.platform.database.migrations.STARTING", 0.0)
    failed = run(*command, database_url=url)
    assert (failed.code, failed.out, len(failed.err.splitlines())) == (2, "", 1)
    assert failed.err.startswith("aegis-server: ")


def test_a_worker_without_any_database_says_what_to_do(run, tmp_path):
    failed = run("worker", "--data-dir", str(tmp_path / "none"))
    assert (failed.code, len(failed.err.splitlines())) == (2, 1)
    assert "AEGIS_DATABASE_URL" in failed.err


def test_what_a_tenant_requires_is_set_listed_and_taken_back(run, database_url):
    assert run("tenants", "set", "clinic", "--require", "k=10,t=0.2", database_url=database_url).code == 0
    assert run("keys", "create", "--tenant", "insurer", "--role", "consumer", database_url=database_url).code == 0
    listed = run("tenants", "list", database_url=database_url)
    assert listed.out == "clinic\tk=10,t=0.2\ninsurer\tnothing required\n"
    assert run("tenants", "set", "clinic", "--require", "", database_url=database_url).code == 0
    assert run("tenants", "list", database_url=database_url).out.startswith("clinic\tnothing required\n")


@pytest.mark.parametrize("required", ["k", "k=many", "anonymity=5"])
def test_what_cannot_be_required_of_a_tenant_is_one_line(run, required):
    failed = run("tenants", "set", "clinic", "--require", required, database_url=NOWHERE)
    assert (failed.code, failed.out, len(failed.err.splitlines())) == (2, "", 1)
    assert required.partition("=")[0] in failed.err


@pytest.mark.parametrize("value", ["k=some", "anonymity=5"])
def test_privacy_that_a_service_cannot_require_is_one_line(run, value):
    failed = run("serve", "--port", "0", database_url=NOWHERE, require_privacy=value)
    assert (failed.code, len(failed.err.splitlines())) == (2, 1)
    assert "require_privacy" in failed.err or "anonymity" in failed.err


def test_settings_that_cannot_be_used_are_named(run):
    failed = run("worker", database_url=NOWHERE, port="many", workers="-1")
    assert (failed.code, len(failed.err.splitlines())) == (2, 1)
    assert "port: " in failed.err
    assert "workers: " in failed.err


def test_the_openapi_document_is_written_and_checked_without_a_database(run, tmp_path):
    file = tmp_path / "openapi.json"
    file.write_text("{}")
    outdated = run("openapi", "--check", "--path", str(file))
    assert (outdated.code, "make openapi" in outdated.err) == (2, True)
    assert run("openapi", "--path", str(file)).code == 0
    assert json.loads(file.read_text()) == json.loads(OPENAPI.read_text())
    assert run("openapi", "--check", "--path", str(file)).code == 0
    nowhere = run("openapi", "--path", str(tmp_path / "gone" / "openapi.json"))
    assert (nowhere.code, len(nowhere.err.splitlines()), "--path" in nowhere.err) == (2, 1, True)


def test_the_door_stays_shut_to_others_without_a_key(run, database_url):
    refused = run("serve", "--host", "0.0.0.0", "--port", "0", database_url=database_url)
    assert refused.code == 2
    assert "keys create" in refused.err.splitlines()[-1]


@pytest.mark.processes
@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are counted in /proc")
def test_the_whole_service_starts_answers_and_stops():
    with (
        throwaway_directory() as directory,
        process("serve", "--port", "0", "--workers", "1", "--data-dir", str(directory / "data")) as served,
    ):
        with httpx.Client(base_url=address(served), timeout=30) as client:
            assert client.get("/readyz").status_code == 200
            head = client.post("/v1/entries", json=example_entry()).json()
            advice = client.post(
                f"/v1/entries/{head['id']}/advice", json={"measure": "g3"}, headers={"Prefer": "wait=30"}
            )
            assert (advice.status_code, advice.json()["status"]) == (200, "succeeded")
            assert client.get("/readyz").json() == {"status": "ready", "workers": 1}
        started = descendants(served.pid)
        assert len(started) >= 3
        served.send_signal(signal.SIGTERM)
        served.communicate(timeout=PATIENCE)
        assert served.returncode == 0
        assert [pid for pid in started if runs(pid)] == []


@pytest.mark.processes
@pytest.mark.long
def test_an_operator_s_key_opens_a_running_service(run, database_url):
    key = run("keys", "create", "--tenant", "clinic", "--role", "operator", database_url=database_url).out.strip()
    with process("serve", "--port", "0", "--workers", "0", database_url=database_url) as served:
        url = address(served)
        assert httpx.get(f"{url}/v1/entries").status_code == 401
        assert httpx.get(f"{url}/v1/entries", headers={"Authorization": f"Bearer {key}"}).status_code == 200
        served.terminate()
        served.communicate(timeout=PATIENCE)
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT count(*) FROM api_key").fetchone() == (1,)


async def test_a_new_server_key_changes_what_others_see_of_an_entry_and_nothing_else(database_url):
    owner, other = [await create_key(database_url, name, "provider") for name in ("owner", "other")]
    async with running_app(database_url) as api:
        path = f"/v1/entries/{(await publish(api, example_entry(visibility='all'), **owner))['id']}"
        before = [(await api.get(path, headers=key)).json() for key in (owner, other)]
        async with services_at(database_url) as services:
            assert await services.server_key().renew() == 1
        after = [(await api.get(path, headers=key)).json() for key in (owner, other)]
    assert after[0] == before[0]
    assert after[1].pop("digest") != before[1].pop("digest")
    assert after[1] == before[1]
    with psycopg.connect(database_url) as connection:
        query = "SELECT value, entry_id::text, digest, keyed_digest FROM server_key, entry_version"
        key, entry_id, digest, keyed = connection.execute(query).fetchone()
    assert keyed == keyed_digest(key, entry_id, digest)


@pytest.mark.long
def test_the_server_key_is_renewed_by_a_command(run, database_url):
    renewed = run("keys", "renew-server-key", database_url=database_url)
    assert (renewed.code, renewed.out) == (0, "0\n")


def test_a_newer_database_is_left_alone_and_refused_once_it_does_not_list_this_version(run, postgres, migrated):
    url = create_database(postgres.url, "newer", template=migrated)
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'ffffffffffff'")
    listed = run("migrate", database_url=url)
    assert (listed.code, listed.err) == (0, "")
    with psycopg.connect(url) as connection:
        connection.execute("DELETE FROM compatible_revision")
    failed = run("migrate", database_url=url)
    drop_database(postgres.url, "newer")
    assert (failed.code, len(failed.err.splitlines())) == (2, 1)
    assert "newer version" in failed.err
