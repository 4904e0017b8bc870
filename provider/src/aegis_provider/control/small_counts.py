"""How many small counts an entry publishes, for whoever did not ask for a minimum."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from aegis_provider.counting.counts import Counts

SMALL: Final = 5
"""Statistical offices commonly take counts below 5 for small."""


@dataclass(frozen=True)
class SmallCounts:
    """How many counts of an entry are below `SMALL` and not 0, and the smallest of them; 0 if there is none."""

    counts: int
    smallest: int


def small_counts(entry: Mapping[str, Any]) -> SmallCounts:
    """Those of all tables: histograms, joint counts, masked or not, and pair counts."""
    found = [counts[(counts > 0) & (counts < SMALL)] for counts in _tables(entry)]
    return SmallCounts(sum(map(len, found)), min((int(each.min()) for each in found if len(each)), default=0))


def _tables(entry: Mapping[str, Any]) -> Iterator[Counts]:
    holders = [entry["label"], *entry["attributes"], *entry.get("pairs", ())]
    holders += [masking for attribute in entry["attributes"] for masking in attribute["maskings"]]
    for holder in holders:
        yield from (np.array(holder[field], dtype=np.int64) for field in ("histogram", "joint") if field in holder)
