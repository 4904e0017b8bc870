"""Every line of `aegis` and `aegis-server` in code, pages, notebooks and recipes is a command that there is."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from docs.generate import ROOT
from tests.test_documents import COMMANDS, text_of

FOLDERS = (
    "advisor/src",
    "app",
    "bench",
    "docs",
    "examples",
    "migrations",
    "provider/src",
    "research",
    "sdk/src",
    "tests",
)
SUFFIXES = {".html", ".ipynb", ".js", ".py", ".toml", ".yaml", ".yml"}
LINE = re.compile(r"(?<![\w/.-])(aegis-server|aegis) ([a-z][^|;>)`\n\"'<]*)")


def places() -> Iterator[Path]:
    yield from (ROOT / name for name in ("Dockerfile", "Makefile", "docker-compose.yml", "pyproject.toml"))
    for folder in FOLDERS:
        yield from (
            path for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES and "vendor" not in path.parts
        )


def names(command) -> set[str]:
    """The names of all commands and groups below a group."""
    if not hasattr(command, "list_commands"):
        return set()
    return {name for part in command.list_commands(None) for name in (part, *names(command.get_command(None, part)))}


NAMES = {program: names(command) for program, command in COMMANDS.items()}


def is_command(program: str, words: list[str]) -> bool:
    """Whether the words begin with a command, whose options among them exist, or with a word that names none."""
    command, rest = COMMANDS[program], list(words)
    if rest[0].strip(".,:") not in NAMES[program]:
        return True  # prose
    while hasattr(command, "list_commands") and rest and not rest[0].startswith("-"):
        command = command.get_command(None, rest.pop(0).strip(".,:"))
    options = {each for one in getattr(command, "params", ()) for each in (*one.opts, *one.secondary_opts)}
    return command is not None and {word for word in rest if re.fullmatch(r"--[a-z-]+", word)} <= {"--help", *options}


def called(tree: ast.AST) -> Iterator[list[str]]:
    """The words of each line that is put together by a function `aegis`, up to the first that is not written out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "aegis":
            words = [each.value for each in node.args if isinstance(each, ast.Constant)]
            if words:
                yield words


def wrong(place: Path) -> list[str]:
    text = text_of(place)
    said = [(program, words.split()) for program, words in LINE.findall(text)]
    if place.suffix == ".py" and "tests" not in place.parts and "aegis(" in text:
        said += [("aegis", words) for words in called(ast.parse(text))]
    return [f"{program} {' '.join(words)}" for program, words in said if not is_command(program, words)]


def test_they_exist_with_their_options():
    assert {str(place.relative_to(ROOT)): faults for place in places() if (faults := wrong(place))} == {}


def test_a_line_of_old_is_seen():
    tried = ("start t.csv", "plan start t.csv --lable y", "plan strat", "list", "requests 3fa8", "is a name")
    assert [is_command("aegis", line.split()) for line in tried] == [*5 * [False], True]
