"""The operator's commands about the audit log, end to end."""

import asyncio
import json
import logging
import os
import sys
from functools import partial

import pytest
import structlog
from pydantic import SecretStr
from structlog.testing import capture_logs

from app.audit.service import draw_key_text, signer_of
from app.cli.__main__ import main
from app.platform.queue.queue import queue_app
from app.worker.worker import sign_head
from tests.postgres import throwaway_directory
from tests.running import address, environment, process
from tests.service import create_key, running_app, services_at
from tests.waiting import PATIENCE

KEY, OTHER_KEY = (SecretStr(draw_key_text()) for _ in range(2))


@pytest.fixture
def command(monkeypatch, capsys):
    """Run a short command in this process, which leaves the log as it was; return its exit code, output and errors."""
    log = structlog.get_config()

    def command(*arguments, **settings):
        with monkeypatch.context() as patched:
            patched.setattr(sys, "argv", ["aegis-server", *map(str, arguments)])
            patched.setattr(os, "environ", environment(**settings))
            patched.setattr(logging.root, "handlers", [])
            patched.setattr(logging.root, "level", logging.root.level)
            with pytest.raises(SystemExit) as ended:
                main()
        return ended.value.code, *capsys.readouterr()

    yield command
    structlog.configure(**log)


@pytest.fixture
def run(command):
    """Run a command about the log."""
    return partial(command, "audit")


async def apart(run, *arguments, **settings):
    """Run a command that has a loop of its own."""
    return await asyncio.to_thread(run, *arguments, **settings)


@pytest.fixture
async def exported(database_url, database, tmp_path):
    """A log of six records with a head after the fifth, as its files: the log, the keys, another's keys."""
    for number in range(4):
        await create_key(database_url, f"tenant-{number}", "provider")
    assert await sign_head(database, queue_app(database_url), signer_of(KEY))
    await create_key(database_url, "tenant-5", "provider")
    async with running_app(database_url, audit_key=KEY) as api:
        keys = (await api.get("/.well-known/aegis-keys.json")).json()
    (tmp_path / "keys.json").write_text(json.dumps(keys))
    other = signer_of(OTHER_KEY)
    changed = [keys["keys"][0] | {"kid": other.key_id, "x": other.public_key}]
    (tmp_path / "other-keys.json").write_text(json.dumps({"keys": changed}))
    return tmp_path


async def test_a_log_is_exported_and_verified_and_what_was_done_to_it_is_found(run, database_url, exported):
    log, keys = exported / "log.jsonl", exported / "keys.json"
    assert await apart(run, "export", "--output", log, database_url=database_url) == (0, "", "")
    assert (await apart(run, "export", database_url=database_url))[1] == log.read_text()
    assert not list(exported.glob("*.part"))
    head, *records = log.read_text().splitlines(keepends=True)
    passed = "6 records, none changed, removed or moved; signed up to record 5, 1 record after that not covered\n"
    assert run("verify", log, "--keys", keys) == (0, passed, "")

    def failure(lines, *options, known=keys):
        log.write_text("".join(lines))
        code, out, err = run("verify", log, "--keys", known, *options)
        assert (code, out, err.count("\n")) == (1, "", 1)
        return err.removeprefix("aegis-server: ").strip()

    assert failure([head, *records[:2], records[2].replace("tenant-2", "tenant-9"), *records[3:]]).startswith(
        "record 3 was changed"
    )
    assert failure([head, *records[:2], *records[3:]]) == "record 3 was removed: record 4 is in its place"
    assert failure([head, records[1], records[0], *records[2:]]).startswith("record 1 is in the wrong place")
    truncated = failure([head, *records[:4]])
    assert truncated.startswith("the log is truncated: it ends with record 4, but the head, signed on 2")
    assert truncated.endswith("has record 5")
    other = head[:40] + ("A" if head[40] != "A" else "B") + head[41:]
    assert failure([other, *records]).startswith("signed head 1 of the log: ")
    unknown = failure([head, *records], known=exported / "other-keys.json")
    assert "signed by a key that is not among the given ones" in unknown
    # Whoever leaves out the head as well is found by a copy of it that was kept.
    (exported / "kept.jws").write_text(json.loads(head)["head"])
    assert "the head in " in failure(records[:4], "--signed", exported / "kept.jws")


