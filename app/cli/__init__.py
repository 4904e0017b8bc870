"""The command `aegis-server`."""

from app.cli.entry import main

__all__ = ["main"]
