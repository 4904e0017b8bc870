"""The registries of commands agree with the commands' own help."""

import subprocess
import sys
from importlib.metadata import version

import pytest

from aegis_provider.cli.commands import SECTION as PROVIDER
from aegis_sdk.cli.commands import SECTION as SDK

COMMANDS = [*SDK.commands, *PROVIDER.commands]


def test_a_record_says_what_its_command_says(aegis):
    helps = {command: aegis(command.name, "--help") for command in COMMANDS}
    texts = {command: (code, " ".join(out.split())) for command, (code, out, _) in helps.items()}
    wrong = [
        command.name
        for command, (code, text) in texts.items()
        if (code, command.summary in text, f"Example: {command.example}" in text) != (0, True, True)
    ]
    assert wrong == []


def test_the_list_has_every_command_with_its_summary(aegis):
    code, out, _ = aegis("--help")
    text = " ".join(out.split())
    assert (code, [command.name for command in COMMANDS if command.summary not in text]) == (0, [])


def test_the_program_says_its_version(aegis):
    assert aegis("--version") == (0, f"aegis {version('aegis-sdk')}\n", "")


@pytest.mark.processes
def test_the_list_loads_no_command():
    check = (
        "import sys; from aegis_sdk.cli import main\n"
        "try: main(['--help'])\n"
        "finally: heavy = {'httpx', 'pydantic', 'duckdb', 'ibis', 'numpy', 'yaml'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    ran = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.processes
def test_without_the_providers_package_a_line_says_what_to_install():
    block = "import importlib.metadata as m; m.entry_points = lambda **_: (); from aegis_sdk.cli import main; main()"
    ran = subprocess.run([sys.executable, "-c", block, "summarize"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert "unknown command 'summarize'" in ran.stderr
    assert ran.stderr.endswith("pip install ./advisor ./provider\n")
