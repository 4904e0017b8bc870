"""The docstring style: every module documents exceptions in a separate `Raises:` section."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("advisor/src", "sdk/src", "provider/src", "app", "bench", "research", "docs", "examples")
MODULES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
IN_PROSE = re.compile(r"\bRaises? `?[A-Z]\w+")


def test_there_are_modules():
    assert len(MODULES) > 100


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_is_raised_is_not_said_in_prose(folder):
    said = [
        f"{path.relative_to(ROOT)}: {getattr(node, 'name', 'the module')}"
        for path in MODULES
        if path.is_relative_to(ROOT / folder)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module)
        and IN_PROSE.search(ast.get_docstring(node) or "")
    ]
    assert not said, f"document these exceptions under `Raises:`: {said}"
