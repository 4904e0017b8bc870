"""axe-core: the accessibility of a page."""

import base64
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from playwright.async_api import Page

_AXE = Path(__file__).parent / "vendor" / "axe.min.js"
_VERSION = "4.14.1"
_DIGEST = "KTSJmUUM3yhJqOcLeRL8LahahJ2jnA0NU5T1HUqe2Vw="  # from sri-history.json of the package

#: WCAG 2.2, levels A and AA, and the best practices of axe-core.
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
#: A rule of level AA that is off by default.
_MORE_RULES = {"target-size": {"enabled": True}}

#: On a page without scripts no timer fires, and axe-core would wait without end.
_GO_ON = """() => {
  if (matchMedia("(scripting: none)").matches)
    window.setTimeout = (then, _, ...values) => { Promise.resolve().then(() => then(...values)); return 0; };
}"""


@cache
def axe_source() -> str:
    """The library's text."""
    content = _AXE.read_bytes()
    digest = base64.b64encode(sha256(content).digest()).decode()
    assert digest == _DIGEST, f"{_AXE.name} is not axe-core {_VERSION}"
    return content.decode()


async def violations(page: Page) -> list[str]:
    """The violations of a page in its present state, in words."""
    await page.evaluate(_GO_ON)
    # The page's Content-Security-Policy would block a <script>, but not the browser's debugger.
    if not await page.evaluate("() => 'axe' in window"):
        await page.evaluate(axe_source())
    options = {"runOnly": _RULES, "rules": _MORE_RULES, "resultTypes": ["violations"], "preload": False}
    report = await page.evaluate("options => axe.run(document, options)", options)
    return [_in_words(rule) for rule in report["violations"]]


async def assert_accessible(page: Page) -> None:
    """Fail if axe-core finds anything."""
    faults = await violations(page)
    assert not faults, f"{page.url}\n" + "\n".join(faults)


def _in_words(rule: dict[str, Any]) -> str:
    places = [f"    {' '.join(map(str, node['target']))}: {node['html'][:120]}\n{_why(node)}" for node in rule["nodes"]]
    more = [f"    and {len(places) - 5} more"] if len(places) > 5 else []
    return "\n".join([f"{rule['id']} ({rule['impact']}): {rule['help']}, {rule['helpUrl']}", *places[:5], *more])


def _why(node: dict[str, Any]) -> str:
    return "\n".join(f"      {line}" for line in node["failureSummary"].splitlines())
