"""What the counts of an entry tell, as the advisor takes them."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from aegis_advisor.evidence import AttributeEvidence, EntryContent, PairCounts, evidence_of, pairs_of
from aegis_advisor.evidence.checks import find_faults, find_pair_faults
from aegis_advisor.verdict import PublishedCounts, Releases
from aegis_provider.errors import EntryError
from aegis_sdk.wire import Attribute, Configuration, EntryDocument, pointer_of

_CONTENT = TypeAdapter(EntryContent)


def content_of(entry: EntryDocument | Mapping[str, Any]) -> EntryContent:
    """Return the content of an entry, or of a document that becomes one."""
    return _CONTENT.validate_python(entry.model_dump() if isinstance(entry, EntryDocument) else entry)


def consistent_evidence(entry: EntryDocument, attributes: Sequence[Attribute] | None = None) -> list[AttributeEvidence]:
    """Return what the entry tells of some of its attributes, by default of all.

    Raises:
        EntryError: Their counts contradict each other.
    """
    every = range(len(entry.attributes))
    places = every if attributes is None else [entry.attributes.index(each) for each in attributes]
    evidence = list(evidence_of(content_of(entry), places))
    for place, each in zip(places, evidence, strict=True):
        for fault in find_faults(each):
            raise EntryError(f"{pointer_of(('attributes', place, *fault.path))}: {fault.detail}")
    return evidence


def consistent_pairs(content: EntryContent, evidence: Sequence[AttributeEvidence]) -> dict[int, PairCounts]:
    """Return the counts of pairs, by their places in the entry, whose attributes have this evidence.

    Raises:
        EntryError: They contradict the rest.
    """
    counts = pairs_of(content)
    for fault in find_pair_faults(evidence, list(counts.values())):
        place = list(counts)[int(fault.path[0])]
        raise EntryError(f"{pointer_of(('pairs', place, *fault.path[1:]))}: {fault.detail}")
    return counts


def published_counts(entry: EntryDocument, evidence: Sequence[AttributeEvidence]) -> PublishedCounts:
    """Return all counts of an entry, whose attributes have this evidence.

    Raises:
        EntryError: Those of pairs contradict the rest.
    """
    content = content_of(entry)
    return PublishedCounts(evidence, consistent_pairs(content, evidence), Releases.of(content))


def masked_places(entry: EntryDocument) -> list[int]:
    """Return the places of the masked configurations among all of the entry."""
    if entry.configuration_table is not None:
        return list(range(len(entry.configuration_table.ids)))
    return [place for place, each in enumerate(entry.configurations or ()) if isinstance(each, Configuration)]
