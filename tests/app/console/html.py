"""Reading pages in tests: what people see, and where links and forms lead."""

from html.parser import HTMLParser
from itertools import takewhile
from typing import Any

#: Elements that have no end.
EMPTY = frozenset({"meta", "link", "input", "img", "br", "hr"})

#: Elements whose texts nobody reads.
HIDDEN = frozenset({"script", "style", "head"})

#: Elements after which nobody reads on without a pause.
CELLS = frozenset({"td", "th", "dt", "dd"})


class Html(HTMLParser):
    """A page, read strictly: every element that is opened is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self._texts: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        if tag in CELLS:
            self._texts.append(" ")

    def handle_data(self, data: str) -> None:
        if HIDDEN.isdisjoint(self._open):
            self._texts.append(data)

    @property
    def text(self) -> str:
        """What people read, with single blanks."""
        return " ".join("".join(self._texts).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of all elements of a kind."""
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def links(self) -> list[str | None]:
        return [attributes.get("href") for attributes in self.all("a")]


BROWSER = {"Accept": "text/html,application/xhtml+xml"}
SENT = BROWSER | {"Origin": "http://127.0.0.1"}


async def look(client: Any, path: str, status: int = 200, **headers: str) -> Html:
    """Open a page as a browser does."""
    answer = await client.get(path, headers=BROWSER | headers)
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    return Html(answer.text)


async def send(client: Any, path: str, fields: dict[str, Any], **headers: str) -> Any:
    """Send a form from an own page, and return the answer."""
    return await client.post(path, data=fields, headers=SENT | headers)


def form_of(page: Html, action: str) -> dict[str, str]:
    """Return the fields of the form that a page sends to an address, as they are filled in."""
    start = next(at for at, (tag, named) in enumerate(page.tags) if tag == "form" and named.get("action") == action)
    inside = takewhile(lambda one: one[0] != "form", page.tags[start + 1 :])
    inputs = [named for tag, named in inside if tag == "input" and named.get("type") not in {"checkbox", "radio"}]
    return {str(named["name"]): named.get("value") or "" for named in inputs}


async def send_form(client: Any, page: Html, action: str, **fields: str) -> Any:
    """Send the form of a page as a browser does; `fields` take the place of what is in it."""
    return await send(client, action, form_of(page, action) | fields)
