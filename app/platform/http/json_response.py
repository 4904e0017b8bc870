"""Answers as JSON."""

from typing import Any

import orjson
from fastapi import Response
from pydantic import BaseModel


class JsonResponse(Response):
    """JSON answers: models, or what orjson writes; the standard library takes 0.3 s for 10^5 ranked configurations."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:  # noqa: ANN401 -- a model of the contract, or any JSON value
        """Return the body. A model's members are sent if they were given, also as null; bytes are JSON already."""
        if isinstance(content, BaseModel):
            return content.model_dump_json(exclude_unset=True).encode()
        return content if isinstance(content, bytes) else orjson.dumps(content)
