"""Verdicts on the counts of entries. Pure but slow, so this runs in a child process."""

import time
from dataclasses import dataclass
from typing import Self

from aegis_advisor.evidence import evidence_of, pairs_of
from aegis_advisor.verdict import PublishedCounts, Reason, Releases, judge
from app.entries.model.documents import stored_entry
from app.entries.model.entries import Content, CountTable
from app.entries.model.verdicts import StoredVerdict
from app.platform.errors import pointer

UNDECIDED = StoredVerdict(passed=False, findings=({"reason": Reason.UNDECIDED.value, "pointer": "", "cells": 0},))
"""The verdict on a version whose job failed permanently."""


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
    """The verdict on a version; whatever is left after `seconds` is undecided."""
    end = time.monotonic() + seconds
    entry = stored_entry(given.schema, given.count_tables, given.configurations)
    published = PublishedCounts(evidence_of(entry), pairs_of(entry), Releases.of(entry))
    verdict = judge(published, stop=lambda: time.monotonic() >= end)
    findings = (
        {"reason": finding.reason.value, "pointer": pointer(*finding.path), "cells": finding.cells}
        for finding in verdict.findings
    )
    return StoredVerdict(verdict.passed, tuple(findings), verdict.few)
