"""How many stars there must be: what can be said of the optimum without finding it."""

from itertools import combinations
from math import comb

from aegis_provider.independence.identical import alike_on
from aegis_provider.independence.vectors import Vectors

_MOST_SETS = 1 << 10


def of_identical(vectors: Vectors) -> int:
    """What makes `identical` at most d times the optimum: u times the groups that cannot be without a star.

    A vector fills as many groups as the cluster that has it least often has it. All others have a star in each record.
    """
    return vectors.clusters * (vectors.groups - int(vectors.counts.min(axis=1).sum()))


def of_sizes(vectors: Vectors) -> int:
    """The sum over k = 1 .. d of u times the groups that cannot agree on k attributes; never less than `of_identical`.

    A group that agrees on k attributes is alike on one of the sets of k, so there are no more such groups than the sum
    over these sets of the groups that can be alike on one. A group masks as many attributes as there are k that it
    does not reach. A k of which there are too many sets is left out.
    """
    reached = [_alike(vectors, size) for size in range(1, vectors.attributes + 1) if _few(vectors, size)]
    return vectors.clusters * sum(max(0, vectors.groups - each) for each in reached)


def of_attributes(vectors: Vectors) -> int:
    """The sum over attributes of u times the groups that cannot agree on it."""
    return vectors.clusters * (vectors.groups * vectors.attributes - _alike(vectors, 1))


def _alike(vectors: Vectors, size: int) -> int:
    sets = combinations(range(vectors.attributes), size)
    return sum(alike_on(vectors.values[:, each], vectors.counts) for each in sets)


def _few(vectors: Vectors, size: int) -> bool:
    return comb(vectors.attributes, size) <= _MOST_SETS
