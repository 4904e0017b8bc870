"""The entry document as stored: its counts as packed arrays, the rest as compressed JSON.

`parts_of` splits a published document for storage. `stored_entry` reads it as content for computations, and
`with_counts` restores the whole document for its provider. For others, parts are removed by path.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

import msgspec
import numpy as np
import orjson
from numpy.typing import NDArray

from aegis_advisor.evidence import (
    IDENTITY,
    AssociationContent,
    AttributeContent,
    ConfigurationsContent,
    ControlContent,
    EntryContent,
    HoldoutContent,
    LabelContent,
    PairContent,
    PublishedTrace,
    TransferContent,
)
from aegis_advisor.ranking import kept_shares
from app.entries.model.entries import CountKind, CountTable
from app.entries.model.published import MEASURES, figures_in, nothing_by
from app.platform.database.arrays import pack, unpack

Document = dict[str, Any]
_Read = TypeVar("_Read")
_Counts = Mapping[tuple[CountKind, int | None, int | None], NDArray[np.int64]]

#: The members that list configurations, stored separately: loading 10^5 of them would slow down every question.
CONFIGURATION_MEMBERS = ("configurations", "configuration_table")


def compress(document: object) -> bytes:
    """A JSON document as stored: UTF-8, compressed by zlib. Arrays are written as lists."""
    return zlib.compress(orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY), 1)


def decompress(stored: bytes) -> Any:  # noqa: ANN401 -- any JSON document
    """The document that `compress` stored."""
    return orjson.loads(zlib.decompress(stored))


def read_as(kind: type[_Read], stored: bytes) -> _Read:
    """The document that `compress` stored, as a dataclass. Members without a field are skipped."""
    return msgspec.json.decode(zlib.decompress(stored), type=kind)


def is_small(stored: bytes, limit: int) -> bool:
    """Whether a stored document has at most `limit` bytes; decompresses no more than that."""
    return len(zlib.decompressobj().decompress(stored, limit + 1)) <= limit


# Paths to remove from documents: names of members; `*` stands for each item of a list.

_GONE: Final = object()
"""The replacement for a removed member."""

_COUNTS: Final = (
    ("label", "histogram"),
    ("attributes", "*", "histogram"),
    ("attributes", "*", "joint"),
    ("attributes", "*", "maskings", "*", "joint"),
)
_TELLING: Final = (
    ("joint_trace",),
    ("joint_traces",),
    *(("pairs", "*", member) for member in ("joint", "with_label", "with_labels", "counted_with", "within")),
)
"""Members that disclose counts, besides the counts themselves."""

SMALL_GROUPS: Final = (
    ("attributes", "*", "maskings", "*", "records"),
    ("configurations", "*", "suppressed"),
    ("configurations", "*", "suppressed_cells"),
    # The weight of an attribute can reveal its relation to the label.
    ("configurations", "*", "weights", "attributes"),
)
"""Members that can be, alone or as a difference, the number of a few people."""

GENERATED_COUNTS: Final = (("configurations", "*", "histogram"),)
"""The label histograms of generated configurations."""

TRANSFERS: Final = (("holdout", "unmasked"), ("configurations", "*", "transfer"))
"""Transfer utilities, of which others read only shares."""

_COUNTED: Final = True
"""Stands for the counts of a pair in a stored schema. Old schemas lack it, but all of their pairs have counts."""

#: The AUC of guessing.
_CHANCE = 0.5


def changed(value: Any, path: Sequence[str], change: Callable[[Any], Any]) -> Any:  # noqa: ANN401 -- any JSON value
    """A copy of the value, changed at a path; parts without the path are shared with the original."""
    if not path:
        return change(value)
    name, rest = path[0], path[1:]
    if name == "*":
        return [changed(item, rest, change) for item in value]
    if value.get(name) is None and (rest or name not in value):
        return value
    new = changed(value[name], rest, change)
    if new is _GONE:
        return {member: kept for member, kept in value.items() if member != name}
    return value | {name: new}


def without(document: Document, paths: Sequence[Sequence[str]]) -> Document:
    """A document without the members at some paths."""
    for path in paths:
        document = changed(document, path, lambda _: _GONE)
    return document


def parts_of(document: Document) -> tuple[Document, Document]:
    """Split a published document without its counts into schema and configurations, which share values with it."""
    schema = {name: member for name, member in document.items() if name not in CONFIGURATION_MEMBERS}
    configurations = {name: member for name, member in document.items() if name in CONFIGURATION_MEMBERS}
    for path in _COUNTS:  # an explicit null is part of the published document, and of its digest
        schema = changed(schema, path, lambda counts: None if counts is None else _GONE)
    schema = changed(schema, ("pairs", "*", "joint"), lambda counts: None if counts is None else _COUNTED)
    return _with_statistics_hidden(schema), configurations


@dataclass(frozen=True, slots=True)
class _OfLabels:
    """The statistics of labels but the default one: by pair, its associations, and the traces by label."""

    with_labels: Sequence[Mapping[str, AssociationContent] | None]
    joint_traces: Mapping[str, PublishedTrace] = field(default_factory=dict)


def _with_statistics_hidden(schema: Document) -> Document:
    """A schema with `with_labels` and `joint_traces` in place of the label's histogram, which is stored as an array.

    A version of the service that does not know these members runs beside this one, and would show them to others. Every
    version leaves the histogram out. A pair without counts and `with_label` keeps its own, which tell that it has none.
    """
    told = [
        None if pair.get("joint") is None and pair.get("with_label") is None else pair.get("with_labels")
        for pair in schema.get("pairs") or ()
    ]
    traces = schema.get("joint_traces") or {}
    if not any(told) and not traces:
        return schema
    pairs = [
        pair if each is None else without(pair, (("with_labels",),))
        for pair, each in zip(schema.get("pairs") or (), told, strict=True)
    ]
    hidden = {"with_labels": told, "joint_traces": traces}
    schema = without(schema, (("joint_traces",),)) | {"label": schema["label"] | {"histogram": hidden}}
    return schema | ({"pairs": pairs} if pairs else {})


def with_statistics(schema: Document) -> Document:
    """A stored schema with the statistics of all labels at their places."""
    label = dict(schema["label"])
    if not isinstance(label.get("histogram"), dict):
        return schema
    hidden = label.pop("histogram")
    told = zip(schema.get("pairs") or (), hidden["with_labels"], strict=True)
    pairs = [pair if each is None else pair | {"with_labels": each} for pair, each in told]
    traces = {"joint_traces": hidden["joint_traces"]} if hidden["joint_traces"] else {}
    return schema | {"label": label} | ({"pairs": pairs} if pairs else {}) | traces


def without_counts(document: Document) -> Document:
    """The stored schema without counts and members that disclose them; pairs without counts are left out."""

    def counted(pairs: Sequence[Document]) -> list[Document]:
        return [pair for pair in pairs if is_counted(msgspec.convert(pair, PairContent))]

    schema = changed(document, ("pairs",), counted)
    return without(schema, (*_COUNTS, *_TELLING))


@dataclass(frozen=True, slots=True)
class _Measured:
    """The AUCs of a model on the masked and the unmasked table, or its `R^2` if the label is a number."""

    model: str
    auc: float | None = None
    raw_auc: float = 0.0
    r2: float = 0.0
    raw_r2: float = 0.0


def _measured_share(measured: Document | None) -> Document | None:
    if measured is None:
        return None
    known = msgspec.convert(measured, _Measured)
    kept, whole = known.r2, known.raw_r2
    if known.auc is not None:
        kept, whole = known.auc - _CHANCE, known.raw_auc - _CHANCE
    share = round(min(1.0, max(0.0, kept / whole)), 2) if whole > 0 else None
    return {"model": known.model, "share": share}


@dataclass(frozen=True, slots=True)
class _HeldOut:
    holdout: HoldoutContent | None = None


def with_shares(document: Document) -> Document:
    """The document with shares to two digits in place of measured AUCs or `R^2`, and transfer utilities.

    Those of AUCs are relative to the unmasked table's distance from chance, between 0 and 1; null if that is 0. Those
    of `R^2` are relative to the unmasked table's. Those of utilities are relative to the best of any configuration or
    of the unmasked records, by the same measure.
    """
    document = changed(document, ("configurations", "*", "measured"), _measured_share)
    holdout = msgspec.convert(document, _HeldOut).holdout
    if holdout is None:
        return document
    listed = msgspec.convert(document, ConfigurationsContent).configurations or ()
    unmasked, *shares = _in_shares([holdout.unmasked, *(one.transfer for one in listed)], holdout)
    document = changed(document, ("holdout", "unmasked"), lambda _: unmasked)
    own = ({} if share is None else {"transfer": share} for share in shares)
    return changed(document, ("configurations", "*"), lambda one: one | next(own))  # type: ignore[no-any-return]


def _in_shares(transfers: Sequence[TransferContent | None], holdout: HoldoutContent) -> list[Document | None]:
    """Each `transfer` with shares in place of utilities."""
    values = [{(name, measure): figure[0] for name, measure, figure in figures_in(one)} for one in transfers]
    places = dict.fromkeys(place for one in values for place in one)
    shares: list[dict[tuple[str | None, str], float]] = [{} for _ in transfers]
    for place in places:
        name, measure = place
        rows = [row for row, one in enumerate(values) if place in one]
        numbers = np.array([values[row][place] for row in rows])
        best = numbers.max() if MEASURES[measure] == "higher" else numbers.min()
        kept = kept_shares(numbers, best, nothing_by(measure, holdout), MEASURES[measure])
        for row, share in zip(rows, kept.tolist(), strict=True):
            shares[row][name, measure] = share
    return [None if one is None else _nested(own) for one, own in zip(transfers, shares, strict=True)]


def _nested(shares: Mapping[tuple[str | None, str], float]) -> Document:
    """Shares by attribute and measure, in the contract's names."""
    together = {measure: share for (name, measure), share in shares.items() if name is None}
    attributes: dict[str, dict[str, float]] = {}
    for (name, measure), share in shares.items():
        if name is not None:
            attributes.setdefault(name, {})[measure] = share
    return {"attributes": attributes, **together}


