"""Ibis, loaded on first use: that takes a quarter of a second, and small CSV files are read without it."""

from importlib import import_module
from typing import Any


class _Late:
    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - Ibis has no types
        return getattr(import_module("ibis"), name)


ibis: Any = _Late()
