import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from threading import Thread

import psycopg
import pytest
import sqlalchemy

from app.platform.process.bound import bound_command
from app.platform.process.embedded.cluster import (
    Account,
    EmbeddedPostgresError,
    drop_stale_pid_file,
    postmaster_of,
    program_of,
    server_account,
)
from app.platform.process.embedded.server import EmbeddedPostgres, running_urls
from tests.for_each import for_each
from tests.postgres import FAST, create_database, drop_database

pytestmark = pytest.mark.processes

LAUNCHER = """
import sys
from pathlib import Path
from app.platform.process.embedded.server import EmbeddedPostgres
with EmbeddedPostgres(Path(sys.argv[1])) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""

INTRUDED = ("postgres", "aegis", "nobody")
INTRUDER = f"""
import encodings.idna, os, sys
import psycopg
def attempt(url):
    try:
        psycopg.connect(url, connect_timeout=60).close()
        return "connected"
    except psycopg.Error as error:
        return str(error).replace(chr(10), " ")
attempt("postgresql:///none?host=/none")  # reads all modules, which the other account may not be able to
uid, gid, url = sys.argv[1:]
os.setgroups([])
os.setgid(int(gid))
os.setuid(int(uid))
for role in {INTRUDED}:
    print(attempt(url.format(role)))
"""


def start(directory: Path) -> EmbeddedPostgres:
    return EmbeddedPostgres(directory / "data", settings=FAST)


def launch_elsewhere(directory: Path) -> tuple[subprocess.Popen[str], str]:
    """A launcher in a separate process, with durable files, and the URL that it prints."""
    command = [sys.executable, "-c", LAUNCHER, str(directory / "data")]
    launcher = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert launcher.stdout is not None
    return launcher, launcher.stdout.readline().strip()


def bystander_of_the_server_s_account() -> subprocess.Popen[bytes]:
    """A running process that is not a postgres but that the server may signal; it ignores processes that it may not."""
    account = server_account()
    command = bound_command(["/bin/cat"], on_parent_death=signal.SIGKILL, account=(account.uid, account.gid))
    bystander = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, cwd="/")
    bystander.stdin.write(b"there?\n")
    assert bystander.stdout.readline() == b"there?\n"
    return bystander


def ask(url: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(query).fetchall()


def test_a_new_server_has_the_service_s_database_in_utf8_and_a_locale_of_its_own(postgres):
    query = (
        "SELECT datname, pg_encoding_to_char(encoding), datlocprovider, datlocale, current_user "
        "FROM pg_database WHERE datname = current_database()"
    )
    assert ask(postgres.url, query) == [("aegis", "UTF8", "b", "C.UTF-8", "postgres")]


def test_it_speaks_postgresql_18_and_utc_through_a_private_socket_only(postgres):
    (row,) = ask(
        postgres.url,
        "SELECT current_setting('server_version_num')::int / 10000, current_setting('timezone'), "
        "current_setting('listen_addresses'), current_setting('unix_socket_directories')",
    )
    assert row[:3] == (18, "UTC", "")
    socket = Path(str(row[3]).strip('"'))
    assert stat.S_IMODE(socket.stat().st_mode) == 0o700
    assert stat.S_IMODE((postgres.home / "cluster").stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another account")
@for_each(
    ("account", "refusal"),
    [
        (server_account(), "Peer authentication failed for user"),
        (Account(54321, 54321, foreign=True), "Permission denied"),
    ],
)
def test_no_other_account_connects_not_even_that_of_root_s_server(postgres, account, refusal):
    """The rules in the cluster, which the server's account can change, still trust everybody; they are not used."""
    assert "trust" in (postgres.home / "cluster" / "pg_hba.conf").read_text()
    url = postgres.url.replace("postgres@", "{}@")
    command = [sys.executable, "-c", INTRUDER, str(account.uid), str(account.gid), url]
    attempts = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/").stdout.splitlines()
    assert [refusal in each for each in attempts] == [True] * len(INTRUDED), attempts


