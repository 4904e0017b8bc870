"""Answers as JSON."""

from typing import Any

import orjson
from fastapi import Response


class JsonResponse(Response):
    """JSON answers, written by orjson: the standard library takes 0.3 s for a full ranking of 10^5 configurations."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:  # noqa: ANN401 -- any JSON value
        """Return the body; bytes are JSON already."""
        return content if isinstance(content, bytes) else orjson.dumps(content)
