"""The verdict on the counts of an entry. Pure but slow, so it runs in a child process."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np

from aegis_advisor.evidence import DROP, pair_counts
from aegis_advisor.verdict import PublishedCounts, Reason, Releases, judge
from app.entries.model.documents import Document, attach, decompress, evidence_of, pairs_in
from app.entries.model.entries import Content, CountTable
from app.entries.model.verdicts import StoredVerdict
from app.platform.errors import pointer

UNDECIDED = StoredVerdict(passed=False, findings=({"reason": Reason.UNDECIDED.value, "pointer": "", "cells": 0},))
"""The verdict on a version whose job failed for good."""


@dataclass(frozen=True, slots=True)
class VerdictInput:
    """A version as stored, with all its counts."""

    schema: bytes
    configurations: bytes
    count_tables: tuple[CountTable, ...]

    @classmethod
    def of(cls, content: Content) -> Self:
        """The input for the verdict on a version that is not stored yet."""
        return cls(content.schema, content.configurations, content.count_tables)


def compute_verdict(given: VerdictInput, seconds: float) -> StoredVerdict:
    """The verdict on a version; after so many seconds, what is left is undecided."""
    end = time.monotonic() + seconds
    document = attach(decompress(given.schema), given.count_tables)
    published = _published(document, decompress(given.configurations))
    verdict = judge(published, stop=lambda: time.monotonic() >= end)
    findings = (
        {"reason": each.reason.value, "pointer": pointer(*each.path), "cells": each.cells} for each in verdict.findings
    )
    return StoredVerdict(verdict.passed, tuple(findings), verdict.few)


def _published(document: Document, configurations: Document) -> PublishedCounts:
    place = {attribute["name"]: index for index, attribute in enumerate(document["attributes"])}
    pairs = {
        number: pair_counts(pair, (place[pair["attributes"][0]], place[pair["attributes"][1]]))
        for number, pair in enumerate(pairs_in(document))
        if pair.get("joint") is not None
    }
    releases = _releases(place, configurations, document.get("quasi_identifiers"))
    return PublishedCounts(evidence_of(document), pairs, releases)


def _releases(attributes: Mapping[str, int], configurations: Document, known: Sequence[str] | None) -> Releases:
    """The releases of an entry; a generated one shares no attribute of the table."""
    table, rows = configurations.get("configuration_table"), configurations.get("configurations") or ()
    columns: Mapping[str, Sequence[str]] = (
        {name: [row.get("maskings", {}).get(name, DROP) for row in rows] for name in attributes}
        if table is None
        else table["maskings"]
    )
    options = [tuple(dict.fromkeys(columns[name])) for name in attributes]
    codes = [_codes(columns[name], own) for name, own in zip(attributes, options, strict=True)]
    suppressed = [row.get("suppressed") for row in rows] or [None] * len(codes[0])
    cells = [row.get("suppressed_cells") for row in rows]
    places = None if known is None else frozenset(attributes[each] for each in known)
    generated = frozenset(place for place, row in enumerate(rows) if "maskings" not in row)
    numbers = _privacy(configurations), table is not None
    return Releases(np.stack(codes, axis=1), options, suppressed, cells, *numbers, places, generated)


def _privacy(configurations: Document) -> Mapping[str, Sequence[float | None]]:
    """What configurations vouch for, by criterion; a generated one is not measured in the table."""
    if (table := configurations.get("configuration_table")) is not None:
        return table.get("privacy") or {}
    rows = configurations.get("configurations") or ()
    vouched = [(row.get("privacy") if "maskings" in row else None) or {} for row in rows]
    return {name: [each.get(name) for each in vouched] for name in dict.fromkeys(chain.from_iterable(vouched))}


def _codes(maskings: Sequence[str], options: Sequence[str]) -> np.ndarray[Any, np.dtype[np.int64]]:
    number = {option: code for code, option in enumerate(options)}
    return np.fromiter((number[each] for each in maskings), dtype=np.int64)
