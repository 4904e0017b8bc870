"""Journeys through the console, with their clicks and seconds."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import Locator

from tests.browser.summary import JOURNEY


@dataclass
class Journey:
    """Acts like a person with a mouse, and counts the clicks.

    Attributes:
        clicks: the number of clicks so far; choosing an option or a file counts as one.
        fields: the number of fields typed into.
    """

    clicks: int = 0
    fields: int = 0

    async def click(self, target: Locator) -> None:
        """Click."""
        self.clicks += 1
        await target.click()

    async def slide(self, slider: Locator, share: float) -> None:
        """Click on a slider, at this share of its length."""
        self.clicks += 1
        box = await slider.bounding_box()
        assert box is not None
        await slider.click(position={"x": share * box["width"], "y": box["height"] / 2})

    async def choose(self, target: Locator, option: str) -> None:
        """Choose an option of a list."""
        self.clicks += 1
        await target.select_option(option)

    async def give_file(self, target: Locator, file: Path) -> None:
        """Choose a file."""
        self.clicks += 1
        await target.set_input_files(file)

    async def type(self, target: Locator, text: str) -> None:
        """Replace the text of a field."""
        self.fields += 1
        await target.fill(text)


@contextmanager
def journey(request: pytest.FixtureRequest, name: str) -> Iterator[Journey]:
    """Measure a journey for the summary of the run."""
    begin, taken = time.monotonic(), Journey()
    yield taken
    seconds = time.monotonic() - begin
    line = f"{name}: {taken.clicks} clicks, {taken.fields} fields, {seconds:.1f} s"
    request.node.user_properties.append((JOURNEY, line))
