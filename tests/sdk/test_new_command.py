"""A new command needs only a module and a record in its distribution's registry, which an entry point names."""

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
def others(aegis, tmp_path, monkeypatch):
    """Run `aegis` where a distribution with a command is installed."""
    installed(tmp_path, "others", "others = others:SECTION")
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "__init__.py").write_text(COMMANDS)
    (tmp_path / "others" / "greet.py").write_text(GREET)
    monkeypatch.syspath_prepend(tmp_path)
    yield aegis
    for name in ("others", "others.greet"):
        sys.modules.pop(name, None)


def installed(folder, name, entry_point):
    about = folder / f"{name}-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[aegis.commands]\n{entry_point}\n")


def test_it_runs_and_is_listed_under_the_title_of_its_distribution(others):
    assert others("greet", "Ada") == (0, "HELLO Ada\n", "")
    assert "Others:\n  greet  Greet somebody.\n" in others("--help")[1]
    assert "Example: aegis greet Ada" in others("greet", "--help")[1]


def test_a_misspelt_name_is_told_of_it(others):
    code, out, error = others("gret")
    assert (code, out) == (2, "")
    assert "Did you mean 'greet'" in error


def test_a_broken_distribution_leaves_the_other_commands_working(others, tmp_path):
    installed(tmp_path, "broken", "missing = no_such_module:SECTION\nwrong = json:dumps")
    code, out, error = others("greet", "Ada")
    assert (code, out) == (0, "HELLO Ada\n")
    assert sorted(error.splitlines()) == [
        "aegis: warning: the commands of json:dumps cannot be loaded: it is not a CommandSection",
        "aegis: warning: the commands of no_such_module:SECTION cannot be loaded: No module named 'no_such_module'",
    ]


def test_no_other_distribution_takes_the_place_of_a_command(others, tmp_path):
    registry = tmp_path / "others" / "__init__.py"
    registry.write_text(registry.read_text().replace("greet:greet", "greet:publish"))
    greeting = tmp_path / "others" / "greet.py"
    greeting.write_text(greeting.read_text().replace("def greet", "def publish"))
    assert "Publish an entry and print its id" in " ".join(others("publish", "--help")[1].split())
    assert others("--help")[1].count("\n  publish ") == 1
