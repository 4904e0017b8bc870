"""The pictures of pages in the documents; `python -m docs.screenshots [NAME ...]` takes them, or those named.

The service that they show has the example, and nothing else.
"""

import asyncio
import io
import subprocess
import sys
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
from PIL import Image
from playwright.async_api import Browser, Page

from docs.generate import BIN, ROOT, running_service
from tests.browser.chromium import chromium_path, running_browser
from tests.browser.summary import MISSING
from tests.browser.visits import visiting

FOLDER = ROOT / "docs" / "screenshots"
MOST_BYTES = 150_000


@dataclass(frozen=True)
class Picture:
    """What a picture shows.

    Attributes:
        name: of its file, without the suffix.
        path: the page; `{entry}` stands for the example's id.
        width: of the window in pixels, as its height.
        scheme: light or dark.
        steps: what to do on the page before.
    """

    name: str
    path: str
    width: int = 1200
    height: int = 800
    scheme: str = "light"
    steps: Callable[[Page], Awaitable[None]] | None = None

    @property
    def file(self) -> Path:
        """Where it is."""
        return FOLDER / f"{self.name}.png"


PICTURES = (
    Picture("reference", "/docs"),
    Picture("reference-narrow-dark", "/docs#publish_entry", width=360, height=640, scheme="dark"),
)


async def take(pictures: Collection[Picture], url: str, ids: Mapping[str, str]) -> None:
    """Take pictures of a running service."""
    path = chromium_path()
    if path is None:
        sys.exit(f"No pictures: {MISSING}.")
    async with running_browser(path) as browser:
        for picture in pictures:
            picture.file.write_bytes(small(await _taken(browser, picture, url, ids)))
            sys.stdout.write(f"{picture.file.relative_to(ROOT)}: {picture.file.stat().st_size // 1000} kB\n")


def small(png: bytes) -> bytes:
    """The picture with at most 256 colours."""
    packed = io.BytesIO()
    with Image.open(io.BytesIO(png)) as picture:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(packed, "PNG", optimize=True)
    return packed.getvalue()


async def _taken(browser: Browser, picture: Picture, url: str, ids: Mapping[str, str]) -> bytes:
    how = {"width": picture.width, "height": picture.height, "scheme": picture.scheme}
    async with visiting(browser, url, **how) as visit:
        page = await visit.open(picture.path.format_map(ids))
        if picture.steps is not None:
            await picture.steps(page)
            visit.watch.check()
        return await page.screenshot(animations="disabled", caret="hide")


def publish_example(directory: Path, url: str) -> dict[str, str]:
    """Publish the example and return the ids of what there is."""
    entry = directory / "entry.json"
    options = ["--plan", "examples/health/plan.yaml", "--name", "health-example", "--pairs", "--exact"]
    command = [BIN / "aegis", "summarize", "examples/health/health.csv", *options, "--output", entry]
    subprocess.run(command, cwd=directory, check=True, stderr=subprocess.DEVNULL)  # noqa: S603 - our own command
    answer = httpx.post(
        f"{url}/v1/entries",
        params={"accept_small_counts": "true"},
        content=entry.read_bytes(),
        headers={"Content-Type": "application/json"},
        timeout=60,
    )
    return {"entry": answer.raise_for_status().json()["id"]}


def main() -> None:
    """Take all pictures, or those that are named."""
    wanted = [picture for picture in PICTURES if picture.name in sys.argv[1:] or len(sys.argv) == 1]
    FOLDER.mkdir(exist_ok=True)
    with running_service() as (directory, url):
        asyncio.run(take(wanted, url, publish_example(directory, url)))


if __name__ == "__main__":
    main()
