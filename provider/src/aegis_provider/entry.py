"""The entry: as a document, as a file that a person can read before publishing it, and as evidence for the advisor.

It warns about disclosures that its provider may not expect.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from pydantic import TypeAdapter, ValidationError

from aegis_advisor.evidence import AttributeEvidence, EntryContent, PairCounts, evidence_of, pairs_of
from aegis_advisor.evidence.checks import find_faults, find_pair_faults
from aegis_provider.counting.counts import Counts
from aegis_provider.errors import EntryError, PlanError
from aegis_provider.files import written_whole
from aegis_sdk.wire import Attribute, Configuration, EntryDocument, faults_of, pointer_of, publishable

if TYPE_CHECKING:  # slow to load
    from aegis_advisor.verdict import PublishedCounts

_WIDTH = 110
_SHORTEST = 3
"""Minimum characters per item, including a comma and a blank, or the brackets."""

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")

# One encoder for all values, because `json.dumps` makes a new one for each.
_encode = json.JSONEncoder(ensure_ascii=False).encode


def refuse_name(name: str) -> None:
    """Refuse an invalid name of an entry.

    Raises:
        PlanError: The name is invalid.
    """
    if not _NAME.fullmatch(name):
        raise PlanError(
            f"the name {name!r} must be 1 to 100 characters of a-z 0-9 - _ . and begin with a letter or digit"
        )


def entry_of(document: dict[str, Any], source: str) -> EntryDocument:
    """Return the entry in a document, checked as the service checks it.

    Args:
        document: The entry as JSON values.
        source: The name of the entry's plan, for error messages.

    Raises:
        PlanError: The document breaks a rule of the contract.
    """
    try:
        return publishable(document)
    except ValidationError as error:
        fault = faults_of(error)[0]
        raise PlanError(f"{source}: {fault.pointer or 'the entry'}: {fault.detail}") from error


def document_of(entry: EntryDocument) -> dict[str, Any]:
    """Return the entry as JSON values, without fields that have their defaults."""
    document = entry.model_dump(exclude_unset=True, exclude_none=True)
    for configuration in document["configurations"]:
        for privacy in (configuration.get("privacy", {}), *configuration.get("privacy_by_label", {}).values()):
            privacy.update({name: int(number) for name, number in privacy.items() if number.is_integer()})
    return document


def write_entry(entry: EntryDocument, path: Path, beside: Callable[[], None] = lambda: None) -> None:
    """Write the entry as JSON, whole or not at all.

    Args:
        path: The file to write.
        beside: Writes accompanying files once the entry can be written; if it fails, no entry appears.

    Raises:
        OutputError: The entry cannot be written.
    """
    with written_whole(path) as part:
        part.write_text(render(document_of(entry)) + "\n", encoding="utf-8")
        beside()


def render(value: Any, indent: str = "") -> str:  # noqa: ANN401 - any JSON value
    """Render JSON: one line for a value that fits, a line for each row of a table, filled lines for long lists."""
    if not isinstance(value, dict | list):
        return _encode(value)
    is_table = isinstance(value, list) and any(isinstance(each, list) for each in value)
    if not is_table and _SHORTEST * len(value) <= _WIDTH:
        flat = _encode(value)
        if len(indent) + len(flat) <= _WIDTH:
            return flat
    inner = indent + " "
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n" + ",\n".join(_lines(value, inner)) + f"\n{indent}{closing}"


def _lines(value: dict[str, Any] | list[Any], indent: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield f"{indent}{_encode(key)}: {render(each, indent)}"
    elif any(isinstance(each, dict | list) for each in value):
        yield from (indent + render(each, indent) for each in value)
    else:
        yield from (indent + line for line in _filled(value, _WIDTH - len(indent)))


def _filled(values: list[Any], width: int) -> Iterator[str]:
    line = ""
    for text in map(_encode, values):
        if line and len(line) + len(text) + 2 > width:
            yield line
            line = ""
        line = f"{line}, {text}" if line else text
    yield line


@cache
def _content() -> TypeAdapter[EntryContent]:
    """Return what reads contents, which is slow to make."""
    return TypeAdapter(EntryContent)


def content_of(entry: EntryDocument | Mapping[str, Any]) -> EntryContent:
    """Return the content of an entry, or of a document that becomes one."""
    return _content().validate_python(entry.model_dump() if isinstance(entry, EntryDocument) else entry)


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
    from aegis_advisor.verdict import (  # noqa: PLC0415 - slow to load
        PublishedCounts,
        Releases,
        counted_apart,
        label_counts,
    )

    content = content_of(entry)
    pairs, rows = counted_apart(content, consistent_pairs(content, evidence)), content.rows_per_person or 1
    return PublishedCounts(evidence, pairs, Releases.of(content), rows, label_counts(content))


def masked_places(entry: EntryDocument) -> list[int]:
    """Return the places of the masked configurations among all of the entry."""
    if entry.configuration_table is not None:
        return list(range(len(entry.configuration_table.ids)))
    return [place for place, each in enumerate(entry.configurations or ()) if isinstance(each, Configuration)]


SMALL: Final = 5
"""Statistical offices commonly treat counts below 5 as small."""


def small_below(rows: int) -> int:
    """Return the fewest records that are not small, with at most `rows` of a person: one more than `SMALL` - 1 have."""
    return (SMALL - 1) * rows + 1


@dataclass(frozen=True)
class SmallCounts:
    """The number of an entry's small counts (`small_below`), and the smallest of them; 0 without any."""

    counts: int
    smallest: int


