"""A new command needs only a module and a record in its distribution's registry, which an entry point names."""

import os
import subprocess
import sys

import pytest

COMMANDS = """
from aegis_sdk.cli.group import Command, CommandSection

SECTION = CommandSection("Others", (Command("others.greet:greet", "Greet somebody.", "aegis greet Ada"),))
"""
GREET = '''
def greet(name: str) -> None:
    """Greet somebody. Loudly."""
    print(f"HELLO {name}")
'''


@pytest.fixture
def others(tmp_path):
    """A distribution with a command, as it would be installed."""
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "__init__.py").write_text(COMMANDS)
    (tmp_path / "others" / "greet.py").write_text(GREET)
    (tmp_path / "others-1.dist-info").mkdir()
    (tmp_path / "others-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1\n")
    (tmp_path / "others-1.dist-info" / "entry_points.txt").write_text("[aegis.commands]\nothers = others:SECTION\n")

    def run(*arguments):
        path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
        command = [sys.executable, "-m", "aegis_sdk.cli", *arguments]
        environment = os.environ | {"PYTHONPATH": path}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    return run


def test_it_runs_and_is_listed_under_the_title_of_its_distribution(others):
    ran = others("greet", "Ada")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "HELLO Ada\n", "")
    assert "Others:\n  greet  Greet somebody.\n" in others("--help").stdout
    assert "Example: aegis greet Ada" in others("greet", "--help").stdout


def test_a_misspelt_name_is_told_of_it(others):
    ran = others("gret")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "Did you mean 'greet'" in ran.stderr


def test_a_broken_distribution_leaves_the_other_commands_working(others, tmp_path):
    (tmp_path / "broken-1.dist-info").mkdir()
    (tmp_path / "broken-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (tmp_path / "broken-1.dist-info" / "entry_points.txt").write_text(
        "[aegis.commands]\nmissing = no_such_module:SECTION\nwrong = json:dumps\n"
    )
    ran = others("greet", "Ada")
    assert (ran.returncode, ran.stdout) == (0, "HELLO Ada\n")
    assert sorted(ran.stderr.splitlines()) == [
        "aegis: warning: the commands of json:dumps cannot be loaded: it is not a CommandSection",
        "aegis: warning: the commands of no_such_module:SECTION cannot be loaded: No module named 'no_such_module'",
    ]


def test_no_other_distribution_takes_the_place_of_a_command(others, tmp_path):
    registry = tmp_path / "others" / "__init__.py"
    registry.write_text(registry.read_text().replace("greet:greet", "greet:publish"))
    greeting = tmp_path / "others" / "greet.py"
    greeting.write_text(greeting.read_text().replace("def greet", "def publish"))
    assert "Publish an entry and print its id" in " ".join(others("publish", "--help").stdout.split())
    assert others("--help").stdout.count("\n  publish ") == 1