async def test_a_log_of_which_nothing_is_signed_passes_only_if_that_is_accepted(run, database_url, exported):
    log, keys, kept = exported / "log.jsonl", exported / "keys.json", exported / "kept.jws"
    await apart(run, "export", "--output", log, database_url=database_url)
    head, *records = log.read_text().splitlines(keepends=True)
    kept.write_text(json.loads(head)["head"])
    log.write_text("".join(records))
    code, out, err = run("verify", log, "--keys", keys)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "6 records, none changed, removed or moved, but nothing is signed" in err
    intact = "6 records, none changed, removed or moved; "
    accepted = run("verify", log, "--keys", keys, "--unsigned")
    assert accepted == (0, f"{intact}nothing is signed\n", "")
    covered = run("verify", log, "--keys", keys, "--signed", kept)
    assert covered == (0, f"{intact}signed up to record 5, 1 record after that not covered\n", "")
    log.write_text("")
    assert run("verify", log, "--keys", keys)[0] == 1
    # What is accepted is that nothing is signed, not that a signature is wrong or a record changed.
    log.write_text("".join([records[0], *records[2:]]))
    assert run("verify", log, "--keys", keys, "--unsigned")[0] == 1


async def test_a_file_without_an_end_is_no_log(run, exported):
    code, out, err = run("verify", "/dev/zero", "--keys", exported / "keys.json")
    assert (code, out, err) == (1, "", "aegis-server: a line has more than 1048576 bytes, so this is not a log\n")
    code, out, err = run("verify", "/dev/null", "--keys", "/dev/zero")
    assert (code, out, err.count("\n")) == (1, "", 1)


async def test_what_cannot_be_read_is_an_error_in_one_line(run, exported, tmp_path):
    keys = exported / "keys.json"
    code, out, err = run("verify", tmp_path / "none.jsonl", "--keys", keys)
    assert (code, out, err) == (2, "", f"aegis-server: {tmp_path / 'none.jsonl'}: No such file or directory\n")
    (tmp_path / "log.jsonl").write_bytes(b"\x00\xff\n" * 3)
    code, _, err = run("verify", tmp_path / "log.jsonl", "--keys", keys)
    assert (code, "the record after record 0 was changed" in err) == (1, True)
    assert run("verify", tmp_path / "log.jsonl", "--keys", tmp_path / "log.jsonl")[0] == 1


async def test_what_an_operator_does_at_the_command_is_recorded(run, database_url):
    async with services_at(database_url) as services:
        await services.server_key().renew()
    [record] = map(json.loads, (await apart(run, "export", database_url=database_url))[1].splitlines())
    assert (record["action"], "tenant" in record) == ("server_key.renew", False)


@pytest.mark.parametrize(
    ("name", "settings", "told"),
    [
        ("api", {"audit_key_file": "/none/audit-key.pem"}, "the audit key cannot be read from /none/"),
        ("worker", {"audit_key_file": "/dev/null"}, "what is in /dev/null is not an Ed25519 private key"),
        ("serve", {"audit_key": "secret"}, "the audit key is not an Ed25519 private key"),
        ("migrate", {"audit_key_file": "/dev/none/audit-key.pem"}, "the audit key cannot be written to /dev/none/"),
    ],
)
def test_a_key_that_cannot_be_used_is_an_error_in_one_line(command, database_url, name, settings, told):
    code, _, err = command(name, database_url=database_url, port="0", **settings)
    assert (code, err.count("\n"), "secret" in err) == (2, 1, False)
    assert err.startswith(f"aegis-server: {told}")


def test_a_migration_makes_the_key_s_file_once(command, database_url, tmp_path):
    key, texts = tmp_path / "audit-key.pem", set()
    for _ in range(2):
        assert command("migrate", database_url=database_url, audit_key_file=str(key))[0] == 0
        texts.add(key.read_text())
    assert (len(texts), signer_of(None, key) is not None, key.stat().st_mode & 0o777) == (1, True, 0o600)


def test_the_owner_s_url_alone_is_an_error(run, owner_url):
    code, _, err = run("export", owner_database_url=owner_url)
    assert (code, err.startswith("aegis-server: AEGIS_OWNER_DATABASE_URL is the database's URL")) == (2, True)


@pytest.mark.processes
@pytest.mark.long
def test_an_embedded_service_has_two_roles_and_a_key_of_its_own(run):
    """The processes of `serve` cannot change the log, though the embedded server is theirs."""
    with throwaway_directory() as directory:
        data = directory / "data"
        settings = {"data_dir": str(data), "port": "0", "workers": "0"}
        with process("serve", log_level="INFO", **settings) as served:
            address(served)
            served.terminate()
            log = served.communicate(timeout=PATIENCE)[1]
        assert "audit log can be changed" not in log
        assert "no receipts" not in log
        key = data / "audit-key.pem"
        assert (key.stat().st_mode & 0o777, signer_of(None, key) is not None) == (0o600, True)
        code, out, _ = run("export", data_dir=str(data))
        assert (code, [json.loads(line)["action"] for line in out.splitlines()]) == (0, ["audit_key.add"])


async def test_a_service_whose_role_owns_its_database_says_so(owner_url):
    with capture_logs() as logged:
        async with running_app(owner_url):
            pass
    said = "\n".join(line["event"] for line in logged)
    assert "audit log can be changed by the service's own role" in said
    assert "no receipts and no signed heads" in said
