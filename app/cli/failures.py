"""Errors that an operator can correct."""

from typing import NoReturn

import typer


def fail(message: str) -> NoReturn:
    """Exit with a message and code 2."""
    typer.echo(f"aegis-server: {message}", err=True)
    raise SystemExit(2)
