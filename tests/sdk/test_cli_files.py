"""How the commands handle outputs that are not files, inputs named as outputs, and impossible file names."""

import json
import os
import socket
import subprocess
import sys

import pytest

from aegis_sdk.wire import EXAMPLE_ENTRY
from tests.for_each import for_each

PLAN = """label: y
attributes:
  a: {hierarchy: {file: levels.csv}}
  b: {maskings: {coded: {token: {salt_file: salt.txt}}, grouped: {hierarchy: {file: groups.csv, level: 1}}}}
configurations: {c: {}}
"""
INPUTS = ("t.csv", "plan.yaml", "levels.csv", "groups.csv", "salt.txt")
TOO_LONG = 300 * "x"


@pytest.fixture
def folder(tmp_path):
    """A table, and a plan that names three files."""
    contents = ("a,b,y\n1,u,n\n2,v,m\n2,u,m\n", PLAN, "1;low\n2;low\n", "u;any\nv;any\n", "sixteen bytes of salt\n")
    for name, content in zip(INPUTS, contents, strict=True):
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


COMMANDS = {
    "summarize": ("--exact", "--name", "n", "--output"),
    "apply": ("--configuration", "c", "--output"),
    "plan configurations": ("--require", "k=2", "--output"),
    "risk": ("--html",),
}


@pytest.fixture
def writing(aegis, folder):
    """Run one of the writing commands on the table and the plan, with this output."""

    def run(command, output):
        return aegis(*command.split(), folder / "t.csv", "--plan", folder / "plan.yaml", *COMMANDS[command], output)

    return run


def assert_refused(ran, *parts):
    code, out, error = ran
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert error.startswith("aegis: ")
    for part in parts:
        assert part in error


@pytest.mark.parametrize("command", COMMANDS)
def test_no_file_that_is_read_is_written_over(writing, folder, command):
    before = {victim: (folder / victim).read_bytes() for victim in INPUTS}
    for victim in INPUTS:
        (folder / f"{victim}.link").symlink_to(folder / victim)
        for output in (folder / victim, folder / f"{victim}.link"):
            assert_refused(writing(command, output), "which is an input; choose another output")
    assert {victim: (folder / victim).read_bytes() for victim in INPUTS} == before


