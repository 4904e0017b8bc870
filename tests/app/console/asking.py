"""Data requests by their pages: forms as people fill them in."""

from typing import Any

from tests.app.console.html import Html, look, send
from tests.app.requests.asking import entry
from tests.service import publish

#: What people type.
TYPED = {
    "measure": "mutual_information",
    "require-k": "5",
    "purpose": "A study of local care",
    "contact": "data@insurer.example",
    "accept": "yes",
}

#: Texts that others type, which must stay texts.
NASTY = "<script>alert(1)</script>\"'&</textarea></title>\u202e\N{GRINNING FACE} שלום"


def hidden(page: Html) -> dict[str, str]:
    """The hidden fields of a page's forms."""
    return {one["name"] or "": one["value"] or "" for one in page.all("input") if one.get("type") == "hidden"}


async def filled_in(api: Any, head: dict[str, Any], key: dict[str, str] | None = None, **fields: str) -> dict[str, str]:
    """The fields of the form of a new request, filled in."""
    page = await look(api, f"/requests/new?entry={head['id']}", **key or {})
    return hidden(page) | TYPED | fields


async def requested(api: Any, head: dict[str, Any] | None = None, **fields: str) -> str:
    """Request a table by the form, and return the id of the request."""
    head = head or await publish(api, entry())
    answer = await send(api, "/requests/new", await filled_in(api, head, **fields))
    assert answer.status_code == 303, answer.text
    return str(answer.headers["Location"]).removeprefix("/requests/")


async def act(api: Any, request_id: str, action: str, key: dict[str, str] | None = None, **fields: str) -> Any:
    """Send a form of a request's page, as it is now."""
    page = await look(api, f"/requests/{request_id}", **key or {})
    return await send(api, f"/requests/{request_id}/{action}", hidden(page) | fields, **key or {})
