"""The parts of a reference page, from an OpenAPI document."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from app.platform.http.reference.kinds import Schema, kind_of


@dataclass(frozen=True, slots=True)
class Field:
    """A member of a model, or a parameter of an operation. `place` says where a parameter is sent."""

    name: str
    kind: Markup
    is_required: bool
    description: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of an operation: its status, what it means, its body and its headers."""

    status: str
    description: str
    kind: Markup | None
    headers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """What a path does, or an event says, with a call as an example."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    parameters: tuple[Field, ...]
    body: Markup | None
    answers: tuple[Answer, ...]
    example: str


@dataclass(frozen=True, slots=True)
class Model:
    """A JSON value with a name. `kind` says what it is if it has no members."""

    name: str
    description: str
    fields: tuple[Field, ...]
    kind: Markup
    example: str | None


def operations_in(document: Mapping[str, Any]) -> dict[str, list[Operation]]:
    """The operations, by tag, in the order of the document; those of receivers of webhooks are the last."""
    groups: dict[str, list[Operation]] = {}
    for path, methods in (*document["paths"].items(), *document["webhooks"].items()):
        for method, described in methods.items():
            groups.setdefault(described["tags"][0], []).append(_operation(method.upper(), path, described))
    return groups


def models_in(document: Mapping[str, Any]) -> list[Model]:
    """The models, by name."""
    return [_model(name, schema) for name, schema in sorted(document["components"]["schemas"].items())]


def _operation(method: str, path: str, described: Mapping[str, Any]) -> Operation:
    body = described.get("requestBody")
    parameters = described.get("parameters", ())
    return Operation(
        id=described["operationId"],
        method=method,
        path=path,
        summary=described["summary"],
        description=described["description"],
        parameters=tuple(_parameter(one) for one in parameters),
        body=None if body is None else _content_kind(body),
        answers=tuple(_answer(status, one) for status, one in sorted(described["responses"].items())),
        example="\n".join(_call(method, path, described)),
    )


def _parameter(one: Mapping[str, Any]) -> Field:
    schema = one["schema"]
    description = one.get("description", schema.get("description", ""))
    return Field(one["name"], kind_of(schema), one.get("required", False), description, one["in"])


def _answer(status: str, one: Mapping[str, Any]) -> Answer:
    return Answer(status, one["description"], _content_kind(one), tuple(one.get("headers", ())))


def _content_kind(part: Mapping[str, Any]) -> Markup | None:
    """The model of a body, or else its media types."""
    content = part.get("content", {})
    schemas = [one["schema"] for one in content.values() if "$ref" in one.get("schema", {})]
    if schemas:
        return kind_of(schemas[0])
    return Markup(", ").join(content) if content else None


def _call(method: str, path: str, described: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a call by curl; none if it is the service that calls."""
    if not path.startswith("/"):
        return
    variables = re.sub(r"\{(\w+)\}", lambda found: f"${found[1].upper()}", path)
    yield f'curl{"" if method == "GET" else f" -X {method}"} "$AEGIS_URL{variables}"' + (
        " \\" if described.get("security") else ""
    )
    if not described.get("security"):
        return
    has_body = "requestBody" in described
    names = {one["name"].lower() for one in described.get("parameters", ())}
    precondition = ' -H "If-Match: $ETAG"' if "if-match" in names else ""
    yield f'  -H "Authorization: Bearer $AEGIS_API_KEY"{precondition}' + (" \\" if has_body else "")
    if has_body:
        yield "  -H 'Content-Type: application/json' --data-binary @body.json"


def _model(name: str, schema: Schema) -> Model:
    required = schema.get("required", ())
    fields = tuple(
        Field(member, kind_of(one), member in required, one.get("description", ""))
        for member, one in schema.get("properties", {}).items()
    )
    examples = schema.get("examples")
    example = json.dumps(examples[0], ensure_ascii=False, indent=1) if examples else None
    return Model(name, schema.get("description", ""), fields, kind_of(schema), example)
