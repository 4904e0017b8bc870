"""What child processes compute of a validated entry: its form for storage, its digest, and the verdict on its counts.

Pure but slow.
"""

import hashlib
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import orjson
import rfc8785

from aegis_advisor.evidence import AttributeEvidence, evidence_of, pairs_of
from aegis_advisor.verdict import PublishedCounts, Reason, Releases, counted_apart, judge, label_counts
from app.entries.model.configurations import pack_configurations
from app.entries.model.documents import Document, compress, parts_of, stored_entry
from app.entries.model.entries import (
    ALONE,
    COLUMNS,
    RECORDS,
    AttributeOutline,
    Content,
    CountKind,
    CountTable,
    MaskingOutline,
    Publication,
    StoredVerdict,
)
from app.entries.model.published import PublishedEntry
from app.entries.service.admission import small_counts
from app.entries.service.checks import (
    NO_POLICY,
    Policy,
    declaration_faults,
    policy_faults,
    promise_faults,
    sum_faults,
)
from app.platform.database.arrays import pack
from app.platform.digests import terms_digest
from app.platform.errors import InvalidDocumentError, pointer


def publication_of(entry: PublishedEntry, policy: Policy = NO_POLICY) -> Publication:
    """The publication of an entry whose structure has been validated.

    Small counts are located but not refused here, since that depends on the version to replace.

    Raises:
        InvalidDocumentError: the entry is inconsistent, contradicts its declarations or breaks the policy; the error
            has the places of all faults.
    """
    if faults := sum_faults(entry) or declaration_faults(entry) or promise_faults(entry):
        raise InvalidDocumentError("The entry contradicts itself or exceeds a limit.", faults)
    if faults := policy_faults(entry, policy):
        raise InvalidDocumentError("The entry lacks disclosure control that this service requires.", faults)
    return Publication(entry.name, entry.visibility, _content_of(entry), small_counts(entry))


def _content_of(entry: PublishedEntry) -> Content:
    schema, configurations = parts_of(entry.document)
    privacy = {**entry.configurations.privacy, ALONE: entry.configurations.alone}
    vouched = {name: [number for number in numbers if number is not None] for name, numbers in privacy.items()}
    vouched |= {RECORDS: [entry.document["records"]], COLUMNS: [len(entry.evidence)]}
    outline = tuple(map(_outline, entry.evidence))
    return Content(
        digest=digest(entry.document),
        title=entry.title,
        description=entry.description,
        keywords=entry.keywords,
        license=entry.license,
        terms=None if entry.terms is None else terms_digest(entry.license, b"".join(canonical_parts(entry.terms))),
        label=entry.label,
        outline=outline,
        schema=compress(schema),
        configurations=compress(configurations),
        configuration_table=pack_configurations(entry.configurations, outline),
        count_tables=tuple(packed_tables(entry)),
        open_answers=entry.control.open_answers,
        people=entry.people,
        rows_per_person=entry.rows_per_person,
        labels=entry.labels,
        concepts=entry.concepts,
        offered={name: (min(numbers), max(numbers)) for name, numbers in vouched.items() if numbers},
    )


def packed_tables(entry: PublishedEntry) -> Iterator[CountTable]:
    """The tables of an entry as they are stored, with all pair counts in one table."""
    for table in entry.tables():
        if table.pair is None:
            yield CountTable(table.kind, table.attribute, table.masking, pack(table.counts))
    counted = {table.pair: table.counts for table in entry.tables() if table.pair is not None}
    if counted:
        joined = np.concatenate([counts.ravel() for _, counts in sorted(counted.items())])
        yield CountTable(CountKind.PAIRS, None, None, pack(joined))


def _outline(evidence: AttributeEvidence) -> AttributeOutline:
    flags = evidence.flags
    maskings = tuple(
        MaskingOutline(masking.id, **asdict(known))
        for masking, known in zip(evidence.maskings, flags.maskings, strict=True)
    )
    cells = evidence.values * evidence.labels
    return AttributeOutline(evidence.name, cells, flags.values, flags.labels, flags.has_joint, maskings)


#: Types whose values or items orjson may write differently from RFC 8785.
_DIFFERENT = frozenset({dict, list, float})


def digest(document: Document) -> str:
    """The digest of a document whose counts are lists or arrays: `sha256:` and 64 hexadecimal digits."""
    sha256 = hashlib.sha256()
    for part in canonical_parts({name: value for name, value in document.items() if name != "visibility"}):
        sha256.update(part)
    return f"sha256:{sha256.hexdigest()}"


def canonical_parts(value: Any) -> Iterator[bytes]:  # noqa: ANN401 -- any JSON value
    """`value` as RFC 8785 JSON, in parts, since joining them at every level would copy megabytes several times.

    For integers, texts, and lists or arrays of them, orjson conforms to RFC 8785 and is many times faster than Python.
    The order of members and the format of floats differ, so this function handles them.
    """
    match value:
        case dict():
            yield b"{"
            for index, name in enumerate(sorted(value, key=lambda name: name.encode("utf-16-be"))):
                yield b"%b%b:" % (b"," if index else b"", orjson.dumps(name))
                yield from canonical_parts(value[name])
            yield b"}"
        case list() if not _DIFFERENT.isdisjoint(map(type, value)):
            yield b"["
            for index, item in enumerate(value):
                yield b"," if index else b""
                yield from canonical_parts(item)
            yield b"]"
        case float():
            yield rfc8785.dumps(value)
        case np.ndarray():
            yield orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
        case _:
            yield orjson.dumps(value)


UNDECIDED = StoredVerdict(passed=False, findings=({"reason": Reason.UNDECIDED.value, "pointer": "", "cells": 0},))
"""The verdict on a version whose job failed permanently."""


@dataclass(frozen=True, slots=True)
class VerdictInput:
    """A version as stored, with all its counts."""

    schema: bytes
    configurations: bytes
    count_tables: tuple[CountTable, ...]


def compute_verdict(given: VerdictInput, seconds: float) -> StoredVerdict:
    """The verdict on a version; whatever is left after `seconds` is undecided."""
    end = time.monotonic() + seconds
    entry = stored_entry(given.schema, given.count_tables, given.configurations)
    rows = entry.rows_per_person or 1
    pairs = counted_apart(entry, pairs_of(entry))
    published = PublishedCounts(evidence_of(entry), pairs, Releases.of(entry), rows, label_counts(entry))
    verdict = judge(published, stop=lambda: time.monotonic() >= end)
    findings = (
        {"reason": finding.reason.value, "pointer": pointer(*finding.path), "cells": finding.cells}
        for finding in verdict.findings
    )
    return StoredVerdict(verdict.passed, tuple(findings), verdict.few, entry.rows_per_person)
