"""Small networks as functions of their weights, and the importance of columns by their saliency in one."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from numpy.typing import NDArray

from aegis_provider.synth.generate.levels import Codes, Levels


@dataclass(frozen=True)
class Blocks:
    """One block of a record's vector for each column, with an entry for each of its levels."""

    sizes: tuple[int, ...]

    @property
    def width(self) -> int:
        """The length of a record's vector."""
        return sum(self.sizes)

    def one_hot(self, codes: Array) -> Array:
        """(records, width) Return the vectors of records, given by their (records, columns) levels."""
        return jnp.concatenate([jax.nn.one_hot(codes[:, place], size) for place, size in enumerate(self.sizes)], axis=1)

    def soft(self, logits: Array, key: Array, temperature: float) -> Array:
        """(records, width) Return vectors drawn from logits of that shape, by Gumbel-softmax (Jang et al. 2017)."""
        noisy = logits + jax.random.gumbel(key, logits.shape)
        parts = jnp.split(noisy, self._ends, axis=1)
        return jnp.concatenate([jax.nn.softmax(each / temperature) for each in parts], axis=1)

    def hard(self, logits: NDArray[np.float32], rng: np.random.Generator) -> Codes:
        """(records, columns) Return levels drawn from (records, width) logits, by the Gumbel-max trick."""
        noisy = logits + rng.gumbel(size=logits.shape)
        return np.stack([each.argmax(axis=1) for each in np.split(noisy, self._ends, axis=1)], axis=1)

    def vectors(self, codes: Codes, entries: NDArray[np.float32]) -> NDArray[np.float32]:
        """(records, features) Return the vectors of records times a matrix (width, features), without building them."""
        starts = np.append(0, self._ends)
        parts = [entries[start + column] for start, column in zip(starts, codes.T, strict=True)]
        return np.asarray(np.sum(parts, axis=0))

    @property
    def _ends(self) -> list[int]:
        """The ends of all blocks but the last."""
        return list(accumulate(self.sizes[:-1]))


def distance_map(levels: Sequence[Levels], weights: NDArray[np.float64]) -> NDArray[np.float32]:
    """(width, features) Return the matrix that maps vectors to features with the records' Euclidean distances.

    The distance of two records is `sqrt(sum of weight_j d_j^2)` over the columns. `d_j` is the difference of the
    positions of two numbers, in [0, 1]. It is 1 between two different categories, and about 1 between a number and a
    missing one. All entries of a column's block share its weight.

    Args:
        weights: (columns,) In [0, 1].
    """
    maps = [np.sqrt(weight) * _of_column(each) for each, weight in zip(levels, weights, strict=True) if weight > 0]
    used = [level.size for level in levels]
    rows = np.split(np.arange(sum(used)), np.cumsum(used)[:-1])
    width = sum(each.shape[1] for each in maps)
    result, column = np.zeros((sum(used), width), dtype=np.float32), 0
    kept = [block for block, weight in zip(rows, weights, strict=True) if weight > 0]
    for block, each in zip(kept, maps, strict=True):
        result[block, column : column + each.shape[1]] = each
        column += each.shape[1]
    return result


def _of_column(levels: Levels) -> NDArray[np.float64]:
    """(levels, features) Return the features of each level of a column."""
    if levels.positions is None:
        return np.asarray(np.eye(levels.size) / np.sqrt(2))
    if levels.missing is None:
        return np.asarray(levels.positions[:, None])
    is_missing = np.arange(levels.size) == levels.missing
    # A missing number lies in the middle, displaced in a separate direction.
    places, apart = np.where(is_missing, 0.5, levels.positions), np.where(is_missing, np.sqrt(0.75), 0.0)
    return np.asarray(np.stack([places, apart], axis=1), dtype=np.float64)


Weights: TypeAlias = list[tuple[Array, Array]]
"""For each layer a matrix (inputs, outputs) and a vector (outputs,)."""

_SLOPE = 0.2


def initial_weights(sizes: Sequence[int], rng: np.random.Generator) -> Weights:
    """Return random weights of a network with layers of these sizes, from inputs to outputs (He et al. 2015)."""
    weights = []
    for inputs, outputs in pairwise(sizes):
        # Drawn by NumPy, since JAX would compile for each size.
        drawn = rng.standard_normal((inputs, outputs), dtype=np.float32) * np.float32(np.sqrt(2 / inputs))
        weights.append((jnp.asarray(drawn), jnp.asarray(np.zeros(outputs, dtype=np.float32))))
    return weights


def outputs_of(weights: Weights, inputs: Array) -> Array:
    """(records, outputs) Return the outputs for (records, inputs), with leaky rectifiers between the layers."""
    *hidden, (matrix, shift) = weights
    for inner, offset in hidden:
        inputs = jax.nn.leaky_relu(inputs @ inner + offset, _SLOPE)
    return inputs @ matrix + shift


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
    """
    blocks = Blocks(tuple(sizes[:-1]))
    features, labels = jnp.asarray(codes[:, :-1], jnp.int32), jnp.asarray(codes[:, -1], jnp.int32)
    weights = _classifier(features, labels, blocks, sizes[-1], rng)
    one = jax.grad(lambda vector, label: _likelihood(weights, vector[None], label[None])[0])
    of_record: Array = jax.vmap(one)(blocks.one_hot(features), labels)
    slopes = np.abs(np.asarray(of_record)).mean(axis=0)
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


def _likelihood(weights: Weights, vectors: Array, labels: Array) -> Array:
    """(records,) The log-probability of each record's label."""
    logits = jax.nn.log_softmax(outputs_of(weights, vectors))
    return jnp.take_along_axis(logits, labels[:, None], axis=1)[:, 0]
