"""Answers as JSON."""

from typing import Any

import orjson
from fastapi import Response


class JsonResponse(Response):
    """JSON by orjson: a full ranking of 10^5 configurations takes the standard library a third of a second."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:  # noqa: ANN401 -- any JSON value
        """The body; bytes are JSON already."""
        return content if isinstance(content, bytes) else orjson.dumps(content)