def with_counts(document: Document, tables: Sequence[CountTable]) -> Document:
    """A stored schema with its counts, as int64 arrays (no pair counts if `tables` lack them), changed in place."""
    for table in sorted(tables, key=lambda table: list(CountKind).index(table.kind)):
        counts = unpack(table.counts)
        if table.kind is CountKind.PAIRS:
            blocks = _blocks(entry_in(document), counts)
            for place, block in blocks.items():
                _put(document, ("pairs", place, "joint"), block)
        else:
            _put(document, table.kind.path(table.attribute, table.masking), counts)
    return document


def _put(document: Any, path: Sequence[str | int], value: object) -> None:  # noqa: ANN401 -- any JSON value
    for name in path[:-1]:
        document = document[name]
    document[path[-1]] = value


def entry_in(document: Document) -> EntryContent:
    """The content of a valid document with counts as lists or arrays."""
    return msgspec.convert(document, EntryContent)


def stored_entry(schema: bytes, tables: Sequence[CountTable] = (), configurations: bytes | None = None) -> EntryContent:
    """A stored entry with some of its counts, as int64 arrays, and with its configurations if given."""
    entry = with_arrays(_content_of(schema), tables)
    if configurations is None:
        return entry
    listed = read_as(ConfigurationsContent, configurations)
    return replace(entry, configurations=listed.configurations, configuration_table=listed.configuration_table)


