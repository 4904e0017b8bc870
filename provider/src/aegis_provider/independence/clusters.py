"""Equally large clusters of the attributes that others are to be independent of (Tao et al. 2010, step 1)."""

from collections.abc import Sequence

import numpy as np

from aegis_provider.independence.distances import Rows
from aegis_provider.independence.flow import cheapest_flow
from aegis_provider.independence.vectors import FloatArray, IntArray

_ROUNDS = 20

#: A round that brings records nearer to their centres by less than this share is the last.
_GAIN = 1e-4

#: Costs are whole numbers: the largest distance is so many.
_STEPS = 1 << 16


def quantile_clusters(values: FloatArray, clusters: int, random: np.random.Generator) -> IntArray:
    """Intervals of a number with equally many records: (n,) -> (n,) 0 .. clusters-1, smaller numbers in smaller ones.

    Which of the records with equal numbers at an end of an interval are in which is drawn.

    Raises `ValueError` where there are no equally large clusters, or a number is not finite.
    """
    size = _size(len(values), clusters)
    if not np.isfinite(values).all():
        raise ValueError("all numbers must be finite")
    found = np.empty(len(values), dtype=np.int64)
    found[np.lexsort((random.permutation(len(values)), values))] = np.arange(len(values)) // size
    return found


def balanced_clusters(columns: Sequence[FloatArray | IntArray], clusters: int, random: np.random.Generator) -> IntArray:
    """Clusters of several attributes with equally many records: columns (n,) -> (n,) 0 .. clusters-1.

    Columns of floats are numbers; columns of integers are codes of values that have no order. Balanced k-means
    (Malinen and Franti 2014): records are assigned to centres at the least distance (`Rows`), equally many to each,
    which is a transportation problem; centres become the means of theirs; until little is gained. The first centres
    are drawn far from each other (k-means++, Arthur and Vassilvitskii 2007). Clusters are numbered by their means of
    the first column.

    Raises `ValueError` where there are no equally large clusters, no columns, or a number is not finite.
    """
    size = _size(len(columns[0]) if columns else 0, clusters)
    rows, row_of_record = Rows.of(columns)
    amounts, spread = _assigned(rows, rows.distances(_far_apart(rows, clusters, random)), size)
    for _ in range(_ROUNDS):
        nearer, less = _assigned(rows, rows.distances(amounts), size)
        if less >= spread * (1 - _GAIN):
            break
        amounts, spread = nearer, less
    ordered = amounts[:, np.argsort(rows.columns[0].values @ amounts, kind="stable")]
    return _handed_out(ordered, row_of_record, random)


def _far_apart(rows: Rows, clusters: int, random: np.random.Generator) -> IntArray:
    """(rows, clusters) a record for each cluster, drawn in proportion to its distance from those drawn before."""
    drawn = np.zeros((len(rows.counts), clusters), dtype=np.int64)
    chances = rows.counts.astype(np.float64)
    for cluster in range(clusters):
        drawn[random.choice(len(chances), p=chances / chances.sum()), cluster] = 1
        far = rows.distances(drawn[:, : cluster + 1]).min(axis=1) * rows.counts
        # Where every record equals one that was drawn, any will do.
        chances = far if far.any() else rows.counts.astype(np.float64)
    return drawn


def _assigned(rows: Rows, distances: FloatArray, size: int) -> tuple[IntArray, float]:
    """(rows, clusters) how many records of each row are in each cluster, of `size` each, and their distances in all."""
    count, clusters = distances.shape
    tails, heads = np.repeat(np.arange(count), clusters), np.tile(count + np.arange(clusters), count)
    costs = np.rint(distances * (_STEPS / (distances.max() or 1.0))).astype(np.int64)
    supplies = np.concatenate([rows.counts, np.full(clusters, -size)])
    flows = cheapest_flow(tails, heads, np.repeat(rows.counts, clusters), costs.ravel(), supplies)
    amounts = flows.reshape(count, clusters)
    return amounts, float(np.sum(amounts * distances))


def _handed_out(amounts: IntArray, row_of_record: IntArray, random: np.random.Generator) -> IntArray:
    """(n,) the cluster of each record; which of several equal records is in which is drawn."""
    records = random.permutation(len(row_of_record))
    by_row = records[np.argsort(row_of_record[records], kind="stable")]
    found = np.empty(len(by_row), dtype=np.int64)
    found[by_row] = np.repeat(np.tile(np.arange(amounts.shape[1]), len(amounts)), amounts.ravel())
    return found


def _size(records: int, clusters: int) -> int:
    """How many records each cluster has."""
    if clusters < 1:
        raise ValueError(f"there must be a cluster, not {clusters}")
    if clusters > records:
        raise ValueError(f"{records} records cannot make {clusters} clusters")
    if over := records % clusters:
        raise ValueError(f"{records} records cannot make {clusters} clusters of equally many: leave {over} out")
    return records // clusters
