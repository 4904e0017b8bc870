"""Listings, page by page."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import httpx

from aegis_sdk._answers import read_answer
from aegis_sdk._flows import Flow, Page, Pages
from aegis_sdk._requests import without_none

ItemT = TypeVar("ItemT")

_LARGEST = "200"


def pages(
    send: Callable[..., Flow[httpx.Response]],
    model: type[Page[ItemT]],
    path: str,
    wanted: Mapping[str, str | None],
) -> Pages[ItemT]:
    """A listing in pages of the service's default size; `wanted` has the filters, None for no filter."""
    document: Any = model  # of pydantic, which a protocol cannot say

    def page_of(token: str | None) -> Flow[Page[ItemT]]:
        params = without_none({**wanted, "limit": _LARGEST, "page_token": token})
        answer: Page[ItemT] = read_answer(document, (yield from send("GET", path, params=params)))
        return answer

    return page_of
