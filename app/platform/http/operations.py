"""What operations have in common: JSON, pages of listings, and their description in the OpenAPI document."""

from datetime import UTC, date, datetime, time
from email.utils import format_datetime
from typing import Annotated, Any
from urllib.parse import urlencode

import orjson
from fastapi import Depends, Query, Request, Response
from pydantic import BaseModel

from aegis_sdk import wire
from app.platform.http.refusals import STATUS
from app.platform.http.request_scope import answer_headers

TEMPLATE = "#/components/schemas/{model}"

#: Own titles, since the standard library's phrases differ between versions of Python.
_TITLES = dict(STATUS.values())

#: Problems of any operation under /v1.
_ALWAYS = (400, 401, 403, 422, 429, 503)

#: Problems of operations that need no key.
_WITHOUT_KEY = (400, 503)


def body(model: type[BaseModel], *, replaces: bool = False) -> dict[str, Any]:
    """The `openapi_extra` of an operation whose body is a `model`.

    The body is optional if all its members are, unless it `replaces` a resource, which an empty one would reset.
    """
    required = replaces or any(field.is_required() for field in model.model_fields.values())
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": Reference(model)}}}}


def answers(
    status: int,
    model: type[BaseModel] | None,
    description: str,
    *refusals: int,
    headers: tuple[str, ...] = (),
    needs_key: bool = True,
) -> dict[int | str, dict[str, Any]]:
    """The `responses` of an operation: its result, and its problems besides the common ones."""
    content = {} if model is None else {"content": {"application/json": {"schema": Reference(model)}}}
    success: dict[str, Any] = {"description": description, **content}
    if headers:
        success["headers"] = {name: {"schema": {"type": "string"}} for name in headers}
    described: dict[int | str, dict[str, Any]] = {status: success}
    return described | problems(*refusals, *(_ALWAYS if needs_key else _WITHOUT_KEY))


def deprecated(since: date, sunset: date) -> dict[str, Any]:
    """The options of a route that is deprecated: `@router.get(path, **deprecated(since, sunset))`.

    The document says so, and each answer `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and where to read about it.

    Args:
        since: The day of the release that deprecated it.
        sunset: The first day on which a release may lack it.
    """
    began, ends = (datetime.combine(day, time(), UTC) for day in (since, sunset))
    told = (
        ("Deprecation", f"@{began.timestamp():.0f}"),
        ("Sunset", format_datetime(ends, usegmt=True)),
        ("Link", '</docs>; rel="deprecation"; type="text/html"'),
    )

    async def tell(request: Request) -> None:
        answer_headers(request).extend(told)

    return {"deprecated": True, "dependencies": [Depends(tell)]}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of an operation for its problems."""
    described: dict[int | str, dict[str, Any]] = {}
    for status in sorted(set(statuses)):
        content = {"application/problem+json": {"schema": Reference(wire.Problem)}}
        described[status] = {"description": _TITLES[status], "content": content}
    return described


class Reference(dict[str, str]):
    """A reference to the schema of a model, with the model, whose schema is added to the document later."""

    def __init__(self, model: type[BaseModel]) -> None:
        super().__init__({"$ref": TEMPLATE.format(model=model.__name__)})
        self.model = model


class JsonResponse(Response):
    """JSON by orjson, since the standard library takes 0.3 s for 10^5 ranked configurations."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:  # noqa: ANN401 -- a model of the contract, or any JSON value
        """The body. A model sends the members that were set, also null; bytes are already JSON."""
        if isinstance(content, BaseModel):
            return content.model_dump_json(exclude_unset=True).encode()
        return content if isinstance(content, bytes) else orjson.dumps(content)


PageLimit = Annotated[int, Query(ge=1, le=200, description="Most items per page")]

PageToken = Annotated[str | None, Query(description="`next_page_token` of the previous page", max_length=255)]


def links(request: Request, next_page_token: str | None) -> str:
    """The header `Link` to the first page and the next one, if any (RFC 8288)."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if name != "page_token"]
    pages = {"first": kept}
    if next_page_token is not None:
        pages["next"] = [*kept, ("page_token", next_page_token)]
    path = request.url.path
    return ", ".join(f'<{path}{"?" if page else ""}{urlencode(page)}>; rel="{name}"' for name, page in pages.items())


def timestamp(moment: datetime) -> str:
    """RFC 3339 in UTC."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
