"""The verdict in the report of `aegis disclose`: its first line, and the failures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aegis_provider.report.model import Part, TextTable
from aegis_sdk.reading import shown, verdict_in_words
from aegis_sdk.reading import verdict_line as in_a_line

if TYPE_CHECKING:  # slow to load
    from aegis_provider.disclosure import Disclosure, Judged

_WORDS = 60
_PLACES = 10
_REASONS = {
    "shown": "it shows small counts",
    "certain": "small counts follow from several tables",
    "likely": "small counts have a probability above 0.9",
    "undecided": "not decided",
}


def verdict_line(disclosure: Disclosure, summarize: str) -> str:
    """Return the line with the verdict and, on failure, the command that fixes it.

    Args:
        disclosure: The results.
        summarize: The command that made the entry, without options of its controls.
    """
    judged = disclosure.judged
    if judged is None:
        return in_a_line(None, f"{disclosure.entry} was examined in part; leave out --attribute for a verdict")
    return judged_line(disclosure.entry, judged, summarize)


def judged_line(name: str, judged: Judged, summarize: str) -> str:
    """Return the verdict on an entry with this name and, on failure, the command that fixes it."""
    return verdict_in_words(name, judged.verdict, f"{summarize} {judged.options}".rstrip())


def failures(disclosure: Disclosure) -> Iterator[Part]:
    """Yield the failures, in order of their places."""
    judged = disclosure.judged
    if judged is None or judged.verdict.passed:
        return
    rows = [
        (shown(place, _WORDS), each.cells, _REASONS.get(each.reason, each.reason))
        for place, each in zip(judged.places, judged.verdict.findings, strict=True)
    ]
    yield TextTable(("place", "cells", "why"), rows, "cells of 1 to 4 records, or that may be", most=_PLACES)
