"""What counts give away, as JSON: what `aegis disclose --json` writes."""

from dataclasses import asdict
from typing import Any

from aegis_provider.disclosure import AttributeDisclosure, Disclosure


def disclosure_document(disclosure: Disclosure) -> dict[str, Any]:
    """Return the disclosure as JSON values."""
    attributes = [_attribute_document(each) for each in disclosure.attributes]
    return {**asdict(disclosure), "attributes": attributes, "small_and_certain": dict(disclosure.small_and_certain)}


def _attribute_document(attribute: AttributeDisclosure) -> dict[str, Any]:
    return {
        "name": attribute.name,
        "tables": [asdict(each) for each in attribute.tables],
        "together": asdict(attribute.linked),
        "compared": None if attribute.compared is None else asdict(attribute.compared),
        "given_away": None if attribute.given_away is None else asdict(attribute.given_away),
    }
