"""Exact copies: released records that equal a real one."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from aegis_provider.check import Interval
from aegis_provider.records import Records
from aegis_provider.synth.attacks.case import Case
from aegis_provider.synth.attacks.outcome import CONFIDENCE, Outcome, wilson
from aegis_provider.synth.released import Released

NAME: Final = "exact copies"

_FREQUENT: Final = 20
"""This many equal records of a table also occur in releases by chance."""


def exact_copies(case: Case) -> Iterator[Outcome]:
    """Count the released records that equal a real one in every released column.

    A record with a masked value that may stand for several values equals none. The baseline is the same share for the
    release with shuffled columns, due to value frequencies alone. It is compared with the share that equals a held-out
    record, scaled to the number of distinct seen records: a generator that has learnt the distribution but no record
    copies both equally.
    """
    seen, held_out = (_Distinct.of(each, case) for each in (case.seen, case.held_out))
    of_seen, of_held_out = seen.copies(case.release), held_out.copies(case.release)
    shuffled = case.release.shuffled(case.rng(NAME))
    copies, by_chance = int(of_seen.sum()), int(seen.copies(shuffled).sum())
    released, size = len(case.release), len(of_seen)
    yield Outcome(
        NAME,
        "all released columns",
        released,
        "released records",
        seen.share(of_seen, size, released),
        wilson(by_chance, released),
        held_out.share(of_held_out, size, released) if len(of_held_out) else None,
        f"{copies:,} of {released:,} released records equal a real one that the release was made of; with "
        f"each column in a random order, {by_chance:,} would.",
        {
            "released": released,
            "copies": copies,
            "by_chance": by_chance,
            "held_out_records": len(of_held_out),
            "held_out_found": int(np.count_nonzero(of_held_out)),
            "held_out_by_chance": int(np.count_nonzero(held_out.copies(shuffled))),
            **_pairs(case),
        },
    )


def _pairs(case: Case) -> dict[str, float]:
    """Return the number of pairs of equal released and held-out records, and its maximum by chance.
    If the release never saw them, n released and m held-out records are independent draws, with probabilities p and q
    of each kind of record: n m sum(p q) pairs are equal by chance, at most n m sqrt(sum(p^2) sum(q^2)) by Cauchy and
    Schwarz. The frequencies of equal pairs within the release, and within the table, estimate these sums.
    """
    names = case.release.names
    held_out = _keys(case.held_out.places(names))
    written = Counter(_keys(np.stack([column.codes for column in case.release.columns], axis=1)))
    released = Counter(_keys(np.stack([column.only[column.codes] for column in case.release.columns], axis=1)))
    table = Counter([*_keys(case.seen.places(names)), *held_out])
    by_chance = np.sqrt(_chance_of_equal(written) * _chance_of_equal(table)) * released.total() * len(held_out)
    matched = Counter({row: min(number, table[row]) for row, number in released.items() if table[row] < _FREQUENT})
    return {
        "held_out_pairs": sum(released[row] for row in held_out),
        "held_out_pairs_by_chance": float(by_chance),
        "matched": matched.total(),
        "matched_held_out": sum(matched[row] for row in set(held_out)),
        "frequent": sum(number for row, number in released.items() if table[row] >= _FREQUENT),
    }


def _keys(rows: NDArray[np.intp]) -> list[bytes]:
    return [row.tobytes() for row in rows]


def _chance_of_equal(counts: Counter[bytes]) -> float:
    """Return an upper bound on the probability that two records are equal: the estimate plus two standard errors."""
    records = counts.total()
    pairs = sum(count * (count - 1) for count in counts.values()) / 2
    return min(1.0, float(pairs + 1 + 2 * np.sqrt(pairs + 1)) / max(1, records * (records - 1) / 2))


@dataclass(frozen=True, eq=False)
class _Distinct:
    """Distinct records of a side.

    Attributes:
        rows: (distinct records, released columns) The places of their values.
        persons: (distinct records,) The person of each.
    """

    rows: NDArray[np.intp]
    persons: NDArray[np.intp]

    @classmethod
    def of(cls, records: Records, case: Case) -> Self:
        first, _ = records.distinct(case.release.names)
        distinct = records.take(first)
        return cls(distinct.places(case.release.names), distinct.distinct(case.persons_by)[1])

    def copies(self, release: Released) -> NDArray[np.intp]:
        """(distinct records,) The number of released records equal to each."""
        rows = np.stack([column.only[column.codes] for column in release.columns], axis=1)
        counts = Counter(row.tobytes() for row in rows)
        return np.array([counts[row.tobytes()] for row in self.rows], dtype=np.intp)

    def share(self, copies: NDArray[np.intp], distinct: int, released: int) -> Interval:
        """Return the share of released records that equal one of `distinct` records, extrapolated from these.
        The interval is that of a sum over persons, who were assigned to the sides at random with all their records.
        """
        scale = distinct / (len(copies) * released)
        by_person = np.bincount(self.persons, copies)
        half = CONFIDENCE * float(by_person.std()) * np.sqrt(len(by_person)) * scale
        value = float(copies.sum()) * scale
        return Interval(min(1.0, value), max(0.0, value - half), min(1.0, value + half))
