"""Agreement of clusters of released and real records. Needs scikit-learn."""

import warnings
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import TSNE
from sklearn.metrics import adjusted_rand_score, silhouette_score
from threadpoolctl import threadpool_limits

from aegis_provider.synth.fidelity.encoding import Vectors
from aegis_provider.synth.fidelity.result import Embedding

MOST: Final = 1_000
"""Maximum number of real, and of released, records in the picture."""

_SEED: Final = 0
_PERPLEXITY: Final = 30.0


def embedded(real: Vectors, released: Vectors) -> Embedding | None:
    """Embed both in the same two dimensions, where near records stay near; `None` if all are equal.

    Source: van der Maaten and Hinton, Visualizing data using t-SNE (2008); as in Bagad et al. 2021, figure 3.
    """
    real, released = real[:MOST], released[:MOST]
    vectors = np.concatenate([real, released])
    if not np.ptp(vectors, axis=0).any():
        return None
    perplexity = min(_PERPLEXITY, (len(vectors) - 1) / 3)
    made = TSNE(perplexity=perplexity, init="random", random_state=_SEED)
    with threadpool_limits(1):  # more threads block each other on a busy machine
        points = made.fit_transform(vectors).astype(np.float64)
    return Embedding(points[: len(real)], points[len(real) :])


MOST_CLUSTERS: Final = 10

_STARTS: Final = 4
_JUDGED: Final = 1_000
"""Number of records used to choose the number of clusters."""


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
    """(assigned records,) Cluster some vectors by k-means, and return the clusters of others.

    Source: Arthur and Vassilvitskii, k-means++ (2007), the best of 4 starts.
    """
    with threadpool_limits(1):
        return np.asarray(_fitted(vectors, number).predict(assigned))


def agreement(one: NDArray[np.int32], other: NDArray[np.int32]) -> float:
    """Return the agreement of two assignments of the same records: the adjusted Rand index.

    It is 1 for equal assignments, and 0 for agreement by chance.
    Source: Hubert and Arabie, Comparing partitions (1985), eq. 5.
    """
    return float(adjusted_rand_score(one, other))


def _fitted(vectors: Vectors, number: int) -> KMeans:
    # More threads block each other on a busy machine.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct vectors than clusters
        return KMeans(number, n_init=_STARTS, random_state=_SEED).fit(vectors)
