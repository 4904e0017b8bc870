"""Navigation by keyboard."""

from playwright.async_api import Locator, Page

#: The most tabs that a person should need.
MOST_TABS = 40

_IS_FOCUSED = "element => element === document.activeElement"
_FOCUSED = "() => document.activeElement.outerHTML.slice(0, 200)"
_IS_FOCUS_SEEN = """element => {
  const style = getComputedStyle(element), box = element.getBoundingClientRect();
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  const inside = box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight;
  return outlined && inside && box.width > 1 && box.height > 1;
}"""


async def tab_to(page: Page, role: str, name: str, *, most: int = MOST_TABS) -> Locator:
    """Press Tab until the element with this role and accessible name visibly has the focus."""
    element = page.get_by_role(role, name=name, exact=True)
    for _ in range(most):
        await page.keyboard.press("Tab")
        if await element.evaluate(_IS_FOCUSED):
            assert await element.evaluate(_IS_FOCUS_SEEN), f"nobody sees that {role} {name!r} has the focus"
            return element
    where = await page.evaluate(_FOCUSED)
    raise AssertionError(f"{role} {name!r} is not among the first {most} stops of Tab; the last one was {where}")


async def activate(page: Page, role: str, name: str, *, key: str = "Enter", most: int = MOST_TABS) -> None:
    """Go to a link or a button by Tab and press a key."""
    await tab_to(page, role, name, most=most)
    await page.keyboard.press(key)
