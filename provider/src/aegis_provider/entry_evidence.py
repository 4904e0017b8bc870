"""The evidence of an entry's counts, in the form that the advisor takes."""

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
    """Return the entry's evidence on some attributes, by default all.

    Raises:
        EntryError: Their counts contradict each other.
    """
    every = range(len(entry.attributes))
    places = every if attributes is None else [entry.attributes.index(attribute) for attribute in attributes]
    evidence = list(evidence_of(content_of(entry), places))
    for place, each in zip(places, evidence, strict=True):
        for fault in find_faults(each):
            raise EntryError(f"{pointer_of(('attributes', place, *fault.path))}: {fault.detail}")
    return evidence


def consistent_pairs(content: EntryContent, evidence: Sequence[AttributeEvidence]) -> dict[int, PairCounts]:
    """Return the counts of pairs of attributes with this evidence, by their places in the entry.

    Raises:
        EntryError: They contradict the other counts.
    """
    counts = pairs_of(content)
    for fault in find_pair_faults(evidence, list(counts.values())):
        place = list(counts)[int(fault.path[0])]
        raise EntryError(f"{pointer_of(('pairs', place, *fault.path[1:]))}: {fault.detail}")
    return counts


def published_counts(entry: EntryDocument, evidence: Sequence[AttributeEvidence]) -> PublishedCounts:
    """Return all counts of an entry, given the evidence of its attributes.

    Raises:
        EntryError: Pair counts contradict the other counts.
    """
    content = content_of(entry)
    return PublishedCounts(evidence, consistent_pairs(content, evidence), Releases.of(content))


def masked_places(entry: EntryDocument) -> list[int]:
    """Return the places of the masked configurations among all of the entry."""
    if entry.configuration_table is not None:
        return list(range(len(entry.configuration_table.ids)))
    return [place for place, each in enumerate(entry.configurations or ()) if isinstance(each, Configuration)]
