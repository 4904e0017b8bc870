"""What others wrote judges what we write: validators in an environment of their own, and published schemas."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

_ENVIRONMENTS = Path(os.environ.get("AEGIS_STANDARDS", ".venv-standards")).absolute()
_SCRIPTS = Path(__file__).parent / "validators"
_PUBLISHED = Path(os.environ.get("AEGIS_STANDARDS_FILES", "../shared/standards")).absolute()


def judged(script: str, *arguments: object, environment: str = "validators") -> Any:
    """What a script of the folder `validators` prints, as JSON, in its last line.

    Args:
        environment: The folder of `.venv-standards` whose Python runs it.
    """
    python = _ENVIRONMENTS / environment / "bin" / "python"
    if not python.exists():
        pytest.fail(f"{python} is not installed: run `make test-standards`")
    run = subprocess.run(
        [python, "-W", "ignore", _SCRIPTS / script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        # Its libraries would find those of Aegis' own tree.
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


def published(name: str) -> Path:
    """A folder of files that a standard publishes. They are not in the repository: without them a test is skipped."""
    folder = _PUBLISHED / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is missing: AEGIS_STANDARDS_FILES names the folder that has {name}")
    return folder
