"""The command `aegis-server`."""

from app.cli.commands import cli, main

__all__ = ["cli", "main"]
