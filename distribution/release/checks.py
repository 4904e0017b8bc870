"""What must be true of a commit before a release is made of it."""

import re

from packaging.version import Version

from distribution.metadata import HAS_A_HOME
from distribution.release.building import version_at
from distribution.release.programs import BIN, ROOT, ReleaseError, git, run


def check(version: str, before: str) -> None:
    """Check the tree, the version, the changelog, and that every migration can be made and taken back.

    Args:
        before: The commit of the version before.

    Raises:
        ReleaseError: Something of it is not so; the message says what to do.
    """
    if changed := git("status", "--porcelain"):
        raise ReleaseError(f"not everything is committed; commit or remove:\n{changed}")
    older = version_at(before)
    if Version(version) <= Version(older):
        raise ReleaseError(f"distribution/VERSION says {version}, but {older} is there already: raise it")
    headings = [line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("## ")]
    if headings[0].split()[1] != version:
        raise ReleaseError(f"CHANGELOG.md begins with {headings[0][3:]}: write what {version} changes above it")
    if is_tagged(version):
        refuse_unready(version, headings[0])
    run(BIN / "python", "-m", "pytest", "-q", "-n", "0", "-m", "", "tests/app/platform/database/test_migrations.py")


def is_tagged(version: str) -> bool:
    """Whether the commit has its version's tag. What is made of any other commit is a rehearsal: nobody uploads it."""
    return f"v{version}" in git("tag", "--points-at", "HEAD").splitlines()


def refuse_unready(version: str, heading: str) -> None:
    """Refuse to publish what is not dated, or whose project has no address.

    Args:
        heading: The first one of the changelog.

    Raises:
        ReleaseError: The message says what to write, and where.
    """
    if not re.fullmatch(rf"## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", heading):
        raise ReleaseError(
            f"CHANGELOG.md says {heading[3:]!r} of a tagged version: write its day, as in '{version} (2026-12-01)'"
        )
    if not HAS_A_HOME:
        raise ReleaseError("HOME in distribution/metadata.py is only an example: write where the project is")
