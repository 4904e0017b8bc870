"""The outline of an entry: the content of `aegis entries show`, before it becomes text or JSON."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aegis_sdk.printable import shown
from aegis_sdk.reading.configurations import (
    GeneratedOutline,
    generated_in,
    ids_of,
    uses_of,
    vouched_for,
)
from aegis_sdk.reading.disclosure import Alone
from aegis_sdk.reading.maskings import as_given, lattice_of, words_of
from aegis_sdk.wire import DROP, IDENTITY, PRIVACY_CRITERIA, Attribute, EntryDocument, Masking, SeenBy

_LONGEST_LIST = 100


@dataclass(frozen=True)
class MaskingOutline:
    """One masking of an attribute.

    `values`: the number of masked values; `known`: its data in the entry, with declared noise and rounding;
    `follows_from`: the coarsest maskings that it is a function of; `same_as`: maskings that group the values in the
    same way; `configurations`: how many use it; `records`: counts by masked value, if known; `joint`: (masked values,
    labels) counts by masked value and label, if known.
    """

    id: str
    function: str
    values: int
    known: tuple[str, ...]
    follows_from: tuple[str, ...]
    same_as: tuple[str, ...]
    configurations: int
    domain: tuple[str, ...]
    records: tuple[int, ...] | None
    joint: tuple[tuple[int, ...], ...] | None


@dataclass(frozen=True)
class AttributeOutline:
    """One attribute; `knowledge`: its unmasked counts, as in an advice: `joint`, `histogram` or `no_histogram`."""

    name: str
    type: str
    values: int
    domain: tuple[str, ...]
    knowledge: str
    discretization: str | None
    maskings: tuple[MaskingOutline, ...]


@dataclass(frozen=True)
class Range:
    """The range of a number: how many configurations state it, the minimum and the maximum."""

    configurations: int
    least: float
    most: float


@dataclass(frozen=True)
class EntryOutline:
    """The outline of an entry.

    `labels`: all labels, the default one (`label`) first. `configurations`: their number, including generated ones.
    `privacy`: their promises. `suppressed` and `suppressed_cells`: the numbers of suppressed records and cells.
    `alone`: the records that are alone in the worst one.
    """

    name: str
    title: str
    description: str
    keywords: tuple[str, ...]
    license: str
    visibility: str
    records: int
    people: int | None
    label: str
    labels: tuple[str, ...]
    label_histogram: dict[str, int]
    attributes: tuple[AttributeOutline, ...]
    pairs: int
    configurations: int
    privacy: dict[str, Range]
    suppressed: Range | None
    suppressed_cells: Range | None
    alone: dict[str, Any]
    alone_in_words: str
    generated: tuple[GeneratedOutline, ...]


def outline_of(entry: EntryDocument, attributes: Sequence[Attribute]) -> EntryOutline:
    """The outline of an entry, with only these attributes."""
    alone, visibility = Alone.stated_in(entry), entry.visibility
    promised = ((name, _range(vouched_for(entry, name).values())) for name in PRIVACY_CRITERIA)
    return EntryOutline(
        name=entry.name,
        title=entry.title,
        description=entry.description,
        keywords=tuple(entry.keywords),
        license=entry.license,
        visibility=visibility if isinstance(visibility, str) else ", ".join(visibility.tenants),
        records=entry.records,
        people=entry.people,
        label=entry.label.name,
        labels=tuple(entry.labels or [entry.label.name]),
        label_histogram=dict(zip(entry.label.domain, entry.label.histogram, strict=True)),
        attributes=tuple(_attribute(attribute, uses_of(entry, attribute.name)) for attribute in attributes),
        pairs=len(entry.pairs),
        configurations=len(ids_of(entry)),
        privacy={name: stated for name, stated in promised if stated is not None},
        suppressed=_range([each.suppressed for each in entry.masked if each.suppressed is not None]),
        suppressed_cells=_range([each.suppressed_cells for each in entry.masked if each.suppressed_cells is not None]),
        alone=alone.document,
        alone_in_words=alone.line(offered=True),
        generated=generated_in(entry),
    )


def seen_by(visibility: str | SeenBy) -> str:
    """The visibility of an entry in words: `private`, `all`, or the tenants."""
    others = {"private": "its own tenant only", "all": "every caller"}
    named = visibility if isinstance(visibility, str) else ", ".join(visibility.tenants)
    return others.get(named, f"its own tenant and {shown(named, _LONGEST_LIST)}")


def _range(numbers: Collection[float]) -> Range | None:
    return Range(len(numbers), min(numbers), max(numbers)) if numbers else None


def _attribute(attribute: Attribute, uses: Mapping[str, int]) -> AttributeOutline:
    rule = attribute.discretization
    return AttributeOutline(
        name=attribute.name,
        type=attribute.type,
        values=len(attribute.domain),
        domain=tuple(attribute.domain),
        knowledge="joint" if attribute.joint else "histogram" if attribute.histogram else "no_histogram",
        discretization=None if rule is None else as_given(rule.rule, rule.parameters),
        maskings=tuple(_maskings(attribute, uses)),
    )


def _maskings(attribute: Attribute, uses: Mapping[str, int]) -> Iterator[MaskingOutline]:
    """The maskings in the order of the entry, with `identity` before and `drop` after them if they are used."""
    if uses.get(IDENTITY):
        values = tuple(attribute.domain)
        records = _unmasked(attribute)
        yield MaskingOutline(
            IDENTITY, "left as it is", len(values), (), (), (), uses[IDENTITY], values, records, _rows(attribute.joint)
        )
    lattice = lattice_of(attribute)
    for masking in attribute.maskings:
        yield MaskingOutline(
            id=masking.id,
            function=words_of(masking),
            values=len(masking.domain),
            known=tuple(_known(masking)),
            follows_from=tuple(name for node in lattice.finer_than(masking.id) for name in node.maskings[:1]),
            same_as=lattice.same_as(masking.id),
            configurations=uses.get(masking.id, 0),
            domain=tuple(masking.domain),
            records=_records(masking, attribute),
            joint=_joint(masking, attribute),
        )
    if uses.get(DROP):
        yield MaskingOutline(DROP, "not shared", 0, (), (), (), uses[DROP], (), None, None)


def _known(masking: Masking) -> Iterator[str]:
    """The entry's data on a masking, with declared noise and rounding."""
    if masking.mapping is not None:
        yield "mapping"
    if masking.transition is not None:
        yield "transition matrix"
    if masking.joint is not None:
        nothing_else = masking.mapping is None and masking.transition is None
        yield "joint counts only" if nothing_else else "joint counts"
    if masking.noise is not None:
        yield f"{masking.noise.kind} noise of scale {masking.noise.scale:g}"
    if masking.rounded_to is not None:
        yield f"rounded to {masking.rounded_to}"
    if masking.records is not None:
        yield f"of {masking.records} records"


