"""Real and released records in two dimensions. Needs scikit-learn."""

from typing import Final

import numpy as np
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from aegis_provider.synth.fidelity.encoding import Vectors
from aegis_provider.synth.fidelity.result import Embedding

MOST: Final = 1_000
"""At most this many real and as many released records are shown."""

_SEED: Final = 0
_PERPLEXITY: Final = 30.0


def embedded(real: Vectors, released: Vectors) -> Embedding | None:
    """Return both in the same two dimensions, where near records stay near; `None` if all are equal.

    Source: van der Maaten and Hinton, Visualizing data using t-SNE (2008); as in Bagad et al. 2021, figure 3.

    Args:
        real: (records, width) The vectors of real records.
        released: (records, width) Those of released ones.
    """
    real, released = real[:MOST], released[:MOST]
    vectors = np.concatenate([real, released])
    if not np.ptp(vectors, axis=0).any():
        return None
    perplexity = min(_PERPLEXITY, (len(vectors) - 1) / 3)
    made = TSNE(perplexity=perplexity, init="random", random_state=_SEED)
    with threadpool_limits(1):  # more threads would wait for each other on a busy machine
        points = made.fit_transform(vectors).astype(np.float64)
    return Embedding(points[: len(real)], points[len(real) :])
