"""The JSON of `aegis disclose --json`."""

from dataclasses import asdict, replace
from typing import Any

from aegis_provider.disclosure import AttributeDisclosure, Disclosure, Judged


def disclosure_document(disclosure: Disclosure) -> dict[str, Any]:
    """Return the disclosure as JSON values."""
    attributes = [_attribute_document(attribute) for attribute in disclosure.attributes]
    document = asdict(replace(disclosure, judged=None))
    del document["judged"]
    small = {"small_and_certain": dict(disclosure.small_and_certain)}
    return {"verdict": _verdict_document(disclosure.judged), **document, "attributes": attributes, **small}


def _verdict_document(judged: Judged | None) -> dict[str, Any] | None:
    if judged is None:
        return None
    findings = [
        {**each.model_dump(), "place": place}
        for each, place in zip(judged.verdict.findings, judged.places, strict=True)
    ]
    return {"passed": judged.verdict.passed, "findings": findings, "options": judged.options}


def _attribute_document(attribute: AttributeDisclosure) -> dict[str, Any]:
    return {
        "name": attribute.name,
        "tables": [asdict(table) for table in attribute.tables],
        "together": asdict(attribute.linked),
        "compared": None if attribute.compared is None else asdict(attribute.compared),
        "given_away": None if attribute.given_away is None else asdict(attribute.given_away),
    }
