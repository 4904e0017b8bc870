"""A throwaway PostgreSQL server for tests, and databases in it."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from app.platform.process.embedded.cluster import Binaries, make_home
from app.platform.process.embedded.server import EmbeddedPostgres
from tests.kept import APPLICATION, KEPT

OWNER, SERVICE = "postgres", "aegis"
"""The roles of an embedded server: the one that owns everything, and that of the service."""

FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off"}
"""Server settings for disposable data."""

OTHER = Path(os.environ.get("AEGIS_TEST_POSTGRES", ""))
"""The folder of another PostgreSQL, which contains `bin`, for `make test-postgres`."""


class OtherPostgres(EmbeddedPostgres):
    """A server of programs that the operator's machine has, run in the same way as the embedded one."""

    def _start(self, starting: ExitStack) -> None:
        make_home(self.home, self._account)
        cluster = self.home / "cluster"
        cluster.mkdir()
        self._account.own(cluster)
        options = ["--pgdata", str(cluster), "--username", OWNER, "--locale", "C.UTF-8", "--no-sync"]
        account = {"user": self._account.uid, "group": self._account.gid} if self._account.foreign else {}
        subprocess.run([Binaries(OTHER).initdb, *options], check=True, capture_output=True, cwd="/", **account)
        super()._start(starting)

    def _command(self, _: Binaries, socket: Path) -> list[str]:
        # The embedded server's own rules map an account to all roles, which versions before 16 cannot.
        rules = ["-c", f"hba_file={self.home / 'cluster/pg_hba.conf'}"]
        return super()._command(Binaries(OTHER), socket) + rules


@contextmanager
def throwaway_directory() -> Iterator[Path]:
    """Make a short-named directory that the server's account may enter, even if root runs the tests.

    pytest's own temporary directories keep other users out, and root's server does not run as root.
    """
    with tempfile.TemporaryDirectory(prefix="aegis-test-", dir="/tmp") as name:
        Path(name).chmod(0o711)
        yield Path(name)


@contextmanager
def throwaway_postgres() -> Iterator[EmbeddedPostgres]:
    """Run a server whose data is deleted afterwards."""
    kind = EmbeddedPostgres if not OTHER.name else OtherPostgres
    with throwaway_directory() as directory, kind(directory / "data", settings=FAST) as server:
        yield server


def create_database(server_url: str, name: str, template: str | None = None) -> str:
    """Create a database, a copy of `template` if given (which must have no connections); return its URL."""
    source = sql.SQL("" if template is None else " TEMPLATE {}").format(sql.Identifier(template or ""))
    _execute(server_url, sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)) + source)
    return urlsplit(server_url)._replace(path=f"/{name}").geturl()


def as_role(url: str, role: str) -> str:
    """Return the URL of a database for another role."""
    parts = urlsplit(url)
    return parts._replace(netloc=f"{role}@{parts.netloc.rpartition('@')[2]}").geturl()


def drop_database(server_url: str, name: str) -> None:
    """Drop a database and end the sessions in it."""
    _execute(server_url, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


_SHAPE = """
SELECT (SELECT count(*) FROM pg_attribute), (SELECT count(*) FROM pg_constraint), (SELECT count(*) FROM pg_trigger)
"""
_END_OTHERS = """
SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND (application_name <> %s OR state <> 'idle')
"""  # waits up to 10 s for each to end
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
_FIRST = sql.SQL("SELECT 1 FROM {} LIMIT 1")
_DELETE = sql.SQL("DELETE FROM {}")
# Without triggers, rows can be deleted in any order: foreign keys are triggers.
_WITHOUT_TRIGGERS = "SET session_replication_role = replica"
_SEQUENCES = "SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NULL"
_RESTART = sql.SQL("SELECT setval({}, 1, false)")
_RENEWALS = 100
"""How often the rows of a database are deleted, until those that are dead would slow it down."""


class LentDatabase:
    """A database that tests use in turn, each as if it were new, because emptying is faster than copying.

    What migrations put into it stays there. If a test changes its schema, the next test gets a new copy. Rows are
    deleted (1 ms): TRUNCATE makes a new file for each table and index (60 ms), as a new copy does.
    """

    def __init__(self, server_url: str, name: str, template: str) -> None:
        self._server_url, self._name, self._template = server_url, name, template
        self._create()

    def _create(self) -> None:
        owner_url = create_database(self._server_url, self._name, self._template)
        self.url, self._renewals_left = as_role(owner_url, SERVICE), _RENEWALS
        KEPT.lend(self.url)
        self._owner = owner = psycopg.connect(owner_url, autocommit=True)
        self._shape = owner.execute(_SHAPE).fetchone()
        tables = [sql.Identifier(name) for (name,) in owner.execute(_TABLES)]
        empty = [table for table in tables if owner.execute(_FIRST.format(table)).fetchone() is None]
        unused = [sql.Literal(name) for (name,) in owner.execute(_SEQUENCES)]
        self._clear = sql.SQL("; ").join([*map(_DELETE.format, empty), *map(_RESTART.format, unused)])
        owner.execute(_WITHOUT_TRIGGERS)

    def renew(self) -> None:
        """End the sessions in it and restore its first state."""
        self._renewals_left -= 1
        if self._renewals_left == 0 or not self._emptied():
            self.close()
            drop_database(self._server_url, self._name)
            self._create()

    def _emptied(self) -> bool:
        try:
            self._owner.execute(_END_OTHERS, [APPLICATION])
            if self._owner.execute(_SHAPE).fetchone() != self._shape:
                return False
            with self._owner.transaction():
                self._owner.execute(self._clear)
        except psycopg.OperationalError:  # a test has ended all connections
            return False
        return True

    def close(self) -> None:
        """Close the connection that empties it."""
        self._owner.close()


def _execute(server_url: str, statement: sql.Composable) -> None:
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(statement)
