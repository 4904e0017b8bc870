"""Exact copies: released records that equal a real one."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from aegis_provider.attacks.case import Case
from aegis_provider.attacks.outcome import Outcome, exactly, wilson
from aegis_provider.attacks.released import Released
from aegis_provider.records import Records

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
    copies = _copies(case.release, seen)
    shuffled = _copies(case.release.shuffled(case.rng(NAME)), seen)
    elsewhere = None
    if held_out:
        scaled = min(1.0, _copies(case.release, held_out) / len(case.release) * len(seen) / len(held_out))
        elsewhere = wilson(scaled * len(case.release), len(case.release))
    yield Outcome(
        NAME,
        "all released columns",
        len(case.release),
        "released records",
        exactly(copies / len(case.release)),
        wilson(shuffled, len(case.release)),
        elsewhere,
        f"{copies:,} of {len(case.release):,} released records equal a real one; {shuffled:,} would with each column in "
        "a random order.",
        {"copies": copies, "by_chance": shuffled},
    )


def _distinct(records: Records, names: tuple[str, ...]) -> set[bytes]:
    rows = np.stack([records.column(name).places for name in names], axis=1)
    return {row.tobytes() for row in rows}


def _copies(release: Released, records: set[bytes]) -> int:
    rows = np.stack([each.only[each.codes] for each in release.columns], axis=1)
    return sum(row.tobytes() in records for row in rows)
