"""The browser of the tests: any Chromium on the machine."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright

from tests.browser.summary import VARIABLE

NAMES = ("chromium", "chromium-browser", "google-chrome")

#: It connects only to this machine.
ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--font-render-hinting=none",
)


def chromium_path() -> str | None:
    """The browser that the environment names, or the first one on the PATH."""
    named = os.environ.get(VARIABLE)
    return shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)


@asynccontextmanager
async def running_browser(path: str) -> AsyncIterator[Browser]:
    """Run a browser without a window. It ends with this process, even if that is killed."""
    async with async_playwright() as playwright:
        # Playwright starts it without a sandbox, which root and most containers lack; the pages are our own.
        browser = await playwright.chromium.launch(executable_path=path, args=ARGUMENTS, timeout=120_000)
        try:
            yield browser
        finally:
            await browser.close()
