"""Whether clusters of released records are those of real ones. Needs scikit-learn."""

import warnings
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, silhouette_score
from threadpoolctl import threadpool_limits

from aegis_provider.synth.fidelity.encoding import Vectors

MOST_CLUSTERS: Final = 10

_SEED: Final = 0
_STARTS: Final = 4
_JUDGED: Final = 1_000
"""The number of clusters is chosen among this many records."""


def number_of_clusters(vectors: Vectors) -> int | None:
    """Return the number from 2 to 10 with the highest mean silhouette; `None` if the vectors have no clusters.

    Source: Rousseeuw, Silhouettes (1987).
    """
    judged = vectors[:_JUDGED]
    most = min(MOST_CLUSTERS, len(np.unique(judged, axis=0)) - 1)
    scores = {}
    for number in range(2, most + 1):
        labels = _fitted(judged, number).labels_
        if len(np.unique(labels)) > 1:
            scores[number] = float(silhouette_score(judged, labels))
    return max(scores, key=lambda number: scores[number], default=None)


def assigned_to(vectors: Vectors, assigned: Vectors, number: int) -> NDArray[np.int32]:
    """(assigned records,) Make clusters of some vectors by k-means, and return the cluster of each of others.

    Source: Arthur and Vassilvitskii, k-means++ (2007), the best of 4 starts.
    """
    with threadpool_limits(1):
        return np.asarray(_fitted(vectors, number).predict(assigned))


def agreement(one: NDArray[np.int32], other: NDArray[np.int32]) -> float:
    """Return how far two assignments of the same records agree: the adjusted Rand index.

    It is 1 if they are the same, and 0 if they agree as often as by chance.
    Source: Hubert and Arabie, Comparing partitions (1985), eq. 5.
    """
    return float(adjusted_rand_score(one, other))


def _fitted(vectors: Vectors, number: int) -> KMeans:
    # More threads would wait for each other on a busy machine.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct vectors than clusters
        return KMeans(number, n_init=_STARTS, random_state=_SEED).fit(vectors)
