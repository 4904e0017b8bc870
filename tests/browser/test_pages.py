"""The reference of the API."""

import pytest

from tests.browser.keyboard import activate
from tests.browser.looks import assert_usable, overflowing
from tests.browser.visits import WIDTHS

pytestmark = [pytest.mark.long, pytest.mark.processes]


@pytest.mark.parametrize("width", WIDTHS)
async def test_the_reference_fits_the_window(visit, development, width):
    page = await (await visit(development, width=width)).open("/docs")
    assert await overflowing(page) == []


async def test_the_reference_can_be_used_everywhere(visit, development):
    page = await (await visit(development)).open("/docs")
    await assert_usable(page)


async def test_the_reference_is_reached_by_keyboard(visit, development):
    page = await (await visit(development)).open("/")
    await activate(page, "link", "Reference of the API")
    await page.wait_for_url("**/docs")
    await activate(page, "link", "Publish an entry")
    await page.wait_for_url("**/docs#publish_entry")
