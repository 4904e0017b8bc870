"""The pages about the service and its API."""

import pytest

from tests.browser.accessibility import assert_accessible
from tests.browser.keyboard import activate
from tests.browser.looks import assert_usable, overflowing
from tests.browser.visits import WIDTHS


async def test_the_first_page_can_be_used_everywhere(visit, development):
    page = await (await visit(development)).open("/")
    await assert_usable(page, thorough=True)


@pytest.mark.parametrize("width", WIDTHS)
async def test_the_reference_fits_the_window(visit, development, width):
    page = await (await visit(development, width=width)).open("/docs")
    assert await overflowing(page) == []


@pytest.mark.long  # axe-core takes seconds for ten thousand elements
async def test_the_reference_can_be_used_everywhere(visit, development):
    page = await (await visit(development)).open("/docs")
    await assert_usable(page)


async def test_the_first_page_needs_no_scripts(visit, guarded):
    page = await (await visit(guarded, scripts=False)).open("/")
    await page.get_by_role("heading", name="How to begin").wait_for()
    await assert_accessible(page)


async def test_the_reference_is_reached_by_keyboard(visit, development):
    page = await (await visit(development)).open("/")
    await activate(page, "link", "The reference of the API")
    await page.wait_for_url("**/docs")
    await activate(page, "link", "Publish an entry")
    await page.wait_for_url("**/docs#publish_entry")
