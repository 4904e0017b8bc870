"""Two small networks as functions of their weights."""

from collections.abc import Sequence
from typing import TypeAlias

import jax
import jax.numpy as jnp
from jax import Array

Weights: TypeAlias = list[tuple[Array, Array]]
"""For each layer a matrix (inputs, outputs) and a vector (outputs,)."""

_SLOPE = 0.2


def initial_weights(sizes: Sequence[int], key: Array) -> Weights:
    """Return random weights of a network with layers of these sizes, from inputs to outputs (He et al. 2015)."""
    keys = jax.random.split(key, len(sizes) - 1)
    draw = jax.nn.initializers.he_normal()
    return [
        (draw(one, (inputs, outputs), jnp.float32), jnp.zeros(outputs))
        for one, inputs, outputs in zip(keys, sizes[:-1], sizes[1:], strict=True)
    ]


def outputs_of(weights: Weights, inputs: Array) -> Array:
    """(records, outputs) Return the outputs for (records, inputs), with leaky rectifiers between the layers."""
    *hidden, (matrix, shift) = weights
    for inner, offset in hidden:
        inputs = jax.nn.leaky_relu(inputs @ inner + offset, _SLOPE)
    return inputs @ matrix + shift
