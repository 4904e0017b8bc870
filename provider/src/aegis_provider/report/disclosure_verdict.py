"""The verdict in the report on what counts give away: its first line, and the places that fail."""

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
    """Say whether the entry passes, and if it does not, the command that mends it.

    Args:
        disclosure: The results.
        summarize: The command that made the entry, without options of its controls.
    """
    judged = disclosure.judged
    if judged is None:
        return in_a_line(None, f"{disclosure.entry} was examined in part; leave out --attribute for a verdict")
    return judged_line(disclosure.entry, judged, summarize)


def judged_line(name: str, judged: Judged, summarize: str) -> str:
    """Say whether an entry with this name passes, and if it does not, the command that mends it."""
    return verdict_in_words(name, judged.verdict, f"{summarize} {judged.options}".rstrip())


def failures(disclosure: Disclosure) -> Iterator[Part]:
    """Yield what fails, the first places first."""
    judged = disclosure.judged
    if judged is None or judged.verdict.passed:
        return
    rows = [
        (shown(place, _WORDS), each.cells, _REASONS.get(each.reason, each.reason))
        for place, each in zip(judged.places, judged.verdict.findings, strict=True)
    ]
    yield TextTable(("place", "cells", "why"), rows, "cells of 1 to 4 records, or that may be", most=_PLACES)
