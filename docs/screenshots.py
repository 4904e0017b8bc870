"""The pictures of pages in the documents; `python -m docs.screenshots [NAME ...]` takes them, or those named.

The service that they show has what docs/workflow.md does, and nothing else.
"""

import asyncio
import copy
import io
import json
import sys
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
from PIL import Image
from playwright.async_api import Browser, Page

from aegis_sdk.wire import EXAMPLE_ENTRY
from docs.generate import ROOT, run, running_service, steps
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
        path: the page; `{entry}`, `{advice}` and `{request}` stand for ids.
        width: of the window in pixels, as its height.
        scheme: light or dark.
        status: of an answer to the steps, if that is an error.
        steps: what to do on the page before.
    """

    name: str
    path: str
    width: int = 1200
    height: int = 800
    scheme: str = "light"
    status: int = 200
    steps: Callable[[Page], Awaitable[None]] | None = None

    @property
    def file(self) -> Path:
        """Where it is."""
        return FOLDER / f"{self.name}.png"


def at(heading: str) -> Callable[[Page], Awaitable[None]]:
    """Scroll to a heading."""

    async def scroll(page: Page) -> None:
        await page.get_by_role("heading", name=heading).evaluate("element => scrollTo(0, element.offsetTop - 16)")

    return scroll


async def check_faulty_file(page: Page) -> None:
    """Have a file checked that is no entry."""
    faulty = copy.deepcopy(EXAMPLE_ENTRY) | {"records": "many"}
    faulty["attributes"][0]["histogram"][2] = -4
    faulty["configurations"][0]["suppressed"] = -1
    content = json.dumps(faulty, indent=1).encode()
    file = {"name": "entry.json", "mimeType": "application/json", "buffer": content}
    await page.get_by_label("Entry file").set_input_files(file)  # type: ignore[arg-type]
    await page.get_by_role("button", name="Check").click()
    await page.get_by_role("alert").first.wait_for()


PICTURES = (
    Picture("reference", "/docs"),
    Picture("reference-narrow-dark", "/docs#publish_entry", width=360, height=640, scheme="dark"),
    Picture("catalogue", "/", height=640),
    Picture("entry", "/entries/{entry}", height=1000),
    Picture("advice", "/advice/{advice}", height=1150),
    Picture("advice-narrow-dark", "/advice/{advice}", width=360, height=800, scheme="dark", steps=at("The frontier")),
    Picture("request", "/requests/{request}", height=1000, steps=at("Delivery")),
    Picture("faults-dark", "/publish", height=640, scheme="dark", status=422, steps=check_faulty_file),
    Picture("overview", "/operator", height=900),
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
        visit.watch.expected.add(picture.status)
        if picture.steps is not None:
            await picture.steps(page)
            visit.watch.check()
        return await page.screenshot(animations="disabled", caret="hide")


def walk(directory: Path, url: str) -> dict[str, str]:
    """Publish, request, deliver and receive as docs/workflow.md does, and return the ids of what there is then."""
    commands = steps((ROOT / "docs" / "workflow.md").read_text(encoding="utf-8").splitlines())
    run(commands, directory, url)
    [request] = httpx.get(f"{url}/v1/requests", timeout=60).raise_for_status().json()["items"]
    whole = httpx.get(f"{url}/v1/requests/{request['id']}", timeout=60).raise_for_status().json()
    return {"request": whole["id"], "entry": whole["entry"]["id"], "advice": whole["advice"]}


def main() -> None:
    """Take all pictures, or those that are named."""
    wanted = [picture for picture in PICTURES if picture.name in sys.argv[1:] or len(sys.argv) == 1]
    FOLDER.mkdir(exist_ok=True)
    with running_service() as (directory, url):
        asyncio.run(take(wanted, url, walk(directory, url)))


if __name__ == "__main__":
    main()
