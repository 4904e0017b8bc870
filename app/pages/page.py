"""Rendering of pages, and their headers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi import Request, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from app.pages import words
from app.pages.static_files import static_url
from app.platform.build import build_version

_HERE = Path(__file__).resolve().parent

#: Pages load only the service's own files and nothing inline (Content Security Policy Level 3). The referrer policy
#: lets browsers send the origin of a form; with `no-referrer` they would send `Origin: null`.
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}

#: The shared templates and those of each feature.
_FOLDERS = (_HERE / "templates", *sorted(_HERE.parent.glob("*/pages/templates")), _HERE.parent / "console/templates")

TEMPLATES = Environment(
    loader=FileSystemLoader(_FOLDERS),
    autoescape=True,
    auto_reload=False,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
TEMPLATES.filters |= words.FILTERS
TEMPLATES.globals |= {"static_url": static_url, "release": build_version()}


def page(request: Request, template: str, status: int = 200, **values: Any) -> Response:  # noqa: ANN401 -- views
    """A page.

    Args:
        request: the request, in which `get_viewer` has stored the viewer.
        status: the HTTP status.
        **values: the template's values; whole pages need `commands`, the equivalent commands.
    """
    viewer = getattr(request.state, "viewer", None)
    text = TEMPLATES.get_template(template).render(values, viewer=viewer, path=request.url.path)
    return Response(text, status, HEADERS, media_type="text/html")


def see(place: str) -> Response:
    """Redirect the browser, for example from a form to its result (303)."""
    return Response(status_code=303, headers={"Location": place})


def fragment(template: str, **values: Any) -> Markup:  # noqa: ANN401 -- views
    """A part of a page."""
    return Markup(TEMPLATES.get_template(template).render(values))  # noqa: S704 -- templates escape
