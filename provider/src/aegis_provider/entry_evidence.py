"""What the counts of an entry tell, as the advisor takes them."""

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from aegis_advisor.evidence import (
    AttributeEvidence,
    PairAssociation,
    PairCounts,
    attribute_evidence,
    pair_association,
    pair_counts,
)
from aegis_advisor.evidence.checks import find_faults, find_pair_faults
from aegis_advisor.joint import PublishedTrace
from aegis_advisor.verdict import Releases
from aegis_provider.errors import EntryError
from aegis_sdk.wire import (
    DROP,
    IDENTITY,
    Attribute,
    Configuration,
    EntryDocument,
    GeneratedConfiguration,
    Pair,
    pointer_of,
)


def evidence_of(entry: EntryDocument, attribute: Attribute) -> AttributeEvidence:
    """Return what the entry tells of an attribute.

    Raises:
        EntryError: Its counts contradict each other.
    """
    control = None if entry.disclosure_control is None else entry.disclosure_control.model_dump()
    evidence = attribute_evidence(attribute.model_dump(), entry.label.model_dump(), control)
    for fault in find_faults(evidence):
        place = entry.attributes.index(attribute)
        raise EntryError(f"{pointer_of(('attributes', place, *fault.path))}: {fault.detail}")
    return evidence


def pair_counts_of(entry: EntryDocument, evidence: Sequence[AttributeEvidence]) -> dict[int, PairCounts]:
    """Return the counts of pairs, by their places in the entry.

    Args:
        entry: The entry.
        evidence: What it tells of each of its attributes.

    Raises:
        EntryError: They contradict the rest.
    """
    counts = {
        number: pair_counts(pair.model_dump(), _places(entry, pair))
        for number, pair in enumerate(entry.pairs)
        if pair.joint is not None
    }
    for fault in find_pair_faults(evidence, list(counts.values())):
        place = list(counts)[int(fault.path[0])]
        raise EntryError(f"{pointer_of(('pairs', place, *fault.path[1:]))}: {fault.detail}")
    return counts


def associations_of(entry: EntryDocument) -> list[PairAssociation]:
    """Return what pairs tell of the label together."""
    return [
        pair_association(pair.model_dump(), _places(entry, pair)) for pair in entry.pairs if pair.with_label is not None
    ]


def trace_of(entry: EntryDocument) -> PublishedTrace | None:
    """Return what the unmasked table tells, if the entry says so."""
    trace = entry.joint_trace
    return None if trace is None else PublishedTrace(trace.value, trace.rounded_to)


def releases_of(entry: EntryDocument) -> Releases:
    """Return the maskings of each configuration, as codes, and the records that it suppresses.

    A generated configuration keeps its place, as one that shares no attribute and suppresses nothing.
    """
    table, rows = entry.configuration_table, [_masked_or_none(each) for each in entry.configurations or ()]
    suppressed = [None if row is None else row.suppressed for row in rows]
    masked = {
        each.name: [DROP if row is None else row.maskings[each.name] for row in rows]
        if table is None
        else list(table.maskings[each.name])
        for each in entry.attributes
    }
    options = [tuple(dict.fromkeys((IDENTITY, *masked[each.name]))) for each in entry.attributes]
    columns = [
        [own.index(masking) for masking in masked[each.name]]
        for each, own in zip(entry.attributes, options, strict=True)
    ]
    codes = np.array(columns, dtype=np.int64).T
    cells = [None if row is None else row.suppressed_cells for row in rows]
    privacy = [(row.privacy if row is not None else None) or {} for row in rows]
    vouched: Mapping[str, Sequence[float | None]] = (
        {name: [each.get(name) for each in privacy] for name in dict.fromkeys(chain.from_iterable(privacy))}
        if table is None
        else table.privacy or {}
    )
    places = {each.name: place for place, each in enumerate(entry.attributes)}
    known = None if entry.quasi_identifiers is None else frozenset(map(places.__getitem__, entry.quasi_identifiers))
    generated = frozenset(place for place, row in enumerate(rows) if row is None)
    suppressed = suppressed or [None] * len(codes)
    return Releases(codes, options, suppressed, cells, vouched, table is not None, known, generated)


def _masked_or_none(listed: Configuration | GeneratedConfiguration) -> Configuration | None:
    return listed if isinstance(listed, Configuration) else None


def masked_places(entry: EntryDocument) -> list[int]:
    """Return the places of the masked configurations among all of the entry."""
    if entry.configuration_table is not None:
        return list(range(len(entry.configuration_table.ids)))
    return [place for place, each in enumerate(entry.configurations or ()) if isinstance(each, Configuration)]


def _places(entry: EntryDocument, pair: Pair) -> tuple[int, int]:
    first, second = pair.attributes
    names = [each.name for each in entry.attributes]
    return names.index(first), names.index(second)
