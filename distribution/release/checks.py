"""What must be true of a commit before a release is made of it."""

from packaging.version import Version

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
    run(BIN / "python", "-m", "pytest", "-q", "-n", "0", "-m", "", "tests/app/platform/database/test_migrations.py")
