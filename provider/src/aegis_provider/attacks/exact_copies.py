"""Exact copies: released records that equal a real one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from aegis_provider.attacks.case import Case
from aegis_provider.attacks.outcome import CONFIDENCE, Outcome, wilson
from aegis_provider.check import Interval
from aegis_provider.records import Records
from aegis_provider.released import Released

NAME: Final = "exact copies"


def exact_copies(case: Case) -> Iterator[Outcome]:
    """Count the released records that equal a real one in every released column.

    A record with a masked value that may stand for several values equals none. The baseline is the same share of the
    release with its columns shuffled: what the frequencies of the values alone would give. Beside it stands the share
    that equals a held-out record, scaled to as many distinct records as the release saw: a generator that has learnt
    the distribution and no record copies both alike.
    """
    names = case.release.names
    seen, held_out = _distinct(case.seen, names), _distinct(case.held_out, names)
    of_seen = _copies(case.release, seen)
    shuffled = case.release.shuffled(case.rng(NAME))
    copies, by_chance = sum(of_seen), sum(_copies(shuffled, seen))
    of_held_out = _copies(case.release, held_out)
    elsewhere = _share(of_held_out, len(seen), len(case.release)) if held_out else None
    yield Outcome(
        NAME,
        "all released columns",
        len(case.release),
        "released records",
        _share(of_seen, len(seen), len(case.release)),
        wilson(by_chance, len(case.release)),
        elsewhere,
        f"{copies:,} of {len(case.release):,} released records equal a real one that the release was made of; with "
        f"each column in a random order, {by_chance:,} would.",
        {
            "copies": copies,
            "by_chance": by_chance,
            "held_out_records": len(held_out),
            "held_out_found": sum(map(bool, of_held_out)),
            "held_out_by_chance": sum(map(bool, _copies(shuffled, held_out))),
        },
    )


def _distinct(records: Records, names: tuple[str, ...]) -> set[bytes]:
    rows = np.stack([records.column(name).places for name in names], axis=1)
    return {row.tobytes() for row in rows}


def _copies(release: Released, records: set[bytes]) -> list[int]:
    """(distinct records,) How many released records equal each."""
    rows = np.stack([each.only[each.codes] for each in release.columns], axis=1)
    counts = Counter(row.tobytes() for row in rows)
    return [counts[each] for each in records]


def _share(copies: Sequence[int], distinct: int, released: int) -> Interval:
    """Return the share of released records that equal one of so many distinct records, if all are like these.

    The interval is that of a sum over the distinct records, which were assigned to the sides at random.
    """
    scale = distinct / (len(copies) * released)
    value, half = sum(copies) * scale, CONFIDENCE * float(np.std(copies)) * np.sqrt(len(copies)) * scale
    return Interval(min(1.0, value), max(0.0, value - half), min(1.0, value + half))
