"""Actions that bring a page into a state."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from playwright.async_api import Page

from tests.browser.world import World, survey
from tests.service import example_entry

Reach = Callable[[Page, World], Awaitable[None]]


def giving(document: Any, name: str = "entry.json") -> Reach:
    """Choose a file to be checked."""
    content = document if isinstance(document, bytes) else json.dumps(document).encode()

    async def reach(page: Page, _: World) -> None:
        file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        await page.get_by_label("Entry file").set_input_files(file)  # type: ignore[arg-type]
        if await page.locator("#entry-raw").is_hidden():
            await page.get_by_role("button", name="Check").click()

    return reach


def pressing(button: str, **fields: str) -> Reach:
    """Fill in fields by their labels and press a button."""

    async def reach(page: Page, _: World) -> None:
        for label, text in fields.items():
            await page.get_by_label(label, exact=True).fill(text)
        await page.get_by_role("button", name=button, exact=True).click()

    return reach


def folded(summary: str, button: str, **fields: str) -> Reach:
    """Unfold a part of the page and send its form."""

    async def reach(page: Page, _: World) -> None:
        card = page.locator("details", has=page.locator("summary", has_text=summary)).first
        await card.locator("summary").first.click()
        for label, text in fields.items():
            await card.get_by_label(label).and_(card.locator("input, textarea")).fill(text)
        await card.get_by_role("button", name=button, exact=True).click()

    return reach


async def give_next_version(page: Page, world: World) -> None:
    """Choose a file with a new version of an entry."""
    await giving(world.latest | {"title": "Self-rated health, once more"})(page, world)


async def give_latest_version(page: Page, world: World) -> None:
    """Choose a file that is already published."""
    await giving(world.latest)(page, world)


async def raw_table(page: Page, _: World) -> None:
    """Choose a table."""
    file = {"name": "people.csv", "mimeType": "text/csv", "buffer": b"age,ill\n41,yes\n"}
    await page.get_by_label("Entry file").set_input_files(file)  # type: ignore[arg-type]


async def send_table(page: Page, world: World) -> None:
    """Send a table, as only a browser without scripts does."""
    await raw_table(page, world)
    await page.get_by_role("button", name="Check").click()


async def make_key(page: Page, world: World) -> None:
    """Create a key."""
    await page.get_by_label("Tenant", exact=True).fill(world.ids["ward"])
    await page.get_by_role("button", name="Create the key").click()
    await page.get_by_text("Copy the key now").wait_for()


async def make_key_twice(page: Page, world: World) -> None:
    """Create a key and send the same form again."""
    field = page.locator("input[name=once]")
    once = await field.input_value()
    await make_key(page, world)
    await page.go_back()
    await field.evaluate("(field, once) => field.value = once", once)
    await pressing("Create the key", Tenant=world.ids["ward"])(page, world)


async def replace_key(page: Page, world: World) -> None:
    """Replace a key that was made for it."""
    about = {"tenant": world.ids["ward"], "role": "consumer"}
    key = world.call("operator", "POST", "/v1/keys", json=about)["prefix"]
    await page.goto(f"/operator/keys/{key}")
    await page.get_by_role("button", name="Replace the key").click()


async def show_to_no_name(page: Page, _: World) -> None:
    """Show an entry to a tenant whose name is too long."""
    await page.get_by_label("The tenants named below").check()
    await page.get_by_label("Tenants", exact=True).fill("x" * 1000)
    await page.get_by_role("button", name="Change who sees it").click()


async def request_in_vain(page: Page, _: World) -> None:
    """Send the form of a request with a limit that is not a number."""
    await page.get_by_label("Purpose", exact=True).fill("A study")
    await page.get_by_label("Contact", exact=True).fill("data@lab.example")
    await page.get_by_label("We accept these terms").check()
    await page.get_by_label("k, at least", exact=True).fill("many")
    await page.get_by_role("button", name="Request", exact=True).click()


async def forged(page: Page, _: World) -> None:
    """Send a form without its token."""
    await page.locator("input[name=csrf]").evaluate_all("fields => fields.forEach(each => each.value = 'forged')")
    await page.get_by_role("button", name="Set the policy").click()


FAULTY = example_entry(records=-1, label={"name": "health"})
VOUCHED_TOO_LITTLE = survey(name="little") | {
    "configurations": [{"id": "c", "maskings": {"age": "age-2", "sex": "sex-2"}, "privacy": {"k": 2}}]
}
