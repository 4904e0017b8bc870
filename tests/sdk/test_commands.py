"""The registries of commands agree with the commands' own help, which shows people first what they need first."""

import re
import subprocess
import sys
from importlib.metadata import version
from inspect import signature
from typing import get_type_hints

import pytest

from aegis_advisor.measures import OFFERED
from aegis_provider.cli.commands import SECTION as PROVIDER
from aegis_provider.cli.generate import generate
from aegis_provider.cli.independence import independence
from aegis_provider.cli.requests import agent
from aegis_provider.cli.summarize import summarize
from aegis_provider.control import Split
from aegis_provider.handover.leasing import SECONDS
from aegis_provider.independence import STAR
from aegis_provider.synth.generate.generating import DEFAULT_METHOD, MOST
from aegis_sdk.cli.commands import SECTION as SDK
from aegis_sdk.cli.group import Group

PARTS = ("Options", "Advanced")
WITHOUT_PROVIDER = (
    "import importlib.metadata as m; m.entry_points = lambda **_: (); from aegis_sdk.cli import main; main()"
)


def commands():
    """All commands by what people type after `aegis`."""
    for each in (*SDK.commands, *PROVIDER.commands):
        if isinstance(each, Group):
            yield from ((f"{each.name} {command.name}", command) for command in each.commands)
        else:
            yield each.name, each


COMMANDS = dict(commands())


def test_a_record_says_what_its_command_says(aegis):
    helps = {path: aegis(*path.split(), "--help") for path in COMMANDS}
    texts = {path: (code, " ".join(out.split())) for path, (code, out, _) in helps.items()}
    wrong = [
        path
        for path, command in COMMANDS.items()
        if (texts[path][0], command.summary in texts[path][1]) != (0, True)
        or f"Example: {command.example}" not in texts[path][1]
        or not command.example.startswith(f"aegis {path} ")
    ]
    assert wrong == []


def test_a_help_shows_few_options_before_the_advanced_ones(aegis):
    many = {}
    for path in COMMANDS:
        parts = dict(
            re.findall(r"^(\w+):\n(.*?)\n(?:\n|\Z)", aegis(*path.split(), "--help")[1], re.DOTALL | re.MULTILINE)
        )
        options, advanced = (len(re.findall(r"^  --", parts.get(name, ""), re.MULTILINE)) for name in PARTS)
        if options > 8 or (advanced and options != 8) or "--help" not in parts["Options"]:
            many[path] = options, advanced
    assert many == {}


def test_the_measures_that_are_offered_first_are_named_in_the_help(aegis):
    assert f"{', '.join(OFFERED)}, or a classical one" in " ".join(aegis("advise", "--help")[1].split())


def test_the_list_has_every_entry_with_its_summary(aegis):
    code, out, _ = aegis("--help")
    text = " ".join(out.split())
    listed = {each.name: each for each in (*PROVIDER.commands, *SDK.commands)}
    assert (code, [name for name, each in listed.items() if f" {name} {each.summary}" not in text]) == (0, [])
    assert len(re.findall(r"^  [a-z]+  ", out, re.MULTILINE)) == len(listed) > 15


def test_a_group_lists_what_each_distribution_has_in_it(aegis):
    shown, asked, named = aegis("requests", "--help"), aegis("requests"), aegis("requests", "new", "--help")
    assert (shown[0], asked, named[0]) == (0, shown, 0)
    own, _, added = shown[1].partition(f"\n{PROVIDER.title}:\n")
    assert re.findall(r"^  ([a-z]+)  ", own.partition("\nCommands:\n")[2], re.MULTILINE)[:2] == ["new", "list"]
    assert re.findall(r"^  ([a-z]+)  ", added, re.MULTILINE) == ["fulfil", "relink", "agent"]


def test_a_command_without_its_group_is_told_of_it(aegis):
    assert aegis("start") == (2, "", "aegis: no command 'start'; did you mean `aegis plan start`?\n")


def test_the_program_says_its_version(aegis):
    assert aegis("--version") == (0, f"aegis {version('aegis-masking')}\n", "")


@pytest.mark.processes
def test_the_list_loads_no_command():
    check = (
        "import sys; from contextlib import suppress; from aegis_sdk.cli import main\n"
        "with suppress(SystemExit): main(['--help'])\n"
        "heavy = {'httpx', 'pydantic', 'duckdb', 'ibis', 'numpy', 'yaml'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    ran = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.processes
def test_the_help_of_a_command_loads_nothing_that_works_on_tables():
    check = (
        "import io, sys; from contextlib import redirect_stdout, suppress; from aegis_sdk.cli import main\n"
        f"for name in {[path.split() for path in COMMANDS]}:\n"
        "    with suppress(SystemExit), redirect_stdout(io.StringIO()): main([*name, '--help'])\n"
        "    heavy = {'ibis', 'duckdb', 'pyarrow', 'scipy', 'sklearn', 'numpy', 'matplotlib'} & set(sys.modules)\n"
        "    assert not heavy, (name, heavy)"
    )
    ran = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_options_are_those_of_what_they_start():
    defaults = {name: parameter.default for name, parameter in signature(generate).parameters.items()}
    assert (signature(agent).parameters["lease"].default, defaults["method"]) == (SECONDS, DEFAULT_METHOD)
    assert get_type_hints(generate, include_extras=True)["records"].__metadata__[0].max == MOST
    assert signature(independence).parameters["star"].default == STAR
    assert get_type_hints(summarize)["split"] == Split | None


@pytest.mark.processes
def test_without_the_providers_package_a_line_says_what_to_install():
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_PROVIDER, "summarize"], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert "unknown command 'summarize'" in ran.stderr
    assert ran.stderr.endswith("install 'aegis-masking[provider]' from where you got Aegis\n")


@pytest.mark.processes
def test_without_the_providers_package_the_help_has_the_rest_and_says_what_to_install():
    for group, own in ((), "audit"), (("requests",), "withdraw"):
        ran = subprocess.run(
            [sys.executable, "-c", WITHOUT_PROVIDER, *group, "--help"], capture_output=True, text=True, check=False
        )
        assert (ran.returncode, ran.stderr) == (0, "")
        assert f"\n  {own}  " in ran.stdout
        assert "\nMore, for tables: install 'aegis-masking[provider]' from where you got Aegis\n" in ran.stdout
