"""Groups of one record of each cluster, as the vectors of their records, and what they disagree on."""

import numpy as np

from aegis_provider.independence.vectors import STAR, IntArray, Vectors


def common(values: IntArray, members: IntArray) -> IntArray:
    """(groups, d) the code that all vectors of a group have in an attribute, `STAR` where they disagree.

    `values`: (vectors, d); `members`: (groups, any number of clusters) places of vectors.
    """
    least = values[members[:, 0]]
    most = least
    for column in members.T[1:]:
        least, most = np.minimum(least, values[column]), np.maximum(most, values[column])
    return np.where(least == most, least, STAR)


def stars_of(vectors: Vectors, members: IntArray) -> int:
    """How many values are masked: for every attribute on which a group disagrees, one in each of its records."""
    return vectors.clusters * int(np.count_nonzero(common(vectors.values, members) == STAR))
