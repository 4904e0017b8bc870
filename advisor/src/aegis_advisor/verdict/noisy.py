"""How much noise leaves unknown, whatever else is published of an attribute."""

import math
from collections.abc import Iterator

from aegis_advisor.verdict.model import LIKELY, Finding, PublishedCounts, Reason

ENOUGH = math.log(LIKELY / (1 - LIKELY))
"""The largest epsilon that keeps each small count below `LIKELY`, nearly 2.2."""


def find_little_noise(published: PublishedCounts) -> Iterator[Finding]:
    """Yield the attributes whose tables have too little noise to rule out that a reader knows a small count.

    A record more in a cell is one more in the label's histogram, in each table of the attribute and in each of its
    pairs. It changes the probability of what is published by a factor of at most `exp(epsilon)`, the sum of 1 / scale
    of these tables; twice that where counts without noise make it one less in another cell. A reader who takes all
    tables of the attribute for equally probable therefore gives a count v at most `exp(epsilon)` times the probability
    of v + 1: at most `1 / (1 + exp(-epsilon))`. That of v - 1 may be 0, since a listed value has a record.
    """
    for place, each in enumerate(published.evidence):
        if _spent(published, place) > ENOUGH:
            yield Finding(Reason.UNDECIDED, ("attributes", place), each.values * each.labels)


def spent_epsilon(published: PublishedCounts) -> float:
    """Return the largest epsilon that the tables of an attribute spend together; 0 without noise."""
    return max(_spent(published, place) for place in range(len(published.evidence)))


def _spent(published: PublishedCounts, place: int) -> float:
    evidence = published.evidence[place]
    tables = [one.perturbation for one in evidence.maskings if one.joint is not None]
    tables += [pair.perturbation for pair in published.pairs.values() if place in pair.attributes]
    noisy = [one for one in tables if one.is_noisy]
    if not noisy:
        return 0.0
    every = [*noisy, evidence.label_perturbation]
    spent = sum(1 / one.noise_scale for one in every if one.noise_scale is not None)
    return spent if len(noisy) == len(tables) and evidence.label_perturbation.is_noisy else 2 * spent
