"""The protection of counts by noise, whatever else is published of an attribute."""

import math
from collections.abc import Iterator, Sequence

from aegis_advisor.evidence import Perturbation
from aegis_advisor.verdict.model import LIKELY, Finding, PublishedCounts, Reason

ENOUGH = math.log(LIKELY / (1 - LIKELY))
"""The largest epsilon for which the probability of each small count stays below `LIKELY`: nearly 2.2."""


def find_little_noise(published: PublishedCounts) -> Iterator[Finding]:
    """Yield the attributes whose tables have too little noise to rule out that a reader knows a small count.

    A record more in a cell is one more in the label's histogram, in each table of every attribute and in each pair. It
    changes the probability of what is published by a factor of at most `exp(epsilon)`, the sum of 1 / scale of all
    these tables. A record more with one less in another cell of the attribute changes nothing but its own tables and
    pairs, each by two records. So a reader to whom all tables of the attribute are equally probable gives a count v
    at most `exp(epsilon)` times the probability of v + 1, with the smaller of these two: at most
    `1 / (1 + exp(-epsilon))`. That of v - 1 may be 0, since a listed value has a record.
    """
    label = published.evidence[0].label_perturbation
    every = [
        label,
        *(one for place in range(len(published.evidence)) for one in _tables(published, place, pairs=False)),
    ]
    every += [pair.perturbation for pair in published.pairs.values()]
    of_all = _epsilon(every) if all(one.is_noisy for one in every) else math.inf
    for place, attribute in enumerate(published.evidence):
        if min(of_all, 2 * _epsilon(_tables(published, place))) > ENOUGH:
            yield Finding(Reason.UNDECIDED, ("attributes", place), attribute.values * attribute.labels)


def spent_epsilon(published: PublishedCounts) -> float:
    """Return the largest epsilon that the tables of an attribute spend together; 0 without noise."""
    label = published.evidence[0].label_perturbation
    spent = (_epsilon(_tables(published, place)) for place in range(len(published.evidence)))
    return max(of_tables + _epsilon([label]) if of_tables else 0.0 for of_tables in spent)


def _epsilon(tables: Sequence[Perturbation]) -> float:
    return sum(1 / one.noise_scale for one in tables if one.is_noisy and one.noise_scale is not None)


def _tables(published: PublishedCounts, place: int, *, pairs: bool = True) -> list[Perturbation]:
    """Return the declarations of an attribute's tables and, if `pairs`, of its pairs."""
    own = [one.perturbation for one in published.evidence[place].maskings if one.joint is not None]
    with_others = [pair.perturbation for pair in published.pairs.values() if pairs and place in pair.attributes]
    return [*own, *with_others]