def test_who_may_connect_is_written_where_the_server_cannot_change_it(postgres):
    for name in ("hba", "ident"):
        [(path,)] = ask(postgres.url, f"SHOW {name}_file")
        assert path == str(postgres.home / f"{name}.conf")
        status = Path(path).stat()
        assert (status.st_uid, stat.S_IMODE(status.st_mode)) == (os.geteuid(), 0o644)
    assert stat.S_IMODE(postgres.home.stat().st_mode) & 0o022 == 0
    assert ask(postgres.url, "SELECT error FROM pg_hba_file_rules UNION SELECT error FROM pg_ident_file_mappings") == [
        (None,)
    ]


def test_the_server_never_runs_as_root(postgres):
    assert Path(f"/proc/{postmaster_of(postgres.home / 'cluster')}").stat().st_uid != 0


@pytest.mark.long
def test_settings_override_the_defaults(directory):
    with EmbeddedPostgres(directory / "data", settings=FAST | {"max_connections": "17"}) as server:
        assert ask(server.url, "SHOW max_connections") == [("17",)]
        assert ask(server.url, "SHOW fsync") == [("off",)]


@pytest.mark.long
def test_what_is_stored_survives_a_restart(directory):
    with start(directory) as server, psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS value")
    with start(directory) as server:
        assert ask(server.url, "SELECT value FROM kept") == [(42,)]


def test_sqlalchemy_takes_the_url_with_its_own_dialect(postgres):
    engine = sqlalchemy.create_engine(postgres.url.replace("postgresql://", "postgresql+psycopg://", 1))
    with engine.connect() as connection:
        assert connection.scalar(sqlalchemy.text("SELECT current_database()")) == "aegis"
    engine.dispose()


@pytest.mark.long
def test_the_url_is_known_only_while_the_server_runs(directory):
    with start(directory) as server:
        assert server.url.startswith("postgresql://")
    with pytest.raises(EmbeddedPostgresError, match="is not running"):
        _ = server.url


@pytest.mark.long
def test_others_find_the_running_server_and_only_that(directory):
    assert running_urls(directory / "data") is None
    launcher, url = launch_elsewhere(directory)
    with launcher:
        assert running_urls(directory / "data").owner == url
        assert program_of(postmaster_of(directory / "data" / "cluster")) == "postgres"
        launcher.communicate("")
    assert launcher.returncode == 0
    assert running_urls(directory / "data") is None


@pytest.mark.long
def test_a_second_launcher_is_told_who_was_first(directory):
    launcher, url = launch_elsewhere(directory)
    with launcher:
        with pytest.raises(EmbeddedPostgresError, match=f"in use by process {launcher.pid}:"):
            start(directory).__enter__()
        assert ask(url, "SELECT 1") == [(1,)]
        launcher.communicate("")


@pytest.mark.long
def test_a_killed_launcher_takes_the_server_with_it_and_loses_nothing(directory):
    launcher, url = launch_elsewhere(directory)
    with launcher:
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 42 AS value")
        first = postmaster_of(directory / "data" / "cluster")
        launcher.kill()
    with start(directory) as server:
        assert postmaster_of(directory / "data" / "cluster") != first
        assert ask(server.url, "SELECT value FROM kept") == [(42,)]
    assert program_of(first) != "postgres"


@pytest.mark.long
def test_a_killed_server_s_pid_file_does_not_stop_the_next_one(directory):
    cluster = directory / "data" / "cluster"
    with start(directory):
        os.kill(postmaster_of(cluster), signal.SIGKILL)
    stale = (cluster / "postmaster.pid").read_text().splitlines()
    with bystander_of_the_server_s_account() as bystander:
        (cluster / "postmaster.pid").write_text("\n".join([str(bystander.pid), *stale[1:]]))
        with start(directory) as server:
            assert ask(server.url, "SELECT 1") == [(1,)]
        assert bystander.poll() is None
        bystander.communicate()


