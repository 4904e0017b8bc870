"""How many stars there must be: what can be said of the optimum without finding it."""

from math import comb
from itertools import combinations

from aegis_sdk.provider.independence.identical import alike_on
from aegis_sdk.provider.independence.vectors import Vectors

_MOST_SETS = 1 << 10


def of_identical(vectors: Vectors) -> int:
    """
    u times the groups that cannot be without a star: the bound that makes `identical` at most d times the optimum.

    A vector can fill a group as often as the cluster that has it least often. All other groups have a star in each record.
    """
    groups, clusters = vectors.groups, vectors.counts.shape[1]
    return clusters * (groups - int(vectors.counts.min(axis=1).sum()))


def of_sizes(vectors: Vectors) -> int:
    """
    u times the sum over k of the groups that cannot agree on k attributes; never less than `of_identical`.

    A group that agrees on k attributes or more is alike on one of the sets of k: there are no more such groups than the sum
    over these sets of the groups that can be alike on one. A group masks as many attributes as there are k, 1 .. d,
    that it does not reach. Sets of sizes that have too many sets are left out.
    """
    groups, clusters = vectors.groups, vectors.counts.shape[1]
    reached = [_alike(vectors, size) for size in range(1, vectors.attributes + 1) if _few(vectors, size)]
    return clusters * sum(max(0, groups - each) for each in reached)


def of_attributes(vectors: Vectors) -> int:
    """u times the sum over attributes of the groups that cannot agree on it."""
    groups, clusters = vectors.groups, vectors.counts.shape[1]
    return clusters * (groups * vectors.attributes - _alike(vectors, 1))


def _alike(vectors: Vectors, size: int) -> int:
    sets = combinations(range(vectors.attributes), size)
    return sum(alike_on(vectors.values[:, each], vectors.counts) for each in sets)


def _few(vectors: Vectors, size: int) -> bool:
    return comb(vectors.attributes, size) <= _MOST_SETS
