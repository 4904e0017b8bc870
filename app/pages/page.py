"""Pages: their templates and their headers."""

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

#: Pages run and load what the service itself has, and nothing inline (Content Security Policy Level 3). The referrer
#: policy lets browsers say from which origin a form comes; with `no-referrer` they would send `Origin: null`.
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}

#: What pages share, and the templates of each feature.
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
        request: what is answered; `get_viewer` has noted in it who looks.
        template: the name of the template.
        status: of the answer.
        **values: what the template shows; whole pages need `commands`, the lines that do the same in a terminal.
    """
    viewer = getattr(request.state, "viewer", None)
    text = TEMPLATES.get_template(template).render(values, viewer=viewer, path=request.url.path)
    return Response(text, status, HEADERS, media_type="text/html")


def see(place: str) -> Response:
    """Lead the browser to another page, such as from a form to what has become of it (303)."""
    return Response(status_code=303, headers={"Location": place})


def fragment(template: str, **values: Any) -> Markup:  # noqa: ANN401 -- views
    """A part of a page."""
    return Markup(TEMPLATES.get_template(template).render(values))  # noqa: S704 -- templates escape
