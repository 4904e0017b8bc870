"""Pages in a browser, and the faults that must never happen on one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Response, WebError

WIDTHS = (360, 768, 1440)
SCHEMES = ("light", "dark")
HEIGHT = 900

#: The timeout in milliseconds, also on a loaded machine.
PATIENCE = 60_000

#: Chromium also logs this on the console, but without the request; `Watch` notes it from the response.
_REFUSED = "Failed to load resource: the server responded with a status of"
#: The browser aborted a request because it opened another page or saved a file.
_GIVEN_UP = "net::ERR_ABORTED"


@dataclass
class Watch:
    """Records the faults of all pages of a context: console messages, script errors, bad requests and responses.

    Attributes:
        origin: the only origin that pages may call.
        expected: statuses from 400 on that a test provokes.
        others: other origins that a test visits.
    """

    origin: str
    expected: set[int] = field(default_factory=set)
    others: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def over(self, context: BrowserContext) -> None:
        """Begin."""
        context.on("console", self._console)
        context.on("weberror", self._error)
        context.on("request", self._request)
        context.on("requestfailed", self._failure)
        context.on("response", self._response)

    def check(self) -> None:
        """Fail if there were faults."""
        assert not self.faults, "\n".join(self.faults)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(_REFUSED):
            self.faults.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _error(self, error: WebError) -> None:
        self.faults.append(f"script: {error.error}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith(tuple(f"{origin}/" for origin in (self.origin, *self.others))):
            self.faults.append(f"request to another place: {request.url[:200]}")

    def _failure(self, request: Request) -> None:
        if request.failure != _GIVEN_UP:
            self.faults.append(f"request failed: {request.url[:200]}: {request.failure}")

    def _response(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self.expected:
            self.faults.append(f"status {response.status}: {response.request.method} {response.url[:200]}")


@dataclass(frozen=True)
class Visit:
    """A visitor of the service with their own cookies.

    Attributes:
        page: the browser's page.
        watch: its faults so far.
    """

    page: Page
    watch: Watch

    async def open(self, path: str, *, status: int = 200) -> Page:
        """Open a page, which must be without faults."""
        self.watch.expected |= {status}
        answer = await self.page.goto(path)
        assert answer is not None
        assert answer.status == status, f"{path}: {answer.status}"
        self.watch.check()
        return self.page


@asynccontextmanager
async def visiting(
    browser: Browser,
    origin: str,
    *,
    width: int = 1440,
    height: int = HEIGHT,
    scheme: str = "light",
    scripts: bool = True,
) -> AsyncIterator[Visit]:
    """Begin a visit to the service at `origin`; without `scripts`, the browser runs none."""
    context = await browser.new_context(
        base_url=origin,
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        java_script_enabled=scripts,
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="UTC",
    )
    async with context:
        context.set_default_timeout(PATIENCE)
        watch = Watch(origin)
        watch.over(context)
        yield Visit(await context.new_page(), watch)
