"""An entry cut into parts for pages, so that each page reads only its own part of a large entry."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, TypeVar

import msgspec
import orjson

from aegis_advisor.evidence import AttributeContent, ConfigurationContent, ControlContent, EntryContent, MaskingContent
from aegis_sdk.reading import (
    Alone,
    ConfigurationNames,
    as_sentence,
    declares_joint,
    has_pairs,
    in_words,
    measured_of,
    number,
    prices_of,
    records_of,
    share_alone,
    shown,
)
from aegis_sdk.reading.maskings import as_given
from aegis_sdk.wire import DROP, PRIVACY_CRITERIA
from app.entries.api.mapping import entry_document
from app.entries.model.documents import TRANSFERS, Document, compress, entry_in, without
from app.pages.markdown import html_of
from app.pages.slices import PER_PAGE

#: The number of values of a domain, and of maskings of a configuration, before a link to the rest.
FIRST_VALUES, FIRST_MASKINGS = 8, 8

#: The number of classes of the label that are shown.
FIRST_CLASSES = 50


@dataclass(frozen=True, slots=True)
class MaskingRow:
    """A masking of an attribute: its function in words, and its number of masked values."""

    id: str
    words: str
    values: int
    known: str


@dataclass(frozen=True, slots=True)
class AttributeRow:
    """An attribute with the beginning of its domain; `place`: its number in the entry, from 0."""

    place: int
    name: str
    type: str
    values: int
    first: tuple[str, ...]
    rule: str
    maskings: tuple[MaskingRow, ...]


@dataclass(frozen=True, slots=True)
class MaskedValues:
    """The masked values of a masking; `mapping`: for each value of the attribute, the place of its masked value."""

    id: str
    domain: tuple[str, ...]
    mapping: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class WholeAttribute:
    """An attribute with its whole domain."""

    row: AttributeRow
    domain: tuple[str, ...]
    maskings: tuple[MaskedValues, ...]


@dataclass(frozen=True, slots=True)
class ConfigurationRow:
    """A configuration.

    Attributes:
        about: its name in words; may be empty.
        maskings: the first shared attributes with their maskings.
        shared: the number of shared attributes.
        records: the number of its records, in words.
        suppressed: the number of suppressed records and cells; None if not stated, or hidden from this reader.
        method: the method of generation; empty if masked.
        measured: the performance of a trained model, in words, and `alone` the share of lone records; may be empty.
        price: what it costs, in the currency of the entry; may be empty.
    """

    place: int
    id: str
    maskings: tuple[tuple[str, str], ...]
    shared: int
    privacy: dict[str, float]
    about: str = ""
    records: str = ""
    suppressed: int | None = None
    suppressed_cells: int | None = None
    method: str = ""
    measured: str = ""
    alone: str = ""
    price: str = ""


@dataclass(frozen=True, slots=True)
class Vouched:
    """A privacy criterion: the number of configurations that promise it, and the range of their numbers."""

    name: str
    configurations: int
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class About:
    """An entry without its head and its long lists.

    Attributes:
        description: as HTML, sanitised.
        classes: the first classes of the label; `labels`: the number of classes.
        measure: the usual measure for questions.
        at_least_k: for some k, the number of configurations that promise at least that.
        has_suppressed: whether any configuration states its suppressed records or cells.
        currency: of the prices of configurations; empty without any.
        alone: the share of lone records in the worst configuration, in words.
        is_unique: whether that share is too large.
        is_cut: whether configurations have more maskings than their rows show.
    """

    description: str
    records: int
    classes: tuple[str, ...]
    labels: int
    control: ControlContent
    terms: str
    pairs: int
    holdout: int | None
    attributes: int
    configurations: int
    generated: int
    measure: str
    at_least_k: tuple[tuple[int, int], ...]
    vouched: tuple[Vouched, ...]
    has_suppressed: bool
    has_measured: bool
    currency: str
    alone: str
    is_unique: bool
    is_cut: bool


ABOUT: Final = msgspec.json.Decoder(About)
NAMES: Final = msgspec.json.Decoder(tuple[str, ...])
ATTRIBUTES: Final = msgspec.json.Decoder(tuple[AttributeRow, ...])
WHOLE: Final = msgspec.json.Decoder(WholeAttribute)
CONFIGURATIONS: Final = msgspec.json.Decoder(tuple[ConfigurationRow, ...])
MASKINGS: Final = msgspec.json.Decoder(tuple[tuple[str, ...], ...])


#: The values of k for which pages count configurations.
SOME_K: Final = (2, 5, 10, 20)

_LONGEST_WORDS: Final = 120

#: Rules of discretization in words.
_RULES: Final = {
    "merged": "values merged",
    "edges": "intervals with chosen edges",
    "equal_width": "intervals of equal width",
    "equal_frequency": "intervals of about equal numbers of records",
    "freedman_diaconis": "intervals by the rule of Freedman and Diaconis",
}

#: The number of maskings in a part of an index, unless a single configuration has more.
_MASKINGS: Final = 5_000

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class EntryIndex:
    """The parts of an entry, each as compressed JSON.

    Attributes:
        about: everything but the long lists.
        wholes: each attribute in full.
        maskings: parts with all maskings of some configurations (`maskings_per_part`), in the order of the attributes;
            empty if the rows show them all.
    """

    about: bytes
    names: bytes
    attributes: tuple[bytes, ...]
    wholes: tuple[bytes, ...]
    configurations: tuple[bytes, ...]
    maskings: tuple[bytes, ...]

    @property
    def size(self) -> int:
        """Approximate size in bytes, with an overhead for each part."""
        parts = (self.about, self.names, *self.attributes, *self.wholes, *self.configurations, *self.maskings)
        return sum(64 + len(part) for part in parts)


def entry_index(schema: bytes, configurations: bytes, in_full: bool) -> EntryIndex:  # noqa: FBT001 -- by position
    """The index of an entry for its owners (`in_full`) or for others. Slow for large entries."""
    document = entry_document(schema, configurations, in_full=in_full)
    document = _best_measured_first(document)
    entry = entry_in(without(document, TRANSFERS))
    names = [attribute.name for attribute in entry.attributes]
    rows = [_attribute(place, attribute) for place, attribute in enumerate(entry.attributes)]
    listed = list(_configurations(entry, document))
    is_cut = any(row.shared > len(row.maskings) for row in listed)
    maskings, size = iter(_masking_rows(entry) if is_cut else ()), maskings_per_part(len(names))
    return EntryIndex(
        about=compress(_about(entry, listed, document, is_cut=is_cut)),
        names=compress(names),
        attributes=tuple(map(compress, _pages(rows))),
        wholes=tuple(compress(_whole(row, attribute)) for row, attribute in zip(rows, entry.attributes, strict=True)),
        configurations=tuple(map(compress, _pages(listed))),
        maskings=tuple(map(compress, iter(lambda: list(islice(maskings, size)), []))),
    )


def _best_measured_first(document: Document) -> Document:
    """The entry with the configurations first on which a trained model was best; the others as their provider lists
    them, which `aegis` does by what they keep.
    """

    def reached(item: Document) -> float:
        measured = item.get("measured") or {}
        return float(measured.get("auc", measured.get("r2", measured.get("share", -1.0))))

    listed = document.get("configurations")
    return document if listed is None else document | {"configurations": sorted(listed, key=reached, reverse=True)}


def maskings_per_part(attributes: int) -> int:
    """The number of configurations in a part of maskings: few for an entry with many attributes."""
    return max(_MASKINGS // attributes, 1)


def _pages(rows: Sequence[Part]) -> Iterator[Sequence[Part]]:
    return (rows[start : start + PER_PAGE] for start in range(0, len(rows), PER_PAGE))


def _about(
    entry: EntryContent, configurations: Sequence[ConfigurationRow], document: Document, *, is_cut: bool
) -> About:
    label, terms = entry.label, entry.terms
    vouched = [row.privacy for row in configurations]
    offered = {name: [row[name] for row in vouched if name in row] for name in PRIVACY_CRITERIA}
    of_k, alone = offered["k"], Alone.of(document)
    return About(
        description=html_of(entry.description),
        records=entry.records,
        classes=tuple(label.domain[:FIRST_CLASSES]),
        labels=len(label.domain),
        control=entry.disclosure_control or ControlContent(),
        terms="" if terms is None else orjson.dumps(terms, option=orjson.OPT_INDENT_2).decode(),
        pairs=len(entry.pairs),
        holdout=None if entry.holdout is None else entry.holdout.records,
        attributes=len(entry.attributes),
        configurations=len(configurations),
        generated=sum(1 for row in configurations if row.method),
        measure="joint" if has_pairs(document) or declares_joint(document) else "mutual_information",
        at_least_k=tuple((least, sum(k >= least for k in of_k)) for least in SOME_K),
        vouched=tuple(Vouched(name, len(own), min(own), max(own)) for name, own in offered.items() if own),
        has_suppressed=any(row.suppressed is not None or row.suppressed_cells is not None for row in configurations),
        has_measured=any(row.measured for row in configurations),
        currency=prices_of(document, ())[1],
        alone=as_sentence(alone.line(offered=True)),
        is_unique=alone.is_much(offered=True),
        is_cut=is_cut,
    )


def _attribute(place: int, attribute: AttributeContent) -> AttributeRow:
    words, given = "", attribute.discretization
    if given is not None:
        rule = _RULES.get(given.rule, f"made discrete by {given.rule}")
        words = shown(as_given(rule, given.parameters or {}), _LONGEST_WORDS)
    return AttributeRow(
        place=place,
        name=attribute.name,
        type=attribute.type,
        values=len(attribute.domain),
        first=tuple(attribute.domain[:FIRST_VALUES]),
        rule=words,
        maskings=tuple(map(_masking, attribute.maskings)),
    )


def _masking(masking: MaskingContent) -> MaskingRow:
    if (function := masking.function) is not None:
        words = shown(in_words(function.name, function.parameters or {}), _LONGEST_WORDS)
    else:
        words = "a mapping" if masking.mapping is not None else "not given"
    known = "at random" if masking.transition is not None else ""
    return MaskingRow(masking.id, words, len(masking.domain), known)


def _whole(row: AttributeRow, attribute: AttributeContent) -> WholeAttribute:
    maskings = (
        MaskedValues(masking.id, tuple(masking.domain), None if masking.mapping is None else tuple(masking.mapping))
        for masking in attribute.maskings
    )
    return WholeAttribute(row, tuple(attribute.domain), tuple(maskings))


def _configurations(entry: EntryContent, document: Document) -> Iterator[ConfigurationRow]:
    said, rows = ConfigurationNames.of(document), [*_without_price(entry, document)]
    prices, _ = prices_of(document, [row.id for row in rows])
    for row, price in zip(rows, prices, strict=True):
        yield replace(row, about=said.name(row.id), price="" if price is None else number(price, 6))


def _without_price(entry: EntryContent, document: Document) -> Iterator[ConfigurationRow]:
    table, names = entry.configuration_table, [each.name for each in entry.attributes]
    if table is None:
        listed = entry.configurations or ()
        measured = measured_of(document, [each.id for each in listed])
        records = records_of(document, [each.id for each in listed])
        for place, each in enumerate(listed):
            yield replace(_listed(place, each, names, measured[place]), records=records[place])
        return
    privacy = {name: column for name, column in (table.privacy or {}).items() if column}
    most = f"up to {entry.records:,}"
    for place, (row, maskings) in enumerate(zip(table.ids, _masking_rows(entry), strict=True)):
        numbers = ((name, column[place]) for name, column in privacy.items())
        vouched = {name: number for name, number in numbers if number is not None}
        yield ConfigurationRow(place, row, *_shared(names, maskings), vouched, records=most)


def _listed(place: int, listed: ConfigurationContent, names: Sequence[str], measured: str | None) -> ConfigurationRow:
    return ConfigurationRow(
        place,
        listed.id,
        *_shared(names, [listed.maskings.get(name, DROP) for name in names]),
        dict(listed.privacy or {}),
        suppressed=listed.suppressed,
        suppressed_cells=listed.suppressed_cells,
        method=listed.method,
        measured=measured or "",
        alone="" if listed.alone is None else share_alone(listed.alone),
    )


def _shared(names: Sequence[str], maskings: Sequence[str]) -> tuple[tuple[tuple[str, str], ...], int]:
    """The first shared attributes of a configuration with their maskings, and the number of shared ones."""
    first: list[tuple[str, str]] = []
    for name, masking in zip(names, maskings, strict=True):
        if masking != DROP:
            first.append((name, masking))
        if len(first) == FIRST_MASKINGS:
            break
    return tuple(first), len(maskings) - maskings.count(DROP)


def _masking_rows(entry: EntryContent) -> Iterator[Sequence[str]]:
    """The maskings of each configuration, in the order of the attributes."""
    names = [attribute.name for attribute in entry.attributes]
    if entry.configuration_table is not None:
        return zip(*(entry.configuration_table.maskings[name] for name in names), strict=True)
    return ([row.maskings.get(name, DROP) for name in names] for row in entry.configurations or ())
