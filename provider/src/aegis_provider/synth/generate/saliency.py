"""The importance of columns by their saliency in a small classifier of the label."""

from collections.abc import Sequence
from typing import Final

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from numpy.typing import NDArray

from aegis_provider.synth.generate.levels import Codes
from aegis_provider.synth.generate.methods.wgan_gp.networks import Blocks, Weights, initial_weights, outputs_of

_HIDDEN: Final = 64
_STEPS: Final = 400
_BATCH: Final = 256
_RATE: Final = 1e-3


def importance_of(codes: Codes, sizes: Sequence[int], rng: np.random.Generator) -> NDArray[np.float64]:
    """(columns,) Weights from 0 to 1 by rank of saliency; 1 for the most salient column, 0 for the label.

    Saliency is the mean absolute gradient of the classifier's log-probability of the true label with respect to the
    entries of a column (Simonyan, Vedaldi and Zisserman 2014; Bagad et al. 2021, section 3).

    Args:
        codes: (records, columns) The levels of the training records, the label in the last column.
        sizes: (columns,) The number of levels of each.
        rng: The random generator.
    """
    blocks = Blocks(tuple(sizes[:-1]))
    features, labels = jnp.asarray(codes[:, :-1], jnp.int32), jnp.asarray(codes[:, -1], jnp.int32)
    weights = _classifier(features, labels, blocks, sizes[-1], rng)
    slopes = np.abs(np.asarray(_slopes(weights, blocks.one_hot(features), labels))).mean(axis=0)
    saliency = np.array([each.mean() for each in np.split(slopes, np.cumsum(blocks.sizes)[:-1])])
    ranks = saliency.argsort(kind="stable").argsort(kind="stable") + 1
    return np.append(ranks / len(ranks), 0.0)


def _classifier(features: Array, labels: Array, blocks: Blocks, classes: int, rng: np.random.Generator) -> Weights:
    weights = initial_weights((blocks.width, _HIDDEN, classes), rng)
    batches = jnp.asarray(rng.integers(len(labels), size=(_STEPS, _BATCH)))
    adam = optax.adam(_RATE)

    def loss(current: Weights, rows: Array) -> Array:
        return -_likelihood(current, blocks.one_hot(features[rows]), labels[rows]).mean()

    def step(carried: tuple[Weights, optax.OptState], rows: Array) -> tuple[tuple[Weights, optax.OptState], None]:
        current, state = carried
        updates, state = adam.update(jax.grad(loss)(current, rows), state)
        return (optax.apply_updates(current, updates), state), None

    (trained, _), _ = jax.lax.scan(step, (weights, adam.init(weights)), batches)
    return trained


def _slopes(weights: Weights, vectors: Array, labels: Array) -> Array:
    """(records, width) The gradient of each record's log-probability."""
    one = jax.grad(lambda vector, label: _likelihood(weights, vector[None], label[None])[0])
    slopes: Array = jax.vmap(one)(vectors, labels)
    return slopes


def _likelihood(weights: Weights, vectors: Array, labels: Array) -> Array:
    """(records,) The log-probability of each record's label."""
    logits = jax.nn.log_softmax(outputs_of(weights, vectors))
    return jnp.take_along_axis(logits, labels[:, None], axis=1)[:, 0]