def _content_of(schema: bytes) -> EntryContent:
    entry = read_as(EntryContent, schema)
    if not isinstance(entry.label.histogram, dict):
        return entry
    hidden = msgspec.convert(entry.label.histogram, _OfLabels)
    told = zip(entry.pairs, hidden.with_labels, strict=True)
    pairs = [pair if each is None else replace(pair, with_labels=each) for pair, each in told]
    label = replace(entry.label, histogram=None)
    return replace(entry, label=label, pairs=pairs, joint_traces=hidden.joint_traces)


@dataclass(frozen=True, slots=True)
class _LabelOnly:
    label: LabelContent


def tables_about(schema: bytes, tables: Sequence[CountTable], label: str, place: int) -> tuple[CountTable, ...]:
    """The counts of a label of a stored entry, and of the attribute at a place, as of an entry with this label alone.

    Args:
        schema: the entry as stored.
        tables: its counts of the default label, of the attributes at this place and the label's, and of pairs.
        label: one of its other labels.
        place: the place of an attribute, which is not this label.
    """
    entry = stored_entry(schema, tables)
    task, stored = entry.about(label), len(entry.attributes[place].maskings)
    attribute = task.attributes[place]
    counts: list[tuple[CountKind, int | None, int | None, Any]] = [
        (CountKind.LABEL_HISTOGRAM, None, None, task.label.histogram),
        (CountKind.HISTOGRAM, place, None, attribute.histogram),
        (CountKind.JOINT, place, None, attribute.joint),
    ]
    for at, masking in enumerate(attribute.maskings):  # unmasked counts that declare an error stand behind those stored
        kind, own = (CountKind.MASKED_JOINT, at) if at < stored else (CountKind.JOINT, None)
        counts.append((kind, place, own, masking.joint))
    return tuple(CountTable(kind, at, own, pack(np.asarray(one))) for kind, at, own, one in counts if one is not None)


