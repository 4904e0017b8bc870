"""Write the OpenAPI document."""

import json
from pathlib import Path
from typing import Annotated

import typer

from app.cli.group import fail
from app.main import create_app
from app.settings import Settings


def openapi(
    *,
    check: Annotated[bool, typer.Option("--check", help="Only check that the committed file is up to date.")] = False,
    path: Annotated[Path, typer.Option(help="File to write or check.")] = Path("openapi/openapi.json"),
) -> None:
    """Write the OpenAPI document. Needs no database."""
    if not path.parent.is_dir():
        fail(f"{path.parent} does not exist: name another file with --path, or run this in a checkout")
    document = json.dumps(create_app(Settings(database_url=None)).openapi(), indent=2, ensure_ascii=False) + "\n"
    if not check:
        path.write_text(document, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != document:
        fail(f"{path} is out of date: run `make openapi` and commit it")
