"""The lines that do in a terminal what a page does, to copy. Everything in them is quoted for the shell."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from app.pages.viewers import Viewer


@dataclass(frozen=True, slots=True)
class Commands:
    """What to type instead of clicking.

    Attributes:
        aegis: lines of the command `aegis`, or of `aegis-server`.
        curl: the same by HTTP.
    """

    aegis: tuple[str, ...] = ()
    curl: tuple[str, ...] = ()


def aegis(*words: str) -> str:
    """A line of the command `aegis`."""
    return shlex.join(["aegis", *words])


def server(*words: str) -> str:
    """A line of the command `aegis-server`, for whoever runs the service."""
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
        viewer: who would call, if that is known; in development mode no key is sent.
        path: below the service's address; its parts are escaped here.
        query: the parameters.
        method: of the call; by default `GET`, or `POST` if something is sent.
        body: what is sent as JSON.
        file: the name of a file that is sent as JSON instead.
        replaces: the entity tag of what is changed.
    """
    asked = f"?{urlencode(query)}" if query else ""
    parts = ["curl", "-s"]
    parts += [] if method is None else ["-X", method]
    parts += [] if viewer is not None and viewer.is_developer else ['-H "Authorization: Bearer $AEGIS_API_KEY"']
    parts += [] if replaces is None else ["-H", shlex.quote(f"If-Match: {replaces}")]
    if body is not None or file is not None:
        data = orjson.dumps(body).decode() if file is None else f"@{file}"
        parts += ["-H 'Content-Type: application/json'", "--data-binary", shlex.quote(data)]
    # The address is in double quotes for its variable, and the rest is percent-encoded, so the shell changes nothing.
    return " ".join([*parts, f'"$AEGIS_URL{quote(path)}{asked}"'])
