"""An entry cut into the parts that pages show, so that a page reads only its own, however large the entry is."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeVar

import orjson

from aegis_sdk.reading import Alone, as_sentence, declares_joint, in_words, measured_of, share_alone, shown
from aegis_sdk.reading.function_words import as_given
from aegis_sdk.wire import DROP, PRIVACY_CRITERIA
from app.entries.api.mapping import entry_document
from app.entries.model.documents import Document, compress, pairs_in
from app.entries.pages.views.entry_parts import (
    FIRST_CLASSES,
    FIRST_MASKINGS,
    FIRST_VALUES,
    About,
    AttributeRow,
    ConfigurationRow,
    MaskedDomain,
    MaskingRow,
    Vouched,
    WholeAttribute,
)
from app.pages.markdown import html_of
from app.pages.slices import PER_PAGE

#: The guarantees of k that pages count.
SOME_K: Final = (2, 5, 10, 20)

_LONGEST_WORDS: Final = 120

#: What rules of discretization do.
_RULES: Final = {
    "merged": "values merged",
    "edges": "intervals with chosen edges",
    "equal_width": "intervals of equal width",
    "equal_frequency": "intervals of about equal numbers of records",
    "freedman_diaconis": "intervals by the rule of Freedman and Diaconis",
}

#: How many maskings a part of an index has, unless a single configuration has more.
_MASKINGS: Final = 5_000

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class EntryIndex:
    """The parts of an entry, each as compressed JSON.

    Attributes:
        about: what is not a long list.
        names: the names of the attributes, in order.
        attributes: rows of attributes, by page.
        wholes: the whole of each attribute.
        configurations: rows of configurations, by page.
        maskings: all maskings of some configurations each (`maskings_per_part`), in the order of the attributes; empty
            if the rows show them all.
    """

    about: bytes
    names: bytes
    attributes: tuple[bytes, ...]
    wholes: tuple[bytes, ...]
    configurations: tuple[bytes, ...]
    maskings: tuple[bytes, ...]

    @property
    def size(self) -> int:
        """How many bytes it takes; each part takes some besides its own."""
        parts = (self.about, self.names, *self.attributes, *self.wholes, *self.configurations, *self.maskings)
        return sum(64 + len(part) for part in parts)


def entry_index(schema: bytes, configurations: bytes, in_full: bool) -> EntryIndex:  # noqa: FBT001 -- by position
    """The index of an entry as its owners (`in_full`) or others may read it. Slow for large entries."""
    document = entry_document(schema, configurations, in_full=in_full)
    attributes, names = document["attributes"], [each["name"] for each in document["attributes"]]
    rows = [_attribute(place, each) for place, each in enumerate(attributes)]
    listed = list(_configurations(document, names))
    is_cut = any(row.shared > len(row.maskings) for row in listed)
    return EntryIndex(
        about=compress(_about(document, listed, is_cut=is_cut)),
        names=compress(names),
        attributes=tuple(map(compress, _pages(rows))),
        wholes=tuple(compress(_whole(row, each)) for row, each in zip(rows, attributes, strict=True)),
        configurations=tuple(map(compress, _pages(listed))),
        maskings=tuple(_masking_parts(document, names)) if is_cut else (),
    )


def maskings_per_part(attributes: int) -> int:
    """Of how many configurations a part of an index has the maskings: few of an entry with many attributes."""
    return max(_MASKINGS // attributes, 1)


def _masking_parts(document: Document, names: Sequence[str]) -> Iterator[bytes]:
    rows, size = iter(_masking_rows(document, names)), maskings_per_part(len(names))
    while part := list(islice(rows, size)):
        yield compress(part)


def _pages(rows: Sequence[Part]) -> Iterator[Sequence[Part]]:
    return (rows[start : start + PER_PAGE] for start in range(0, len(rows), PER_PAGE))


def _about(document: Document, configurations: Sequence[ConfigurationRow], *, is_cut: bool) -> About:
    label, terms, holdout = document["label"], document.get("terms"), document.get("holdout")
    vouched = [row.privacy for row in configurations]
    of_k, alone = [privacy["k"] for privacy in vouched if "k" in privacy], Alone.of(document)
    return About(
        description=html_of(document.get("description", "")),
        records=document["records"],
        classes=tuple(label["domain"][:FIRST_CLASSES]),
        labels=len(label["domain"]),
        control={name: value for name, value in (document.get("disclosure_control") or {}).items() if value},
        terms="" if terms is None else orjson.dumps(terms, option=orjson.OPT_INDENT_2).decode(),
        pairs=len(pairs_in(document)),
        holdout=None if holdout is None else holdout["records"],
        attributes=len(document["attributes"]),
        configurations=len(configurations),
        generated=sum(1 for row in configurations if row.method),
        measure=_usual(document),
        at_least_k=tuple((least, sum(k >= least for k in of_k)) for least in SOME_K),
        vouched=tuple(_vouched(vouched)),
        has_suppressed=any(row.suppressed is not None or row.suppressed_cells is not None for row in configurations),
        has_measured=any(row.measured for row in configurations),
        alone=as_sentence(alone.line(offered=True)),
        is_unique=alone.is_much(offered=True),
        is_cut=is_cut,
    )


def _usual(document: Document) -> str:
    """The measure that lost least in the evaluation, of those that the entry has the counts or the figures for."""
    return "joint" if document.get("pairs") or declares_joint(document) else "mutual_information"


def _vouched(rows: Sequence[dict[str, float]]) -> Iterator[Vouched]:
    for name in PRIVACY_CRITERIA:
        numbers = [row[name] for row in rows if name in row]
        if numbers:
            yield Vouched(name, len(numbers), min(numbers), max(numbers))


def _attribute(place: int, attribute: Document) -> AttributeRow:
    rule = attribute.get("discretization")
    return AttributeRow(
        place=place,
        name=attribute["name"],
        type=attribute["type"],
        values=len(attribute["domain"]),
        first=tuple(attribute["domain"][:FIRST_VALUES]),
        rule="" if rule is None else _rule(rule["rule"], rule.get("parameters") or {}),
        maskings=tuple(map(_masking, attribute.get("maskings") or ())),
    )


def _rule(name: str, parameters: Document) -> str:
    """What made the values of an attribute discrete."""
    return shown(as_given(_RULES.get(name, f"made discrete by {name}"), parameters), _LONGEST_WORDS)


def _masking(masking: Document) -> MaskingRow:
    function = masking.get("function")
    if function is not None:
        words = _function(function["name"], function.get("parameters") or {})
    else:
        words = "a mapping" if masking.get("mapping") is not None else "not given"
    known = "at random" if masking.get("transition") is not None else ""
    return MaskingRow(masking["id"], words, len(masking["domain"]), known)


def _function(name: str, parameters: Document) -> str:
    return shown(in_words(name, parameters), _LONGEST_WORDS)


def _whole(row: AttributeRow, attribute: Document) -> WholeAttribute:
    maskings = (
        MaskedDomain(each["id"], tuple(each["domain"]), _tuple(each.get("mapping")))
        for each in attribute.get("maskings") or ()
    )
    return WholeAttribute(row, tuple(attribute["domain"]), tuple(maskings))


def _tuple(mapping: Iterable[int] | None) -> tuple[int, ...] | None:
    return None if mapping is None else tuple(mapping)


def _configurations(document: Document, names: Sequence[str]) -> Iterator[ConfigurationRow]:
    table = document.get("configuration_table")
    if table is None:
        listed = document.get("configurations") or ()
        measured = measured_of(document, [each["id"] for each in listed])
        yield from (_listed(place, each, names, measured[place]) for place, each in enumerate(listed))
        return
    privacy = {name: column for name, column in (table.get("privacy") or {}).items() if column}
    for place, (row, maskings) in enumerate(zip(table["ids"], _masking_rows(document, names), strict=True)):
        numbers = ((name, column[place]) for name, column in privacy.items())
        vouched = {name: number for name, number in numbers if number is not None}
        yield ConfigurationRow(place, row, *_shared(names, maskings), vouched)


def _listed(place: int, listed: Document, names: Sequence[str], measured: str | None) -> ConfigurationRow:
    maskings = listed.get("maskings") or {}
    return ConfigurationRow(
        place,
        listed["id"],
        *_shared(names, [maskings.get(name, DROP) for name in names]),
        {name: number for name, number in (listed.get("privacy") or {}).items() if number is not None},
        listed.get("suppressed"),
        listed.get("suppressed_cells"),
        listed["method"] if listed.get("kind") == "generated" else "",
        measured or "",
        "" if listed.get("alone") is None else share_alone(listed["alone"]),
    )


def _shared(names: Sequence[str], maskings: Sequence[str]) -> tuple[tuple[tuple[str, str], ...], int]:
    """The first attributes that a configuration shares, with their maskings, and how many it shares."""
    first: list[tuple[str, str]] = []
    for name, masking in zip(names, maskings, strict=True):
        if masking != DROP:
            first.append((name, masking))
        if len(first) == FIRST_MASKINGS:
            break
    return tuple(first), len(maskings) - maskings.count(DROP)


def _masking_rows(document: Document, names: Sequence[str]) -> Iterator[Sequence[str]]:
    """For each configuration its maskings, in the order of the attributes."""
    table = document.get("configuration_table")
    if table is not None:
        return zip(*(table["maskings"][name] for name in names), strict=True)
    rows = (each.get("maskings") or {} for each in document.get("configurations") or ())
    return ([row.get(name, DROP) for name in names] for row in rows)
