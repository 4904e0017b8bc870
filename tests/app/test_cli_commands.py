"""The registry of the operator's commands agrees with them, and loads none before it runs."""

import subprocess
import sys

import pytest

from app.cli.commands import CommandGroup, cli
from tests.for_each import for_each

#: Libraries that take most of the time of loading, one for each part of the service.
HEAVY = {"alembic", "fastapi", "numpy", "procrastinate", "psycopg", "pydantic", "sqlalchemy", "starlette", "uvicorn"}


def commands(group=cli, *words):
    """The words and the record of every command."""
    for name, part in group.parts.items():
        yield from commands(part, *words, name) if isinstance(part, CommandGroup) else [((*words, name), part)]


def loaded(*arguments):
    """The names of all modules that a command loads, and what it prints."""
    code = (
        "import sys; from app.cli.__main__ import main\n"
        f"sys.argv = ['aegis-server', *{list(arguments)}]\n"
        "try: main()\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return set(ran.stderr.splitlines()[-1].split()), ran.stdout


def test_a_record_says_what_its_command_says():
    records = dict(commands())
    assert ("keys", "create") in records
    helps = {words: " ".join(record.load(words[-1]).help.split()) for words, record in records.items()}
    assert {words: text for words, text in helps.items() if not text.startswith(records[words].summary[:-1])} == {}


@pytest.mark.processes
@for_each("arguments", [("--help",), ("--version",)])
def test_help_loads_no_command(arguments):
    modules, printed = loaded(*arguments)
    assert (HEAVY & modules, bool(printed)) == (set(), True)


@pytest.mark.processes
@pytest.mark.long
@for_each(
    ("arguments", "left_out"),
    [
        (("keys", "--help"), HEAVY - {"pydantic"}),
        (("audit", "verify", "--help"), HEAVY - {"pydantic", "numpy"}),
        (("keys", "list", "--help"), {"fastapi", "starlette", "uvicorn", "jinja2"}),
        (("worker", "--help"), {"fastapi", "jinja2"}),
    ],
)
def test_a_command_loads_no_more_than_it_needs(arguments, left_out):
    assert loaded(*arguments)[0] & left_out == set()
