"""JSON schemas in words."""

import json
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup, escape

Schema = Mapping[str, Any]

_LIMITS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}


def kind_of(schema: Schema) -> Markup:
    """What values a schema allows, with links to the models that it refers to."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return Markup('<a href="#{0}">{0}</a>').format(name)
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return Markup(" or ").join(kind_of(choice) for choice in choices)
    if "const" in schema or "enum" in schema:
        values = schema.get("enum") or [schema["const"]]
        return Markup(" or ").join(code(json.dumps(value, ensure_ascii=False)) for value in values)
    limits = [words.format(schema[name]) for name, words in _LIMITS.items() if name in schema]
    return Markup(", ").join([_base_of(schema), *map(escape, limits)])


def code(text: str) -> Markup:
    """A piece of code."""
    return Markup("<code>{}</code>").format(text)


def prose(text: str) -> Markup:
    """Text with code between backticks."""
    parts = text.split("`")
    return Markup("").join(code(part) if place % 2 else escape(part) for place, part in enumerate(parts))


def _base_of(schema: Schema) -> Markup:
    kind = schema.get("type", "any JSON value")
    if kind == "array" and schema.get("items"):
        return Markup("list of ") + _in_brackets(schema["items"])
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return Markup("object whose members are ") + _in_brackets(schema["additionalProperties"])
    return escape(kind)


def _in_brackets(schema: Schema) -> Markup:
    """What a list or an object holds; in brackets if the words would not say where that ends."""
    kind = kind_of(schema)
    return Markup("({})").format(kind) if " or " in kind or ", " in kind else kind
