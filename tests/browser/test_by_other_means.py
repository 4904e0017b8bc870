"""The console without scripts, and by keyboard alone."""

import json
from uuid import uuid4

import pytest

from tests.browser.keyboard import activate, tab_to
from tests.browser.world import survey

pytestmark = [pytest.mark.long, pytest.mark.processes]


def entry_file(folder):
    """An entry file with a new name, and its title."""
    name = f"file-{uuid4().hex[:8]}"
    file = folder / "entry.json"
    file.write_text(json.dumps(survey(name=name, title=f"Title of {name}")))
    return file, f"Title of {name}"


async def look_again(page, text):
    """Follow the refresh link of pages without scripts until a text appears.

    A page that is being left may still show its link, so every click waits for the next page.
    """
    answer, link = page.get_by_text(text).first, page.get_by_role("link", name="Refresh")
    for _ in range(1000):
        await answer.or_(link).first.wait_for()
        if await answer.is_visible():
            return
        async with page.expect_navigation():
            await link.click()
    raise AssertionError(f"{page.url} has never said {text!r}")


async def test_all_is_done_without_scripts(visit, development, tmp_path):
    file, title = entry_file(tmp_path)
    page = await (await visit(development, scripts=False)).open("/publish")
    await page.get_by_label("Entry file").set_input_files(file)
    await page.get_by_role("button", name="Check").click()
    await page.get_by_role("button", name="Publish", exact=True).click()
    await page.get_by_role("heading", level=1, name=title).wait_for()
    await page.get_by_role("link", name="Ask for advice").click()
    await page.get_by_label("Measure", exact=True).select_option("mutual_information")
    await page.get_by_label("k, at least", exact=True).fill("5")
    await page.get_by_role("button", name="Ask", exact=True).click()
    await look_again(page, "side by side")
    await page.get_by_role("link", name="Request this table").click()
    await page.get_by_label("Purpose", exact=True).fill("A study of local care")
    await page.get_by_label("Contact", exact=True).fill("data@lab.example")
    await page.get_by_label("We accept these terms").check()
    await page.get_by_role("button", name="Request", exact=True).click()
    await look_again(page, "You agree to hand over the table")
    await page.get_by_role("button", name="Approve", exact=True).click()
    await page.get_by_role("heading", name="Deliver", exact=True).wait_for()


async def test_an_entry_file_is_published_by_keyboard_alone(visit, development, tmp_path):
    file, title = entry_file(tmp_path)
    page = await (await visit(development)).open("/")
    await activate(page, "link", "Publish")
    await page.wait_for_url("**/publish")
    async with page.expect_file_chooser() as chosen:
        await tab_to(page, "button", "Entry file")
        await page.keyboard.press("Space")
    await (await chosen.value).set_files(file)
    await activate(page, "button", "Check")
    await page.get_by_role("heading", level=1, name=f"Check of {title}").wait_for()
    await activate(page, "button", "Publish")
    await page.get_by_role("heading", level=1, name=title).wait_for()
    assert await page.title() == f"{title} · Aegis"
