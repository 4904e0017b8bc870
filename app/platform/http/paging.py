"""Listings in pages: what a caller asks for, and where the other pages are."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query, Request

PageLimit = Annotated[int, Query(ge=1, le=200, description="Most of them on a page")]

PageToken = Annotated[str | None, Query(description="`next_page_token` of the previous page", max_length=255)]


def links(request: Request, next_page_token: str | None) -> str:
    """The first page and the next one, if there is one, of the same listing (RFC 8288)."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if name != "page_token"]
    pages = {"first": kept}
    if next_page_token is not None:
        pages["next"] = [*kept, ("page_token", next_page_token)]
    path = request.url.path
    return ", ".join(f'<{path}{"?" if page else ""}{urlencode(page)}>; rel="{name}"' for name, page in pages.items())
