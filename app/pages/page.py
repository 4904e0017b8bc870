"""Rendering of pages, their headers, and static files.

Style, script and icon are public, and their addresses change with their content.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from aegis_sdk.charts import style
from app.pages import words
from app.platform.errors import NotFoundError
from app.platform.telemetry import build_version

router = APIRouter()

_FOLDER = Path(__file__).resolve().parent / "static"

#: The only files served.
TYPES: Final[Mapping[str, str]] = {
    "console.css": "text/css",
    "console.js": "text/javascript",
    "htmx.min.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}


@router.get("/static/{name}")
async def read_static(name: str) -> Response:
    """A static file; browsers may cache it, since its address changes with its content."""
    if name not in TYPES:
        raise NotFoundError(f"There is no file {name}.")
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(_content(name), media_type=TYPES[name], headers=headers)


@cache
def static_url(name: str) -> str:
    """The address of a file."""
    return f"/static/{name}?{hashlib.sha256(_content(name)).hexdigest()[:12]}"


@cache
def _content(name: str) -> bytes:
    own = (_FOLDER / name).read_bytes()
    return own + style().encode() if name == "console.css" else own


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
