"""Was a given record among those that the release was made from? Membership inference, closest records, exact copies.

Both membership attacks rank seen and held-out records. An AUC of 0.5 is chance. Each person counts once, since records
with equal attributes are on the same side and so not independent.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from aegis_provider.check import Interval
from aegis_provider.check.estimates import one_against_rest
from aegis_provider.records import Records, drawn
from aegis_provider.synth.attacks.attack import CONFIDENCE, Case, Outcome, exactly, mean_of, wilson
from aegis_provider.synth.released.released import Released
from aegis_sdk.reading import Share

NEAREST: Final = "membership by nearest record"
DENSITY: Final = "membership by density"

_MOST: Final = 2_000
_FALSE_POSITIVES: Final = 0.01
_TINY: Final = 1e-30
"""Added to densities, which can be 0 far from every record."""


def nearest_membership(case: Case, most: int = _MOST) -> Iterator[Outcome]:
    """Rank persons by their distance to the nearest released record, at most `most` of each side.

    Source: Hayes et al., LOGAN: Membership inference attacks against generative models, PoPETs 2019; Chen et al.,
    GAN-Leaks, CCS 2020, section 5.2.
    """
    members, others = case.persons(NEAREST, most)
    scores = [-_nearest(case.release, each) for each in (members, others)]
    yield _outcome(NEAREST, "distance to the release", *scores)


def density_membership(case: Case) -> Iterator[Outcome]:
    """Rank persons by the density of the release around them, relative to other real records.

    The attacker knows half of the held-out records as a reference, and compares kernel densities by distance. The
    kernel width is the median nearest-neighbour distance of these records.
    Source: van Breugel et al., Membership inference attacks against synthetic data through overfitting detection
    (DOMIAS), AISTATS 2023, eq. 2.
    """
    members, others = case.persons(DENSITY, 2 * _MOST)
    members = members.take(drawn(len(members), _MOST, case.seed))
    order = case.rng(DENSITY).permutation(len(others))
    reference, others = (others.take(rows) for rows in np.array_split(order, 2))
    names = case.release.names
    known = Released.as_it_is(reference).only(names)
    width = max(float(np.median(_nearest(known, others))), 1e-3)
    scores = [_density(case.release, each, width) - _density(known, each, width) for each in (members, others)]
    yield _outcome(DENSITY, f"against {len(reference):,} other real records", *scores)


def _nearest(release: Released, targets: Records) -> NDArray[np.float64]:
    """(targets,) The distance of each target to its nearest released record."""
    blocks = [block.min(axis=1) for _, block in release.distances(targets)]
    return np.concatenate(blocks).astype(np.float64)


def _density(release: Released, targets: Records, width: float) -> NDArray[np.float64]:
    """(targets,) The logarithm of the mean kernel of the released records around each target."""
    blocks = [np.log(np.exp(-block / width).mean(axis=1) + _TINY) for _, block in release.distances(targets)]
    return np.concatenate(blocks).astype(np.float64)


def _outcome(name: str, variant: str, members: NDArray[np.float64], others: NDArray[np.float64]) -> Outcome:
    scores, positive = np.append(members, others), np.arange(len(members) + len(others)) < len(members)
    auc = one_against_rest(scores, positive).interval(0.0, 1.0)
    caught = true_positives(members, others)
    return Outcome(
        name,
        variant,
        len(scores),
        "AUC",
        auc,
        exactly(0.5),
        None,
        f"Of a record that the release saw and one that it never saw, the attack picks the right one "
        f"{Share(auc.value)} of the time; 50 % is chance. At 1 % false alarms it finds {Share(caught)} of the records.",
        {"true_positives_at_1_percent": caught},
    )


def true_positives(members: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """Return the share of the members that score above all but 1 % of the others.

    Source: Carlini et al., Membership inference attacks from first principles, S&P 2022, section III.
    """
    allowed = int(_FALSE_POSITIVES * len(others))
    threshold = np.sort(others)[::-1][allowed]
    return float((members > threshold).mean())


CLOSEST: Final = "closer to the seen records"
CAVEAT: Final = (
    "This alone proves nothing: a release can be far from every record on average and still show some of them, and a "
    "share of 50 % says only that the release is no nearer to its own records than to others."
)

_COMPARED: Final = 2_000


def closest_records(case: Case) -> Iterator[Outcome]:
    """Compare distances to the closest record (DCR), and its ratio to the second (NNDR), on the seen and held-out side.

    Equally many persons of both sides are drawn, with one record each, so that by chance half of the released records
    are closer to a seen one; ties count half. Source: Platzer and Reutterer, Holdout-based empirical
    assessment of mixed-type synthetic data, Frontiers in Big Data 2021; the ratio: Zhao et al., CTAB-GAN, ACML 2021,
    section 4.
    """
    sides = case.persons(CLOSEST, 2 * _COMPARED)
    size = min(map(len, sides))
    seen, held_out = (side.take(drawn(len(side), size, case.seed)) for side in sides)
    released = case.release.take(drawn(len(case.release), _COMPARED, case.seed))
    to_seen, to_held_out = _two_nearest(released, seen), _two_nearest(released, held_out)
    real = _two_nearest(Released.as_it_is(held_out.take(np.arange(min(size, _COMPARED)))).only(released.names), seen)
    closer = np.where(to_seen[0] == to_held_out[0], 0.5, to_seen[0] < to_held_out[0])
    success = mean_of(closer)
    medians = {
        name: float(np.median(each))
        for name, each in {
            "dcr_to_seen": to_seen[0],
            "dcr_to_held_out": to_held_out[0],
            "dcr_of_held_out_to_seen": real[0],
            "nndr_to_seen": _ratio(to_seen),
            "nndr_to_held_out": _ratio(to_held_out),
            "nndr_of_held_out_to_seen": _ratio(real),
        }.items()
    }
    yield Outcome(
        CLOSEST,
        "DCR",
        len(released),
        "released records",
        success,
        exactly(0.5),
        None,
        f"{Share(success.value)} of the released records are closer to a record that the release saw than to one that "
        f"it never saw; 50 % is chance. {CAVEAT}",
        medians,
        is_attack=False,
    )


def _two_nearest(release: Released, records: Records) -> NDArray[np.float32]:
    """(2, released) The distances of each released record to the nearest and the second nearest of the records."""
    nearest = np.full((2, len(release)), np.inf, dtype=np.float32)
    for _, block in release.distances(records):
        nearest = np.sort(np.concatenate([nearest, block]), axis=0)[:2]
    return nearest


def _ratio(nearest: NDArray[np.float32]) -> NDArray[np.float64]:
    """(released,) The nearest distance over the second nearest; 1 if both are 0."""
    first, second = nearest.astype(np.float64)
    return np.asarray(np.divide(first, second, out=np.ones_like(first), where=(second > 0) & np.isfinite(second)))


COPIES: Final = "exact copies"

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
    shuffled = case.release.shuffled(case.rng(COPIES))
    copies, by_chance = int(of_seen.sum()), int(seen.copies(shuffled).sum())
    released, size = len(case.release), len(of_seen)
    yield Outcome(
        COPIES,
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
