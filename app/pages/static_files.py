"""Style, script and icon. They are public, and their addresses change with their content."""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Response

from aegis_sdk.charts import style
from app.platform.errors import NotFoundError

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


def static_url(name: str) -> str:
    """The address of a file."""
    return f"/static/{name}?{_tag(name)}"


@cache
def _content(name: str) -> bytes:
    own = (_FOLDER / name).read_bytes()
    return own + style().encode() if name == "console.css" else own


@cache
def _tag(name: str) -> str:
    return hashlib.sha256(_content(name)).hexdigest()[:12]
