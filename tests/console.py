"""A browser's view of the console: cookies, forms and redirects, without scripts."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape
from ipaddress import IPv4Address
from itertools import count
from typing import Any

import httpx

from app.settings import Settings
from tests.kept import application

ORIGIN = "https://aegis.example.org"
#: The cookie of a session over HTTPS.
SESSION = "__Host-aegis_session"


class Browser:
    """A browser at an origin, with an address of its own. It follows no redirect by itself."""

    _numbers = count(1)

    def __init__(self, app: Any, origin: str) -> None:
        self.app, self.origin = app, origin
        address = str(IPv4Address("10.0.0.0") + next(self._numbers))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=(address, 50_000))
        self.client = httpx.AsyncClient(
            transport=transport, base_url=origin, headers={"Accept": "text/html"}, event_hooks={"response": [hold]}
        )

    def another(self, origin: str | None = None) -> "Browser":
        """Another browser, without cookies."""
        return Browser(self.app, origin or self.origin)

    async def get(self, path: str, **headers: str) -> httpx.Response:
        """Open a page, by a link in another page or in a mail."""
        return await self.client.get(path, headers=headers)

    async def post(self, path: str, headers: dict[str, str] | None = None, **fields: str) -> httpx.Response:
        """Send a form as a page of this origin does; other headers say otherwise."""
        about = {"Origin": self.origin, "Content-Type": "application/x-www-form-urlencoded"}
        return await self.client.post(path, data=fields, headers=about | (headers or {}))

    async def send(self, path: str, page: str = "/session", **fields: str) -> httpx.Response:
        """Open a page and send a form that it could have."""
        return await self.post(path, csrf=csrf_in(await self.get(page)), **fields)

    async def sign_in(self, header: dict[str, str], path: str = "/") -> httpx.Response:
        """Sign in with the key of this header."""
        return await self.post("/sign-in", key=header["Authorization"].split()[1], next=path)

    @property
    def cookies(self) -> dict[str, str]:
        """The cookies that it has."""
        return {str(cookie.name): str(cookie.value) for cookie in self.client.cookies.jar}


@asynccontextmanager
async def browsing(database_url: str, origin: str = ORIGIN, **settings: Any) -> AsyncIterator[Browser]:
    """A browser at this origin of the service."""
    app = application(Settings(database_url=database_url, **settings))
    async with app.router.lifespan_context(app):
        yield Browser(app, origin)


async def hold(answer: httpx.Response) -> None:
    """Check what holds for every page."""
    if answer.request.url.path.startswith("/static/"):
        return
    assert answer.headers["Cache-Control"] == "no-store"
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.status_code < 500 or answer.status_code == 503


def csrf_in(answer: httpx.Response) -> str:
    """The hidden field of the forms in a page."""
    [field, *_] = re.findall(r'name="csrf" value="([^"]*)"', answer.text)
    return unescape(str(field))


def set_cookies(answer: httpx.Response) -> dict[str, set[str]]:
    """The attributes of the cookies that an answer sets, by name."""
    lines = [line.split("; ") for line in answer.headers.get_list("set-cookie")]
    return {first.partition("=")[0]: set(attributes) for first, *attributes in lines}
