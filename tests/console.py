"""What people read on pages of the console."""

from html.parser import HTMLParser
from typing import Any

import httpx

_SILENT = frozenset({"script", "style", "template", "title"})


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.forms: list[dict[str, str]] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        self._silent += tag in _SILENT
        if tag == "form":
            self.forms.append({"action": attributes.get("action") or ""})
        if tag == "input" and self.forms and attributes.get("name"):
            self.forms[-1][str(attributes["name"])] = attributes.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in _SILENT

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.words += data.split()


def _read(page: httpx.Response) -> _Reader:
    reader = _Reader()
    reader.feed(page.text)
    return reader


def text_of(page: httpx.Response) -> str:
    """Return what a page says, with single blanks between the words."""
    return " ".join(_read(page).words)


def form_of(page: httpx.Response, action: str) -> dict[str, str]:
    """Return the fields of the form that is sent to an address, as the page fills them in."""
    form = next(form for form in _read(page).forms if form["action"] == action)
    return {name: value for name, value in form.items() if name != "action"}


def elements_of(page: httpx.Response) -> list[tuple[str, dict[str, Any]]]:
    """Return the elements of a page with their attributes."""
    return _read(page).elements


async def send(api: httpx.AsyncClient, page: httpx.Response, action: str, **fields: str) -> httpx.Response:
    """Send the form of a page to its address, as a browser does; `fields` take the place of what is in it."""
    return await api.post(action, data=form_of(page, action) | fields, headers={"Origin": str(api.base_url)})