def _records(masking: Masking, attribute: Attribute) -> tuple[int, ...] | None:
    """The number of records by masked value, from its joint counts or else from the attribute's unmasked counts."""
    if masking.joint is not None:
        return tuple(map(sum, masking.joint))
    unmasked = _unmasked(attribute)
    if masking.mapping is None or unmasked is None:
        return None
    by_place: Counter[int] = Counter()
    for place, records in zip(masking.mapping, unmasked, strict=True):
        by_place[place] += records
    return tuple(by_place[place] for place in range(len(masking.domain)))


def _joint(masking: Masking, attribute: Attribute) -> tuple[tuple[int, ...], ...] | None:
    """The number of records by masked value and label, from its joint counts or else from the attribute's."""
    if masking.joint is not None:
        return _rows(masking.joint)
    if masking.mapping is None or attribute.joint is None:
        return None
    folded = [[0] * len(attribute.joint[0]) for _ in masking.domain]
    for place, row in zip(masking.mapping, attribute.joint, strict=True):
        folded[place] = [one + other for one, other in zip(folded[place], row, strict=True)]
    return _rows(folded)


def _rows(joint: Sequence[Sequence[int]] | None) -> tuple[tuple[int, ...], ...] | None:
    return None if joint is None else tuple(map(tuple, joint))


def _unmasked(attribute: Attribute) -> tuple[int, ...] | None:
    if attribute.histogram is not None:
        return tuple(attribute.histogram)
    return None if attribute.joint is None else tuple(map(sum, attribute.joint))