@dataclass(frozen=True)
class Exposure:
    """Disclosures in an entry that its provider may not expect.

    Attributes:
        nearly_unique: Attributes with two records per value or fewer. Their domains alone disclose much.
        below_k: Number of masked values, and pairs of them, with counts below `k`.
        small: The small counts of all tables.
    """

    nearly_unique: tuple[str, ...]
    below_k: int
    small: SmallCounts

    @classmethod
    def of(cls, entry: EntryDocument) -> Exposure:
        """Return the exposure of this entry; rounded and noisy counts disclose neither `k` nor small counts."""
        control = entry.disclosure_control
        if control is not None and (control.rounded_to or control.epsilon):
            return cls(nearly_unique(entry), 0, SmallCounts(0, 0))
        return cls(nearly_unique(entry), counted_below_k(entry), small_counts(entry))

    def in_words(self) -> Iterator[str]:
        """Yield a sentence per disclosure, except small counts."""
        for attribute in self.nearly_unique:
            yield f"{attribute!r} is nearly unique, and the entry lists each of its values"
        if self.below_k:
            yield (
                f"{self.below_k} masked values, or pairs of them, are published although they have fewer records than "
                "the k of a release that suppresses them"
            )


def nearly_unique(entry: EntryDocument) -> tuple[str, ...]:
    """Return the attributes with two people per value or fewer: records, unless the entry counts people."""
    least = max(entry.people or entry.records, 20)
    return tuple(attribute.name for attribute in entry.attributes if 2 * len(attribute.domain) > least)


def counted_below_k(entry: EntryDocument) -> int:
    """Count the masked values, and pairs of them, with counts below `k`.

    Releases that reach `k` by leaving out records do not show them, but the entry counts the whole table.
    """
    releases = [
        configuration
        for configuration in entry.masked
        if configuration.suppressed and "k" in (configuration.privacy or {})
    ]
    if not releases:
        return 0
    k = min((release.privacy or {})["k"] for release in releases) * (entry.rows_per_person or 1)
    shown = {item for release in releases for item in release.maskings.items()}
    return sum(0 < count < k for count in _records_of(entry, shown))


def small_counts(entry: EntryDocument) -> SmallCounts:
    """Count the small counts of all tables: histograms, unmasked and masked joint counts, and pair counts."""
    below = small_below(entry.rows_per_person or 1)
    small = [counts[(counts > 0) & (counts < below)] for counts in tables_in(entry)]
    return SmallCounts(sum(map(len, small)), min((int(each.min()) for each in small if len(each)), default=0))


def _records_of(entry: EntryDocument, shown: set[tuple[str, str]]) -> Iterator[int]:
    """Yield the number of records of each shown masked value and each pair of them."""
    for attribute in entry.attributes:
        tables = [(attribute.joint, "identity"), *((each.joint, each.id) for each in attribute.maskings)]
        for joint, masking in tables:
            if joint is not None and (attribute.name, masking) in shown:
                yield from (sum(row) for row in joint)
    for pair in entry.pairs:
        if pair.joint is not None and shown.issuperset(zip(pair.attributes, pair.maskings, strict=True)):
            yield from chain.from_iterable(pair.joint)


def tables_in(entry: EntryDocument) -> Iterator[Counts]:
    """Yield the counts of every table, flattened."""
    tables: list[list[int] | list[list[int]] | None] = [entry.label.histogram]
    for attribute in entry.attributes:
        tables += [attribute.histogram, attribute.joint, *(masking.joint for masking in attribute.maskings)]
    tables += [pair.joint for pair in entry.pairs]
    yield from (np.array(table, dtype=np.int64).ravel() for table in tables if table is not None)
