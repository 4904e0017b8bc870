"""The entry document as stored: its counts as packed arrays, the rest as compressed JSON.

`parts_of` splits a published document for storage, and `attach` puts it together again, with arrays instead of lists.
The provider gets it back as published; the advisor works with the arrays.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from aegis_advisor.evidence import (
    IDENTITY,
    AttributeEvidence,
    PairAssociation,
    PairCounts,
    attribute_evidence,
    pair_association,
    pair_counts,
)
from aegis_advisor.joint import PublishedTrace
from app.entries.model.configurations import GENERATED
from app.entries.model.entries import CountKind, CountTable
from app.platform.database.arrays import unpack

Document = dict[str, Any]

#: The members that list configurations, stored apart: loading 10^5 of them would slow down every question.
CONFIGURATION_MEMBERS = ("configurations", "configuration_table")


def compress(document: object) -> bytes:
    """A JSON document as stored: UTF-8, compressed by zlib. Arrays are written as lists."""
    return zlib.compress(orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY), 1)


def decompress(stored: bytes) -> Any:  # noqa: ANN401 -- any JSON document
    """The document that `compress` stored."""
    return orjson.loads(zlib.decompress(stored))


def is_small(stored: bytes, limit: int) -> bool:
    """Whether a stored document has at most `limit` bytes; decompresses no more than these."""
    return len(zlib.decompressobj().decompress(stored, limit + 1)) <= limit


def count_places(document: Document) -> Iterator[tuple[CountKind, int | None, int | None, Document, str]]:
    """Every place of a document that may hold counts, except its pairs: kind, attribute, masking, owner and member."""
    yield CountKind.LABEL_HISTOGRAM, None, None, document["label"], "histogram"
    for i, attribute in enumerate(document["attributes"]):
        yield CountKind.HISTOGRAM, i, None, attribute, "histogram"
        yield CountKind.JOINT, i, None, attribute, "joint"
        for j, masking in enumerate(attribute.get("maskings") or ()):
            yield CountKind.MASKED_JOINT, i, j, masking, "joint"


def pairs_in(document: Document) -> Sequence[Document]:
    """The pair counts of a document, if it has any."""
    pairs: Sequence[Document] = document.get("pairs") or ()
    return pairs


def parts_of(document: Document) -> tuple[Document, Document]:
    """Split a published document, without its counts, into two parts: the schema and the configurations.

    The document is not changed. The parts share values with it that must not be changed.
    """
    schema = {name: member for name, member in document.items() if name not in CONFIGURATION_MEMBERS}
    configurations = {name: member for name, member in document.items() if name in CONFIGURATION_MEMBERS}
    # An explicit null is part of what was published, and of its digest.
    bare = _stripped(schema, lambda name, value: name in _COUNTS and value is not None)
    if "pairs" in bare:
        bare["pairs"] = [_marked(pair) for pair in bare["pairs"]]
    return bare, configurations


_COUNTS = ("histogram", "joint")

_TELLING = ("joint", "with_label", "counted_with", "within")
"""The members of a pair that tell something of its counts."""

#: The AUC of a model that knows nothing.
_CHANCE = 0.5

_COUNTED = True
"""Stands for the counts of a pair in a stored schema. Old schemas lack it, but all of their pairs have counts."""


def _marked(pair: Document) -> Document:
    """A pair without its counts."""
    return pair if pair.get("joint") is None else pair | {"joint": _COUNTED}


def is_counted(pair: Document) -> bool:
    """Whether a stored pair has counts."""
    return pair.get("joint") is _COUNTED or pair.get("with_label") is None


def without_counts(document: Document) -> Document:
    """The document without any `histogram` or `joint`, nor what gives them away.

    The pairs that are left are those with counts.
    """
    schema = _without(_stripped(document, lambda name, _: name in _COUNTS), "joint_trace")
    if "pairs" in schema:
        counted = filter(is_counted, schema["pairs"])
        schema["pairs"] = [{name: pair[name] for name in pair if name not in _TELLING} for pair in counted]
    return schema


def _stripped(document: Document, leave_out: Callable[[str, Any], bool]) -> Document:
    """The document without some members of its label, attributes and maskings."""

    def strip(part: Mapping[str, Any]) -> Document:
        return {name: value for name, value in part.items() if not leave_out(name, value)}

    schema = dict(document, label=strip(document["label"]))
    schema["attributes"] = [
        strip(attribute) | ({"maskings": [strip(m) for m in attribute["maskings"]]} if "maskings" in attribute else {})
        for attribute in document["attributes"]
    ]
    return schema


def without_small_groups(document: Document) -> Document:
    """A document without counts, and without how many records its maskings have and its configurations suppress.

    Such a number, or the difference of two, can be that of a group of a few people.
    """
    attributes = [
        attribute | {"maskings": [_without(masking, "records") for masking in attribute["maskings"]]}
        if "maskings" in attribute
        else attribute
        for attribute in document["attributes"]
    ]
    bare = document | {"attributes": attributes}
    if bare.get("configurations"):
        bare["configurations"] = [
            _without(_without(one, "suppressed"), "suppressed_cells") for one in bare["configurations"]
        ]
    return _with_generated(bare, _without_attribute_weights)


def without_generated_counts(document: Document) -> Document:
    """A document without the label histograms of generated configurations."""
    return _with_generated(document, lambda one: _without(one, "histogram"))


def _without_attribute_weights(configuration: Document) -> Document:
    """A generated configuration without the weights of attributes: they can tell what each says of the label."""
    weights = configuration.get("weights")
    return configuration if weights is None else configuration | {"weights": _without(weights, "attributes")}


def _with_generated(document: Document, change: Callable[[Document], Document]) -> Document:
    """The document with each generated configuration changed."""
    if document.get("format") == 1 or not document.get("configurations"):
        return document
    listed = [change(one) if one.get("kind") == GENERATED else one for one in document["configurations"]]
    return document | {"configurations": listed}


def with_measured_shares(document: Document) -> Document:
    """The document with a share, to two digits, in place of the AUC that was measured on each configuration.

    The share is that of the unmasked table's distance from chance, between 0 and 1; null if that table tells nothing.
    """
    if not document.get("configurations"):
        return document
    return document | {"configurations": [_with_share(one) for one in document["configurations"]]}


def _with_share(configuration: Document) -> Document:
    measured = configuration.get("measured")
    if measured is None:
        return configuration
    whole, kept = measured["raw_auc"] - _CHANCE, measured["auc"] - _CHANCE
    share = round(min(1.0, max(0.0, kept / whole)), 2) if whole > 0 else None
    return configuration | {"measured": {"model": measured["model"], "share": share}}


def _without(part: Mapping[str, Any], name: str) -> Document:
    return {member: value for member, value in part.items() if member != name}


def excerpt(schema: Document, places: Sequence[int]) -> Document:
    """The parts of a schema that `attach` needs for the attributes at `places`, in that order.

    Attaching counts to the excerpt leaves `schema` unchanged. All else is shared with it and must not be changed.
    """
    attributes = [dict(schema["attributes"][place]) for place in places]
    for attribute in attributes:
        attribute["maskings"] = [dict(masking) for masking in attribute.get("maskings") or ()]
    about = {"disclosure_control": schema.get("disclosure_control")}
    return {**about, "label": dict(schema["label"]), "attributes": attributes}


def attach(schema: Document, tables: tuple[CountTable, ...]) -> Document:
    """Put the counts back into a document, as int64 arrays; `schema` is changed in place and returned.

    If `tables` lack the pair counts, so does the document.
    """
    arrays = {(table.kind, table.attribute, table.masking): unpack(table.counts) for table in tables}
    for kind, attribute, masking, owner, member in count_places(schema):
        if (kind, attribute, masking) in arrays:
            owner[member] = arrays[kind, attribute, masking]
    if (CountKind.PAIRS, None, None) in arrays:
        _attach_pairs(schema, arrays[CountKind.PAIRS, None, None])
    return schema


def _attach_pairs(schema: Document, joined: NDArray[np.int64]) -> None:
    """Cut the joined pair counts into tables with the sizes of the domains."""
    sizes = _sizes(schema)
    stop = 0
    for pair in filter(is_counted, pairs_in(schema)):
        rows, columns = (sizes[masked] for masked in zip(pair["attributes"], pair["maskings"], strict=True))
        start, stop = stop, stop + rows * columns
        pair["joint"] = joined[start:stop].reshape(rows, columns)


def _sizes(schema: Document) -> Mapping[tuple[str, str], int]:
    """The number of masked values by attribute and masking id."""
    return {
        (attribute["name"], masking["id"]): len(masking["domain"])
        for attribute in schema["attributes"]
        for masking in ({"id": IDENTITY, "domain": attribute["domain"]}, *(attribute.get("maskings") or ()))
    }


def evidence_of(document: Document, places: Iterable[int] | None = None) -> tuple[AttributeEvidence, ...]:
    """The evidence on the attributes at `places` (all by default) of a stored document."""
    attributes = document["attributes"]
    chosen = attributes if places is None else [attributes[place] for place in places]
    control = document.get("disclosure_control")
    return tuple(attribute_evidence(attribute, document["label"], control) for attribute in chosen)


def pairs_of(document: Document, places: Sequence[int] | None = None) -> dict[int, PairCounts]:
    """The pair counts of a document, by their places in it; with `places`, only those of attributes at these places.

    They give each attribute by its position in `places`, as the evidence does.
    """
    return {
        place: pair_counts(pair, attributes)
        for place, attributes, pair in _placed(document, places)
        if pair.get("joint") is not None
    }


def associations_of(document: Document, places: Sequence[int] | None = None) -> dict[int, PairAssociation]:
    """What the pairs of a document tell of the label together, with places and attributes as in `pairs_of`."""
    return {
        place: pair_association(pair, attributes)
        for place, attributes, pair in _placed(document, places)
        if pair.get("with_label") is not None
    }


def published_trace_of(document: Document) -> PublishedTrace | None:
    """The trace of the unmasked table that a document publishes; None if it publishes none."""
    published = document.get("joint_trace")
    return None if published is None else PublishedTrace(published["value"], published.get("rounded_to"))


def _placed(document: Document, places: Sequence[int] | None) -> Iterator[tuple[int, tuple[int, int], Document]]:
    """Each pair of chosen attributes: its place, and their positions among these."""
    attributes = document["attributes"]
    chosen = range(len(attributes)) if places is None else places
    position = {attributes[place]["name"]: index for index, place in enumerate(chosen)}
    for place, pair in enumerate(pairs_in(document)):
        first, second = pair["attributes"]
        if first in position and second in position:
            yield place, (position[first], position[second]), pair
