"""Actions on many pages."""

from playwright.async_api import Page

from tests.browser.journeys import Journey
from tests.browser.services import RunningService


async def sign_in(page: Page, taken: Journey, service: RunningService, tenant: str, role: str) -> None:
    """Sign in with a key, on the sign-in page."""
    await taken.type(page.get_by_label("API key"), service.keys[tenant, role])
    await taken.click(page.get_by_role("button", name="Sign in"))


async def follow(page: Page, taken: Journey, link: str, heading: str) -> None:
    """Click a link and wait for the page with this heading."""
    await taken.click(page.get_by_role("link", name=link, exact=True))
    await page.get_by_role("heading", level=1, name=heading).wait_for()


async def press(page: Page, taken: Journey, button: str, text: str) -> None:
    """Click a button and wait until the page shows this text."""
    await taken.click(page.get_by_role("button", name=button, exact=True))
    await page.get_by_text(text).first.wait_for()
