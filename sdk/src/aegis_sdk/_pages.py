"""Listings, page by page."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

import httpx

from aegis_sdk._answers import read_answer
from aegis_sdk._requests import without_none
from aegis_sdk.wire import AuditPage, DataRequestPage, HeadPage, KeyPage, SignedHeadPage

PageT = TypeVar("PageT", HeadPage, KeyPage, DataRequestPage, AuditPage, SignedHeadPage)

_LARGEST = "200"


def pages(
    send: Callable[..., httpx.Response], model: type[PageT], path: str, wanted: Mapping[str, str | None]
) -> Iterator[PageT]:
    """All pages of a listing, each as large as the service makes it; `wanted` narrows it where it is not None."""
    token: str | None = None
    while True:
        params = without_none({**wanted, "limit": _LARGEST, "page_token": token})
        page = read_answer(model, send("GET", path, params=params))
        yield page
        token = page.next_page_token
        if not token:
            return
