"""The registries of commands agree with the commands' own help."""

import subprocess
import sys
from importlib.metadata import version
from inspect import signature
from typing import get_type_hints

import pytest

from aegis_provider.cli.agent import agent
from aegis_provider.cli.commands import SECTION as PROVIDER
from aegis_provider.cli.generate import generate
from aegis_provider.cli.independence import independence
from aegis_provider.cli.summarize import summarize
from aegis_provider.control import Split
from aegis_provider.handover.leasing import SECONDS
from aegis_provider.independence import STAR, Solver
from aegis_provider.synth.generate import DEFAULT_METHOD, MOST
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
def test_the_help_of_a_command_loads_nothing_that_works_on_tables():
    check = (
        "import io, sys; from contextlib import redirect_stdout, suppress; from aegis_sdk.cli import main\n"
        f"for name in {[command.name for command in COMMANDS]}:\n"
        "    with suppress(SystemExit), redirect_stdout(io.StringIO()): main([name, '--help'])\n"
        "    heavy = {'ibis', 'duckdb', 'pyarrow', 'scipy', 'sklearn', 'numpy', 'matplotlib'} & set(sys.modules)\n"
        "    assert not heavy, (name, heavy)"
    )
    ran = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_options_are_those_of_what_they_start():
    defaults = {name: parameter.default for name, parameter in signature(generate).parameters.items()}
    assert (signature(agent).parameters["lease"].default, defaults["method"]) == (SECONDS, DEFAULT_METHOD)
    assert get_type_hints(generate, include_extras=True)["records"].__metadata__[0].max == MOST
    assert get_type_hints(independence)["solver"] == Solver
    assert signature(independence).parameters["star"].default == STAR
    assert get_type_hints(summarize)["split"] == Split | None


@pytest.mark.processes
def test_without_the_providers_package_a_line_says_what_to_install():
    block = "import importlib.metadata as m; m.entry_points = lambda **_: (); from aegis_sdk.cli import main; main()"
    ran = subprocess.run([sys.executable, "-c", block, "summarize"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert "unknown command 'summarize'" in ran.stderr
    assert ran.stderr.endswith("pip install ./advisor ./provider\n")