def test_the_pid_file_of_a_running_server_stays(postgres):
    cluster = postgres.home / "cluster"
    drop_stale_pid_file(cluster)
    assert (cluster / "postmaster.pid").exists()


@pytest.mark.long
def test_a_server_that_does_not_start_says_why_and_frees_the_directory(directory):
    with pytest.raises(EmbeddedPostgresError, match=r"did not start: see .*postgres\.log\n(.*\n)*.*plenty"):
        EmbeddedPostgres(directory / "data", settings={"shared_buffers": "plenty"}).__enter__()
    with start(directory) as server:
        assert ask(server.url, "SELECT 1") == [(1,)]


@pytest.mark.long
def test_a_path_too_long_for_a_socket_gets_a_short_private_one(directory):
    data = directory / ("long" * 30) / "data"
    with EmbeddedPostgres(data, settings=FAST) as server:
        assert running_urls(data) == server.urls
        (row,) = ask(server.url, "SHOW unix_socket_directories")
        socket = Path(str(row[0]).strip('"'))
        assert len(str(socket)) < 60
        assert stat.S_IMODE(socket.stat().st_mode) == 0o700
    assert not socket.exists()


@pytest.mark.long
def test_the_short_socket_directory_of_a_killed_launcher_is_removed(directory):
    parent = directory / ("long" * 30)
    launcher, url = launch_elsewhere(parent)
    with launcher:
        socket = Path(psycopg.conninfo.conninfo_to_dict(url)["host"])
        assert socket.exists()
        launcher.kill()
    with start(parent):
        assert not socket.exists()


@pytest.mark.long
def test_any_character_may_stand_in_the_path(directory):
    odd = directory / 'o\'dd, "näme" %41'
    with start(odd) as server:
        assert running_urls(odd / "data") == server.urls
        assert ask(server.url, "SELECT 1") == [(1,)]


@pytest.mark.long
def test_the_settings_of_the_operator_s_shell_do_not_leak_in(directory, monkeypatch):
    shell = {"PGDATA": "/nowhere", "PGHOST": "/nowhere", "PGPORT": "7", "LC_ALL": "xx_XX"}
    for name, value in shell.items():
        monkeypatch.setenv(name, value)
    with start(directory) as server:
        assert ask(server.url, "SHOW port") == [("5432",)]


def test_a_directory_that_cannot_be_made_is_named(directory):
    (directory / "data").write_text("a file")
    with pytest.raises(EmbeddedPostgresError, match=f"{directory}/data"):
        start(directory).__enter__()


@pytest.mark.skipif(os.geteuid() == 0, reason="no door is closed to root")
def test_a_directory_behind_a_closed_door_is_named(directory):
    (directory / "closed").mkdir(mode=0)
    for use in (EmbeddedPostgres, running_urls):
        with pytest.raises(EmbeddedPostgresError, match=f"{directory}/closed/data cannot be used"):
            use(directory / "closed" / "data")


def test_only_the_main_thread_may_start_a_server(directory):
    errors = []

    def enter() -> None:
        try:
            start(directory).__enter__()
        except EmbeddedPostgresError as error:
            errors.append(str(error))

    thread = Thread(target=enter)
    thread.start()
    thread.join()
    assert errors == ["the embedded PostgreSQL must be started from the main thread"]


def test_databases_are_copied_from_a_template_and_dropped(postgres):
    template = create_database(postgres.url, "template_of_test")
    with psycopg.connect(template) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS value")
    copy = create_database(postgres.url, "copy_of_test", template="template_of_test")
    assert ask(copy, "SELECT value FROM kept") == [(42,)]
    for name in ("copy_of_test", "template_of_test"):
        drop_database(postgres.url, name)
    left = ask(postgres.url, "SELECT count(*) FROM pg_database WHERE datname LIKE '%_of_test'")
    assert left == [(0,)]
