"""The commands that do in a terminal what a page does. Everything in them is quoted for the shell."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from app.pages.viewers import Viewer


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands equivalent to a page.

    Attributes:
        aegis: lines of the command `aegis`, or of `aegis-server`.
        curl: the same with curl.
    """

    aegis: tuple[str, ...] = ()
    curl: tuple[str, ...] = ()


def aegis(*words: str) -> str:
    """A line of the command `aegis`."""
    return shlex.join(["aegis", *words])


def server(*words: str) -> str:
    """A line of the command `aegis-server`, for the operator."""
    return shlex.join(["aegis-server", *words])


def curl(
    viewer: Viewer | None,
    path: str,
    query: Mapping[str, str] | None = None,
    *,
    method: str | None = None,
    body: Mapping[str, Any] | None = None,
    file: str | None = None,
    replaces: str | None = None,
) -> str:
    """A call of the API.

    Args:
        viewer: the caller, if known; in development mode no key is sent.
        path: the unescaped path below the service's address.
        method: by default `GET`, or `POST` with a body.
        file: the name of a JSON file to send instead.
        replaces: the entity tag for `If-Match`.
    """
    asked = f"?{urlencode(query)}" if query else ""
    parts = ["curl", "-s"]
    parts += [] if method is None else ["-X", method]
    parts += [] if viewer is not None and viewer.is_developer else ['-H "Authorization: Bearer $AEGIS_API_KEY"']
    parts += [] if replaces is None else ["-H", shlex.quote(f"If-Match: {replaces}")]
    if body is not None or file is not None:
        data = orjson.dumps(body).decode() if file is None else f"@{file}"
        parts += ["-H 'Content-Type: application/json'", "--data-binary", shlex.quote(data)]
    # Double quotes let the shell expand the variable; the rest is percent-encoded.
    return " ".join([*parts, f'"$AEGIS_URL{quote(path)}{asked}"'])
