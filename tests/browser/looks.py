"""Whether a page in its present state is usable in windows of all widths, in light and dark."""

from collections.abc import AsyncIterator
from itertools import product

from playwright.async_api import Page

from tests.browser.accessibility import violations
from tests.browser.visits import HEIGHT, SCHEMES, WIDTHS

#: Where axe-core looks: a rule that fails in one width or scheme only fails in one of these, or in `thorough`.
_FEW = {(360, "dark"), (1440, "light")}


async def assert_usable(page: Page, *, thorough: bool = False) -> None:
    """Fail if the page is wider than the window (at three widths), or axe-core finds anything in it.

    Args:
        thorough: whether axe-core looks at all six combinations of width and scheme instead of two.
    """
    faults = [fault async for fault in _faults(page, set(product(WIDTHS, SCHEMES)) if thorough else _FEW)]
    assert not faults, f"{page.url}\n" + "\n".join(faults)


async def _faults(page: Page, looked_at: set[tuple[int, str]]) -> AsyncIterator[str]:
    for width, scheme in product(WIDTHS, SCHEMES):
        if scheme == SCHEMES[0]:
            await page.set_viewport_size({"width": width, "height": HEIGHT})
            for wide in await overflowing(page):
                yield f"{width} px: wider than the window: {wide}"
        if (width, scheme) in looked_at:
            await page.emulate_media(color_scheme=scheme)
            for violation in await violations(page):
                yield f"{width} px, {scheme}: {violation}"


async def overflowing(page: Page) -> list[str]:
    """The outermost elements that are wider than the window, which would need horizontal scrolling."""
    wide: list[str] = await page.evaluate(_OVERFLOWING)
    return wide


_OVERFLOWING = """() => {
  const root = document.documentElement, width = root.clientWidth;
  if (root.scrollWidth <= width) return [];
  const wide = [...document.body.querySelectorAll("*")].filter(each => each.getBoundingClientRect().right > width);
  const outermost = wide.filter(each => !wide.includes(each.parentElement));
  return [`the page: ${root.scrollWidth} px`, ...outermost.map(each =>
    `${each.outerHTML.slice(0, 120)}: to ${Math.ceil(each.getBoundingClientRect().right)} px`)];
}"""