@pytest.mark.parametrize("command", COMMANDS)
def test_an_output_that_is_no_file_stays_what_it_is(writing, folder, command):
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(folder / "socket"))
    for output in (folder / "pipe", folder / "socket", "/dev/null"):
        assert_refused(writing(command, output), f"{output}: is a device, a pipe or a socket; name a file")
    assert (folder / "pipe").is_fifo()
    assert (folder / "socket").is_socket()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_link_stays_and_what_it_leads_to_is_written(writing, folder, command):
    (folder / "elsewhere").mkdir()
    (folder / "link").symlink_to("elsewhere/output")
    assert writing(command, folder / "link")[0] == 0
    assert (folder / "link").is_symlink()
    assert (folder / "elsewhere" / "output").stat().st_size
    assert [path.name for path in (folder / "elsewhere").iterdir()] == ["output"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_name_that_no_file_can_have_is_the_callers_fault(aegis, writing, folder, command):
    assert_refused(writing(command, folder / TOO_LONG), "cannot be written: File name too long")
    options = ("--plan", folder / "plan.yaml", *COMMANDS[command], folder / "output")
    assert_refused(aegis(*command.split(), folder / TOO_LONG, *options), "cannot be read: File name too long")
    assert_refused(aegis(*command.split(), folder / f"*{TOO_LONG}", *options), "no file matches this pattern")


def test_nothing_that_a_file_says_reaches_the_terminal_but_as_text(aegis, folder):
    plan = folder / "plan.yaml"
    plan.write_text(PLAN + 'title: "\\e[2J\\u202E"\n"\\e]0;x\\a": 1\n', encoding="utf-8")
    ran = aegis("risk", folder / "t.csv", "--plan", plan)
    assert_refused(ran, "unknown key")
    assert ran[2][:-1].isprintable()
    assert_refused(aegis("entries", "show", folder / "\x1b[2J\u202e"), "\\x1b[2J\\u202e: cannot be read")


@pytest.mark.parametrize("command", ["risk", "plan configurations"])
def test_two_numbers_for_one_requirement_are_refused(aegis, folder, command):
    arguments = (
        *command.split(),
        folder / "t.csv",
        "--plan",
        folder / "plan.yaml",
        *COMMANDS[command],
        folder / "output",
    )
    twice = ("--require", "k=2", "--require", "k=3")
    assert_refused(aegis(*arguments, *twice), "--require: k has two values, 2 and 3; give one")


@pytest.mark.parametrize(("option", "names"), [("--quasi-identifiers", ","), ("--sensitive", "a,,b")])
def test_a_name_between_commas_must_be_there(aegis, folder, option, names):
    ran = aegis("risk", folder / "t.csv", option, names)
    assert_refused(ran, f"{option}: empty name in {names!r}; write NAME,NAME")


#: The command in a process that can write only a few bytes to a file, as on a full disk.
WRITING_LITTLE = (
    "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000)); from aegis_sdk.cli import main; main()"
)


@pytest.mark.long
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_disk_that_is_full_is_one_plain_line(folder, ending):
    rows = "".join(f"{1 + place % 2},u,{place * 7919 % 10007}\n" for place in range(20_000))
    (folder / "t.csv").write_text(f"a,b,y\n{rows}", encoding="utf-8")
    output = folder / f"masked.{ending}"
    arguments = ("apply", folder / "t.csv", "--plan", folder / "plan.yaml", *COMMANDS["apply"], output)
    command = [sys.executable, "-c", WRITING_LITTLE, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert_refused((ran.returncode, ran.stdout, ran.stderr), f"{output}: cannot be written: ")
    assert ran.stderr.strip().endswith("File too large")
    assert "{" not in ran.stderr
    assert {path.name for path in folder.iterdir()} == set(INPUTS)


@pytest.mark.long
def test_a_full_stdout_is_named(folder):
    arguments = ("risk", folder / "t.csv", "--plan", folder / "plan.yaml")
    with open("/dev/full", "w", encoding="utf-8") as full:  # noqa: PTH123 - a device
        ran = subprocess.run(
            [sys.executable, "-m", "aegis_sdk.cli", *arguments], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (ran.returncode, ran.stderr) == (1, b"aegis: stdout: No space left on device\n")


@pytest.mark.long
@for_each("encoding", ["cp1252", "utf-8"])
def test_what_an_encoding_lacks_is_printed_as_a_question_mark(encoding, tmp_path):
    entry = tmp_path / "entry.json"
    label = {**EXAMPLE_ENTRY["label"], "name": "größe → 大"}
    entry.write_text(json.dumps({**EXAMPLE_ENTRY, "label": label}), encoding="utf-8")
    show = [sys.executable, "-m", "aegis_sdk.cli", "entries", "show", str(entry)]
    settings = {**os.environ, "PYTHONIOENCODING": encoding}
    lines = subprocess.run(show, capture_output=True, env=settings, check=True).stdout.decode(encoding)
    assert "größe → 大".encode(encoding, "replace").decode(encoding) in lines
    told = subprocess.run([*show, "--json"], capture_output=True, env=settings, check=True).stdout
    assert json.loads(told.decode(encoding))["label"] == "größe → 大"


def test_a_name_that_is_no_text_is_refused_in_one_line(aegis):
    code, out, error = aegis("entries", "show", "gr\udcf6.json")
    assert (code, out) == (2, "")
    assert error == "aegis: 'gr\\udcf6.json' cannot be read as text; use UTF-8, and set PYTHONUTF8=1\n"
