"""Paged listings: their parameters and their links."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query, Request

PageLimit = Annotated[int, Query(ge=1, le=200, description="Most items per page")]

PageToken = Annotated[str | None, Query(description="`next_page_token` of the previous page", max_length=255)]


def links(request: Request, next_page_token: str | None) -> str:
    """The header `Link` to the first page and the next one, if any (RFC 8288)."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if name != "page_token"]
    pages = {"first": kept}
    if next_page_token is not None:
        pages["next"] = [*kept, ("page_token", next_page_token)]
    path = request.url.path
    return ", ".join(f'<{path}{"?" if page else ""}{urlencode(page)}>; rel="{name}"' for name, page in pages.items())
