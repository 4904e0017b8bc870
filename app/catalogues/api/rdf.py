"""RDF graphs as JSON-LD nodes, written as Turtle or as JSON-LD with its context, without a library.

A node is a dictionary with `@id`, `@type` and properties by compact IRI. A property has a text, an `iri`, a `typed`
literal, a node without `@id`, or a list of these.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

Node = dict[str, Any]

PREFIXES: Final[Mapping[str, str]] = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "dqv": "http://www.w3.org/ns/dqv#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "healthdcatap": "http://healthdataportal.eu/ns/health#",
    "hydra": "http://www.w3.org/ns/hydra/core#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}

#: Absolute web addresses in the characters of RFC 3986. Nothing else is written as an IRI.
_WEB: Final = re.compile(
    r"https?://(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"
    r"(?:[/?#](?:[A-Za-z0-9._~:/?#@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)?"
)

#: Turtle 1.1, production 159s.
_ESCAPED: Final = {"\t": r"\t", "\b": r"\b", "\n": r"\n", "\r": r"\r", "\f": r"\f", '"': r"\"", "\\": r"\\"}

_BASIC_PLANE: Final = 0xFFFF


def iri(address: str) -> Node:
    """The resource with this address."""
    return {"@id": address}


def typed(value: str, datatype: str) -> Node:
    """A literal with a datatype, by its compact IRI."""
    return {"@value": value, "@type": datatype}


def segment(text: str) -> str:
    """Any text as a part of an IRI, without characters that mean something there."""
    return quote(text, safe="")


def is_web_address(text: str) -> bool:
    """Whether a text can stand in a graph as an IRI of the web."""
    return _WEB.fullmatch(text) is not None


def json_ld(graph: Iterable[Node]) -> bytes:
    """The graph as JSON-LD 1.1 that needs no other document. All characters but those of ASCII are escaped."""
    return json.dumps({"@context": PREFIXES, "@graph": list(graph)}, separators=(",", ":")).encode()


def turtle(graph: Iterable[Node]) -> bytes:
    """The graph as Turtle 1.1. Characters that are not printed are escaped."""
    prefixes = "".join(f"@prefix {name}: <{address}> .\n" for name, address in PREFIXES.items())
    return (prefixes + "".join(f"\n<{node['@id']}> {_properties(node)} .\n" for node in graph)).encode()


def _properties(node: Node) -> str:
    return " ;\n    ".join(_statements(node))


def _statements(node: Node) -> Iterator[str]:
    for name, value in node.items():
        values = value if isinstance(value, list) else [value]
        if name == "@type":
            yield f"a {', '.join(values)}"
        elif name != "@id" and values:
            yield f"{name} {', '.join(map(_term, values))}"


def _term(value: str | Node) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if "@value" in value:
        return f"{_quoted(value['@value'])}^^{value['@type']}"
    return f"<{value['@id']}>" if "@id" in value else f"[ {_properties(value)} ]"


def _quoted(text: str) -> str:
    is_plain = text.isprintable() and '"' not in text and "\\" not in text  # almost all are, which saves half the time
    return f'"{text if is_plain else "".join(map(_character, text))}"'


def _character(character: str) -> str:
    if character in _ESCAPED:
        return _ESCAPED[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04X}" if code <= _BASIC_PLANE else f"\\U{code:08X}"
