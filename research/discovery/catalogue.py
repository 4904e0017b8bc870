"""Offers beside each other: what an attribute says about a label is a property of the task, not of a table.

Wrong labels weaken all associations of a table, and chance strengthens those that a small table's maskings were chosen
by. Neither shows in one entry alone. Both show beside other entries with the same label and some of the same
attributes.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.evidence import EntryContent, evidence_of
from research.discovery.tasks import COPY

USUAL: Final = 0.8
"""The quantile of an attribute's strengths, weighted by records, that stands for it: above noise, below chance."""

OWN: Final = 3.0
"""Over the records, what both sides of the ratio are increased by: small tables say little of their own."""

LEAST: Final = 0.2
MOST: Final = 3.0
ERRORS: Final = 2.0


def strengths(content: EntryContent) -> Mapping[str, float]:
    """By attribute, `phi^2` of its finest published counts and the label, less chance, by degree of the label."""
    found = {}
    for one in evidence_of(content):
        tables = [each.joint for each in one.maskings if each.joint is not None]
        tables += [] if one.joint is None else [one.joint]
        if tables:
            found[one.name.removesuffix(f" {COPY}")] = phi_square(max(tables, key=len).astype(np.float64))
    return found


def phi_square(counts: FloatArray) -> float:
    """Pearson's chi-square by record less its expectation by chance, at least 0, over the label's degrees."""
    table = np.maximum(counts, 0)[np.ix_(counts.sum(axis=1) > 0, counts.sum(axis=0) > 0)]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(float(table.sum()), 1.0)
    rows, columns = table.shape
    if min(rows, columns) < 2:
        return 0.0
    square = float((np.square(table - expected) / expected).sum()) - (rows - 1) * (columns - 1)
    return max(square / float(table.sum()), 0.0) / (columns - 1)


def usual(every: Sequence[Mapping[str, float]], records: FloatArray) -> Mapping[str, float]:
    """By attribute, its usual strength among all offers that have it."""
    return {name: _quantile(name, every, records) for name in {name for one in every for name in one}}


def _quantile(name: str, every: Sequence[Mapping[str, float]], records: FloatArray) -> float:
    places = sorted((place for place, one in enumerate(every) if name in one), key=lambda place: every[place][name])
    weights = np.cumsum(records[places])
    return every[places[int(np.searchsorted(weights, USUAL * weights[-1]))]][name]


def lower_ends(every: Sequence[Mapping[str, float]], shares: FloatArray, records: FloatArray) -> FloatArray:
    """(offers,) the share explained less two standard errors, as if each attribute said what it usually says.

    Args:
        every: by offer, the strength of each attribute.
        shares: (offers,) the share of the label's variance that the best configuration explains.
        records: (offers,)
    """
    known = usual(every, records)
    own = np.array([sum(one.values()) for one in every]) + OWN / records
    others = np.array([sum(known[name] for name in one) for one in every]) + OWN / records
    errors = 2 * np.sqrt(np.maximum(shares, 0.5 / records)) * (1 - shares) / np.sqrt(records)
    return np.asarray((shares - ERRORS * errors) / np.clip(own / others, LEAST, MOST))
