"""The pages of one application, each made once."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import orjson
from jinja2 import Environment, PackageLoader, StrictUndefined

from app.platform.http.reference.kinds import code, prose
from app.platform.http.reference.reference import models_in, operations_in

#: Pages may load their style sheet, and nothing else; they run nothing (Content Security Policy Level 3).
PAGE_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

_TEMPLATES = Environment(
    loader=PackageLoader("app.platform.http.reference"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
_TEMPLATES.filters |= {"code": code, "prose": prose}


class Site:
    """What people and programs read about the service.

    Args:
        describe: returns the OpenAPI document.
    """

    def __init__(self, describe: Callable[[], Mapping[str, Any]]) -> None:
        self._describe = describe

    @cached_property
    def document(self) -> bytes:
        """The OpenAPI document as JSON."""
        return orjson.dumps(self._describe())

    @cached_property
    def reference(self) -> bytes:
        """The page about every operation and model. The first time, it takes a tenth of a second."""
        document = self._describe()
        return _page(
            "reference.html", info=document["info"], groups=operations_in(document), models=models_in(document)
        )

    @cached_property
    def style(self) -> bytes:
        """The style sheet of the pages."""
        return _page("style.css")

    def home(self, *, needs_key: bool) -> bytes:
        """The first page, which says what this is and how to begin."""
        return _page("home.html", info=self._describe()["info"], needs_key=needs_key)

    def index(self, *, needs_key: bool) -> bytes:
        """The same for programs."""
        links = {"documentation": "/docs", "openapi": "/openapi.json", "readiness": "/readyz"}
        info = self._describe()["info"]
        return orjson.dumps({"name": info["title"], "version": info["version"], "needs_key": needs_key} | links)


def _page(template: str, **values: Any) -> bytes:  # noqa: ANN401 -- what the template shows
    return _TEMPLATES.get_template(template).render(values).encode()
