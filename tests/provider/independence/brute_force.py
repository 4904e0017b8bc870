"""The fewest stars, found by trying every partition into groups, and tables small enough for that."""

from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import numpy as np


def fewest_stars(codes, clusters):
    """Try every order of the records of each cluster; the records at the same place form a group.

    This takes exponential time and follows the definition in plain Python, without vectors or networks.
    """
    by_cluster = [[tuple(codes[r]) for r in np.flatnonzero(clusters == c)] for c in range(clusters.max() + 1)]
    first, others = by_cluster[0], by_cluster[1:]
    partial = {tuple((record,) for record in first)}
    for records in others:
        orders = set(permutations(records))
        joined = {
            tuple(sorted((*group, record) for group, record in zip(groups, order, strict=True)))
            for groups in partial
            for order in orders
        }
        partial = joined
    return min(sum(map(_stars, groups)) for groups in partial)


def _stars(group):
    return len(group) * sum(len(set(column)) > 1 for column in zip(*group, strict=True))


def small_table(random, *, clusters, groups, attributes, values):
    """Return (n, d) codes and (n,) clusters in a random order."""
    codes = random.integers(0, values, (clusters * groups, attributes))
    return codes, random.permutation(np.repeat(np.arange(clusters), groups))


def fewest_of_any_masking(codes, clusters):
    """Return the fewest stars of any independent masking, with or without groups."""
    masks = product([False, True], repeat=codes.size)
    ordered = sorted(masks, key=sum)
    return next(sum(mask) for mask in ordered if is_exactly_independent(_masked(codes, mask), list(clusters)))


def is_exactly_independent(vectors, clusters):
    """Return whether Pr[a, b] = Pr[a] Pr[b] in fractions, for all a and b that occur."""
    n, pairs = len(vectors), Counter(zip(vectors, clusters, strict=True))
    of_vector, of_cluster = Counter(vectors), Counter(clusters)
    return all(
        Fraction(pairs[a, b], n) == Fraction(of_vector[a], n) * Fraction(of_cluster[b], n)
        for a in of_vector
        for b in of_cluster
    )


def _masked(codes, mask):
    stars = np.array(mask).reshape(codes.shape)
    return [tuple(row) for row in np.where(stars, "*", codes.astype(str)).tolist()]
