"""JSON schemas in words, with links to their models."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup, escape

Schema = Mapping[str, Any]

#: The lower and upper limits of a value, and what they count.
_LIMITS = (("minimum", "maximum", ""), ("minLength", "maxLength", " characters"), ("minItems", "maxItems", " items"))


def kind_of(schema: Schema) -> Markup:
    """The values that a schema allows, with links to its models."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return Markup('<a href="#{0}">{0}</a>').format(name)
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return Markup(" or ").join(kind_of(choice) for choice in choices)
    if "const" in schema or "enum" in schema:
        values = schema.get("enum") or [schema["const"]]
        return Markup(" or ").join(code(json.dumps(value, ensure_ascii=False)) for value in values)
    limits = ", ".join(_limits(schema))
    kind = escape("list" if schema.get("type") == "array" else schema.get("type", "any JSON value"))
    kind += Markup(" ({})").format(limits) if limits else ""
    held = schema.get("items") or schema.get("additionalProperties")
    return kind + Markup(" of ") + _one_kind(held) if isinstance(held, Mapping) else kind


def content_of(part: Mapping[str, Any]) -> Markup:
    """The model of a body, or its media types."""
    content = part.get("content", {})
    schemas = [one["schema"] for one in content.values() if "$ref" in one.get("schema", {})]
    return kind_of(schemas[0]) if schemas else Markup(", ").join(content)


def code(text: str) -> Markup:
    """A piece of code."""
    return Markup("<code>{}</code>").format(text)


def prose(text: str) -> Markup:
    """Text with code between backticks."""
    parts = text.split("`")
    return Markup("").join(code(part) if place % 2 else escape(part) for place, part in enumerate(parts))


def _limits(schema: Schema) -> Iterator[str]:
    for lower, upper, unit in _LIMITS:
        if lower in schema and upper in schema:
            yield f"{schema[lower]} to {schema[upper]}{unit}"
        elif lower in schema:
            yield f"{schema[lower]} or more{unit}"
        elif upper in schema:
            yield f"up to {schema[upper]}{unit}"
    if "exclusiveMinimum" in schema:
        yield f"above {schema['exclusiveMinimum']}"
    if "exclusiveMaximum" in schema:
        yield f"below {schema['exclusiveMaximum']}"


def _one_kind(schema: Schema) -> Markup:
    """The type of the items of a list or an object, in brackets if there are several."""
    kind = kind_of(schema)
    return Markup("({})").format(kind) if "anyOf" in schema or "oneOf" in schema or "enum" in schema else kind