def masks_label(schema: bytes) -> bool:
    """Whether the label of a stored entry has maskings, whose counts are among its pairs."""
    return bool(read_as(_LabelOnly, schema).label.maskings)


@dataclass(frozen=True, slots=True)
class _Unread:
    """A stored schema whose attributes are not parsed yet."""

    records: int
    label: LabelContent
    attributes: Sequence[msgspec.Raw]
    disclosure_control: ControlContent | None = None
    joint_trace: PublishedTrace | None = None


def stored_attributes(schema: bytes, places: Sequence[int], tables: Sequence[CountTable]) -> EntryContent:
    """A stored entry with only the attributes at these places, in that order, with their counts and without pairs.

    The others, most of a large schema, are not parsed.
    """
    stored, position = read_as(_Unread, schema), {place: index for index, place in enumerate(places)}
    entry = EntryContent(
        records=stored.records,
        label=stored.label,
        attributes=[msgspec.json.decode(stored.attributes[place], type=AttributeContent) for place in places],
        disclosure_control=stored.disclosure_control,
        joint_trace=stored.joint_trace,
    )
    own = [table for table in tables if table.attribute is None and table.kind is not CountKind.PAIRS]
    own += [replace(table, attribute=position[table.attribute]) for table in tables if table.attribute in position]
    return with_arrays(entry, own)


def with_arrays(entry: EntryContent, tables: Sequence[CountTable]) -> EntryContent:
    """A stored entry with these counts. Without pair counts among them, the entry has none."""
    counts = {(table.kind, table.attribute, table.masking): unpack(table.counts) for table in tables}
    counted = {table.attribute for table in tables}  # few of many, where a question selects some
    pairs, joined = list(entry.pairs), counts.get((CountKind.PAIRS, None, None))
    for place, block in ({} if joined is None else _blocks(entry, joined)).items():
        pairs[place] = replace(pairs[place], joint=block)
    return replace(
        entry,
        label=replace(
            entry.label, histogram=counts.get((CountKind.LABEL_HISTOGRAM, None, None), entry.label.histogram)
        ),
        attributes=[
            _attribute(place, attribute, counts) if place in counted else attribute
            for place, attribute in enumerate(entry.attributes)
        ],
        pairs=pairs,
    )


def _attribute(place: int, attribute: AttributeContent, counts: _Counts) -> AttributeContent:
    return replace(
        attribute,
        histogram=counts.get((CountKind.HISTOGRAM, place, None)),
        joint=counts.get((CountKind.JOINT, place, None)),
        maskings=[
            replace(masking, joint=counts.get((CountKind.MASKED_JOINT, place, index)))
            for index, masking in enumerate(attribute.maskings)
        ],
    )


def _blocks(entry: EntryContent, joined: NDArray[np.int64]) -> dict[int, NDArray[np.int64]]:
    """The joined pair counts, split into tables by the sizes of the domains, by the places of their pairs."""
    sizes = {
        (attribute.name, masking): size
        for attribute in entry.attributes
        for masking, size in (
            (IDENTITY, len(attribute.domain)),
            *((masking.id, len(masking.domain)) for masking in attribute.maskings),
        )
    }
    sizes |= {(entry.label.name, masking.id): len(masking.domain) for masking in entry.label.maskings}
    blocks, stop = {}, 0
    for place, pair in enumerate(entry.pairs):
        if not is_counted(pair):
            continue
        rows, columns = (sizes[masked] for masked in zip(pair.attributes, pair.maskings, strict=True))
        start, stop = stop, stop + rows * columns
        blocks[place] = joined[start:stop].reshape(rows, columns)
    return blocks


def is_counted(pair: PairContent) -> bool:
    """Whether a stored pair has counts."""
    return pair.joint is _COUNTED or (pair.with_label is None and not pair.with_labels)
