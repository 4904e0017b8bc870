"""From an entry document to what the advisor knows of its attributes."""

from collections.abc import Iterable, Sequence

from aegis_advisor.evidence import AttributeEvidence, PairCounts, attribute_evidence
from aegis_advisor.evidence.checks import find_faults, find_label_faults, find_pair_faults
from app.domain.documents import Document, pairs_in
from app.domain.errors import Fault, pointer


def evidence_of(document: Document, places: Iterable[int] | None = None) -> tuple[AttributeEvidence, ...]:
    """The evidence on the attributes at `places` (all by default) of a document with arrays for counts."""
    attributes = document["attributes"]
    chosen = attributes if places is None else [attributes[place] for place in places]
    return tuple(attribute_evidence(attribute, document["label"]) for attribute in chosen)


def pairs_of(document: Document, places: Sequence[int] | None = None) -> tuple[PairCounts, ...]:
    """The pair counts of a document with arrays for counts; with `places`, those of attributes among them.

    Their attributes are positions in `places`, as those of the evidence are.
    """
    attributes = document["attributes"]
    chosen = range(len(attributes)) if places is None else places
    position = {attributes[place]["name"]: index for index, place in enumerate(chosen)}
    return tuple(
        PairCounts((position[first], position[second]), tuple(pair["maskings"]), pair["joint"])
        for pair in pairs_in(document)
        for first, second in (pair["attributes"],)
        if first in position and second in position
    )


def evidence_faults(evidence: Sequence[AttributeEvidence]) -> tuple[Fault, ...]:
    """Everything that does not add up, each fault with its JSON Pointer into the document."""
    found = tuple(
        Fault(pointer("attributes", place, *fault.path), fault.detail)
        for place, attribute in enumerate(evidence)
        for fault in find_faults(attribute)
    )
    if found:
        return found
    return tuple(Fault(pointer("attributes", *fault.path), fault.detail) for fault in find_label_faults(evidence))


def pair_faults(evidence: Sequence[AttributeEvidence], pairs: Sequence[PairCounts]) -> tuple[Fault, ...]:
    """Everything of pair counts that does not add up, each fault with its JSON Pointer; the evidence is sound."""
    found = find_pair_faults(evidence, pairs)
    return tuple(Fault(pointer("pairs", *fault.path), fault.detail) for fault in found)
