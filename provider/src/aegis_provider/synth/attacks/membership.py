"""Membership inference: was a given record among those that the release was made from?

Both attacks rank seen and held-out records. An AUC of 0.5 is chance. Each person counts once, since records with equal
attributes are on the same side and so not independent.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.check.estimates import one_against_rest
from aegis_provider.records import Records, drawn
from aegis_provider.synth.attacks.case import Case
from aegis_provider.synth.attacks.outcome import Outcome, exactly
from aegis_provider.synth.released import Released
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
    yield _outcome(
        NEAREST, "distance to the release", -_nearest(case.release, members), -_nearest(case.release, others)
    )


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
