"""Two small networks as functions of their weights."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

Weights: TypeAlias = list[tuple[Array, Array]]
"""For each layer a matrix (inputs, outputs) and a vector (outputs,)."""

_SLOPE = 0.2


def initial_weights(sizes: Sequence[int], rng: np.random.Generator) -> Weights:
    """Return random weights of a network with layers of these sizes, from inputs to outputs (He et al. 2015)."""
    return [
        (_drawn(inputs, outputs, rng), jnp.asarray(np.zeros(outputs, dtype=np.float32)))
        for inputs, outputs in pairwise(sizes)
    ]


def _drawn(inputs: int, outputs: int, rng: np.random.Generator) -> Array:
    # NumPy draws them, since JAX would first have to compile that for each size.
    drawn = rng.standard_normal((inputs, outputs), dtype=np.float32)
    return jnp.asarray(drawn * np.float32(np.sqrt(2 / inputs)))


def outputs_of(weights: Weights, inputs: Array) -> Array:
    """(records, outputs) Return the outputs for (records, inputs), with leaky rectifiers between the layers."""
    *hidden, (matrix, shift) = weights
    for inner, offset in hidden:
        inputs = jax.nn.leaky_relu(inputs @ inner + offset, _SLOPE)
    return inputs @ matrix + shift
