"""From an entry document to what the advisor knows of its attributes."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from app.advisor.evidence import (
    AttributeEvidence,
    Masking,
    PairCounts,
    Perturbation,
    find_faults,
    find_pair_faults,
)
from app.domain.documents import Document, pairs_in
from app.domain.errors import Fault, pointer


def evidence_of(document: Document, places: Iterable[int] | None = None) -> tuple[AttributeEvidence, ...]:
    """The evidence on the attributes at `places` (all by default) of a document with arrays for counts."""
    label_histogram = document["label"]["histogram"]
    attributes = document["attributes"]
    chosen = attributes if places is None else [attributes[place] for place in places]
    return tuple(_attribute_evidence(attribute, label_histogram) for attribute in chosen)


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


def _attribute_evidence(attribute: Document, label_histogram: NDArray[np.int64]) -> AttributeEvidence:
    records = int(label_histogram.sum())
    return AttributeEvidence(
        name=attribute["name"],
        values=len(attribute["domain"]),
        label_histogram=label_histogram,
        histogram=attribute.get("histogram"),
        joint=attribute.get("joint"),
        maskings=tuple(_masking(masking, records) for masking in attribute.get("maskings") or ()),
    )


def _masking(masking: Document, records: int) -> Masking:
    mapping, transition = masking.get("mapping"), masking.get("transition")
    return Masking(
        id=masking["id"],
        groups=len(masking["domain"]),
        mapping=None if mapping is None else np.asarray(mapping, dtype=np.int64),
        joint=masking.get("joint"),
        deterministic=is_deterministic(masking),
        perturbation=_perturbation(masking, records),
        transition=None if transition is None else np.asarray(transition, dtype=np.float64),
    )


def _perturbation(masking: Document, records: int) -> Perturbation:
    """What a masking declares of its counts. To say that it counts all records is to declare nothing."""
    noise, counted = masking.get("noise"), masking.get("records")
    return Perturbation(
        noise_scale=None if noise is None else float(noise["scale"]),
        rounded_to=masking.get("rounded_to"),
        records=None if counted == records else counted,
    )


def is_deterministic(masking: Document) -> bool:
    """Whether a masking is a function of the value: its mapping is known, or its provider says so."""
    return masking.get("mapping") is not None or bool(masking.get("deterministic"))


def evidence_faults(evidence: Iterable[AttributeEvidence]) -> tuple[Fault, ...]:
    """Everything that does not add up, each fault with its JSON Pointer into the document."""
    return tuple(
        Fault(pointer("attributes", place, *fault.path), fault.detail)
        for place, attribute in enumerate(evidence)
        for fault in find_faults(attribute)
    )


def pair_faults(evidence: Sequence[AttributeEvidence], pairs: Sequence[PairCounts]) -> tuple[Fault, ...]:
    """Everything of pair counts that does not add up, each fault with its JSON Pointer; the evidence is sound."""
    found = find_pair_faults(evidence, pairs)
    return tuple(Fault(pointer("pairs", *fault.path), fault.detail) for fault in found)
