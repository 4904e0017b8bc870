"""Size limits of answers and of new entries. Larger ones from before these limits stay readable."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from aegis_sdk.wire.faults import Fault, Location, refuse

if TYPE_CHECKING:
    from aegis_sdk.wire.attribute import Attribute, Discretization, MaskingFunction
    from aegis_sdk.wire.entry import EntryDocument
    from aegis_sdk.wire.visibility import VisibleTo

TITLE_LENGTH = 300
DESCRIPTION_LENGTH = 20_000
KEYWORDS = 50
KEYWORD_LENGTH = 100
VALUE_LENGTH = 1_000
TENANTS = 1_000
ATTRIBUTES = 20_000
PAIRS = 50_000
CONFIGURATIONS = 1_000_000
ROWS = 10_000
"""The largest number of rows in a ranking."""

TERMS_LENGTH = 65_536
"""The largest size of an entry's terms as JSON, in bytes."""

DEPTH = 32
"""The deepest nesting of objects and lists in a member of free form."""


_MOST = {"keywords": KEYWORDS, "attributes": ATTRIBUTES, "pairs": PAIRS, "configurations": CONFIGURATIONS}


def size_faults(entry: "EntryDocument") -> Iterator[Fault]:
    """The faults of an entry that exceeds a size limit."""
    texts = {"title": TITLE_LENGTH, "license": TITLE_LENGTH, "description": DESCRIPTION_LENGTH}
    for name, most in texts.items():
        if len(getattr(entry, name)) > most:
            yield (name,), f"Has {len(getattr(entry, name))} characters; at most {most} are accepted"
    yield from _too_many({name: getattr(entry, name) for name in _MOST})
    if entry.configuration_table is not None and len(entry.configuration_table.ids) > CONFIGURATIONS:
        given = len(entry.configuration_table.ids)
        yield ("configuration_table", "ids"), f"Has {given} items; at most {CONFIGURATIONS} are accepted"
    yield from _terms_faults(entry.terms)
    yield from tenant_faults(entry.visibility)
    yield from _too_long(entry.keywords, KEYWORD_LENGTH, "keywords")
    yield from _too_long(entry.label.domain, VALUE_LENGTH, "label", "domain")
    for index, attribute in enumerate(entry.attributes):
        yield from _attribute_faults(attribute, ("attributes", index))


def refuse_too_many(attributes: object, pairs: object) -> None:
    """Refuse an entry with too many attributes or pairs before any of them is parsed.

    Args:
        attributes: the document's value, which need not be a list.
        pairs: likewise.

    Raises:
        ValidationError: there are too many.
    """
    refuse("entry", _too_many({"attributes": attributes, "pairs": pairs}))


def _too_many(members: Mapping[str, object]) -> Iterator[Fault]:
    for name, items in members.items():
        if isinstance(items, list) and len(items) > _MOST[name]:
            yield (name,), f"Has {len(items)} items; at most {_MOST[name]} are accepted"


def _terms_faults(terms: dict[str, Any] | None) -> Iterator[Fault]:
    if terms is not None and is_deeper(terms, DEPTH):
        yield ("terms",), f"Is nested more than {DEPTH} levels deep"
    elif terms is not None and (given := json_size(terms)) > TERMS_LENGTH:
        yield ("terms",), f"Has {given} bytes as JSON; at most {TERMS_LENGTH} are accepted"


def tenant_faults(visibility: "str | VisibleTo") -> Iterator[Fault]:
    """The fault of naming too many tenants."""
    if not isinstance(visibility, str) and len(visibility.tenants) > TENANTS:
        given = len(visibility.tenants)
        yield ("visibility", "tenants"), f"Has {given} items; at most {TENANTS} are accepted. Use all instead"


def _attribute_faults(attribute: "Attribute", location: Location) -> Iterator[Fault]:
    yield from _too_long(attribute.domain, VALUE_LENGTH, *location, "domain")
    yield from _too_deep(attribute.discretization, *location, "discretization", "parameters")
    for index, masking in enumerate(attribute.maskings):
        yield from _too_long(masking.domain, VALUE_LENGTH, *location, "maskings", index, "domain")
        yield from _too_deep(masking.function, *location, "maskings", index, "function", "parameters")


def _too_long(values: Iterable[str] | None, most: int, *location: str | int) -> Iterator[Fault]:
    values = values or ()
    if max(map(len, values), default=0) <= most:
        return
    for index, value in enumerate(values):
        if len(value) > most:
            yield (*location, index), f"Has {len(value)} characters; at most {most} are accepted"


def _too_deep(part: "MaskingFunction | Discretization | None", *location: str | int) -> Iterator[Fault]:
    if part is not None and is_deeper(part.parameters, DEPTH):
        yield location, f"Is nested more than {DEPTH} levels deep"


def is_deeper(value: Any, levels: int) -> bool:  # noqa: ANN401 -- any JSON value
    """Whether objects and lists are nested deeper than this number of levels."""
    if not isinstance(value, dict | list):
        return False
    members = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(is_deeper(member, levels - 1) for member in members)


def json_size(value: object) -> int:
    """The size of a JSON value without spaces, in bytes."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass"))
