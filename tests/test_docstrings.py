"""The docstring style: every module documents exceptions in a separate `Raises:` section."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("advisor/src", "sdk/src", "provider/src", "app", "bench", "research", "docs", "examples")
MODULES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
IN_PROSE = re.compile(r"\bRaises? `?[A-Z]\w+")


def test_what_is_raised_is_not_said_in_prose():
    assert {folder for folder in FOLDERS if not any(path.is_relative_to(ROOT / folder) for path in MODULES)} == set()
    texts = {path: path.read_text(encoding="utf-8") for path in MODULES}
    said = [
        f"{path.relative_to(ROOT)}: {getattr(node, 'name', 'the module')}"
        for path, text in texts.items()
        if IN_PROSE.search(text)  # most have no such words anywhere, and need no parser
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module)
        and IN_PROSE.search(ast.get_docstring(node) or "")
    ]
    assert said == [], "document these exceptions under `Raises:`"
