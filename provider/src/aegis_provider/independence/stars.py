"""What is masked of grouped records, and whether what is left is independent of the clusters."""

import numpy as np

from aegis_provider.independence.vectors import STAR, BoolArray, IntArray, distinct_rows

_LARGEST_TABLE = 1 << 31


def starred(codes: IntArray, group_of_record: IntArray) -> BoolArray:
    """(n, d) whether a value is masked: the records of its group disagree on this attribute.

    `codes`: (n, d) a number for each value; `group_of_record`: (n,) from 0, every group has a record.
    """
    order = np.argsort(group_of_record, kind="stable")
    starts = np.flatnonzero(np.diff(group_of_record[order], prepend=-1))
    ordered = codes[order]
    disagree = np.minimum.reduceat(ordered, starts) != np.maximum.reduceat(ordered, starts)
    found: BoolArray = disagree[group_of_record]
    return found


def masked_codes(codes: IntArray, stars: BoolArray) -> IntArray:
    """(n, d) the codes, with `STAR` where they are masked."""
    return np.where(stars, STAR, codes)


def is_independent(vectors: IntArray, clusters: IntArray) -> bool:
    """Whether Pr[a, b] = Pr[a] Pr[b] for all vectors a and clusters b, exactly: n count(a, b) = count(a) count(b).

    `vectors`: (n, d) codes from `STAR` up, `STAR` being a value as any other; `clusters`: (n,) codes from 0. A
    vector and a cluster that both occur must meet, since the product of their counts is not 0.

    Raises `ValueError` for 2^31 records or more, whose products could not be told exactly.
    """
    if len(vectors) >= _LARGEST_TABLE:
        raise ValueError(f"{len(vectors)} records are too many")
    _, vector = distinct_rows(vectors)
    _, cluster = distinct_rows(clusters.reshape(-1, 1))
    pairs, together = np.unique(np.column_stack([vector, cluster]), axis=0, return_counts=True)
    of_vector, of_cluster = np.bincount(vector), np.bincount(cluster)
    product = of_vector[pairs[:, 0]] * of_cluster[pairs[:, 1]]
    return len(pairs) == len(of_vector) * len(of_cluster) and bool(np.all(together * len(vectors) == product))
