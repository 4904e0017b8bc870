"""The losses of the critic and the generator (decision 44 has the formulas, and why the signs are these)."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from aegis_provider.synth.generate.methods.wgan_gp.networks import Weights, outputs_of

# Distances have no derivative at 0, where the square root is infinitely steep.
_LEAST_SQUARE = 1e-12


class Nearness(NamedTuple):
    """How near generated records are to real ones.

    Attributes:
        features: (width, features) What turns vectors into features whose Euclidean distances count.
        scale: The sum of distances at which nearness has fallen to 1/e.
        weight: How much it counts in the loss.
    """

    features: Array
    scale: Array
    weight: Array


def critic_loss(critic: Weights, real: Array, generated: Array, key: Array, penalty: float) -> Array:
    """Return E[D(G(z))] - E[D(x)] + lambda E[(||grad D(x^)||_2 - 1)^2], x^ between real and generated records.

    Gulrajani et al. 2017, equation 3.

    Args:
        critic: D.
        real: (records, width) x.
        generated: (records, width) G(z).
        key: The source of x^.
        penalty: lambda.
    """
    share = jax.random.uniform(key, (len(real), 1))
    between = share * real + (1 - share) * generated
    # Each output depends on one record, so the gradient of their sum has that of each in its row.
    slopes = jax.grad(lambda records: outputs_of(critic, records).sum())(between)
    steepness = jnp.sqrt((slopes**2).sum(axis=1) + _LEAST_SQUARE)
    gap = outputs_of(critic, generated).mean() - outputs_of(critic, real).mean()
    return gap + penalty * ((steepness - 1) ** 2).mean()


def generator_loss(
    generated: Array,
    critic: Weights,
    reference: Array,
    privacy: Nearness | None,
    value: Nearness | None,
    neighbours: int,
) -> Array:
    """Return -E[D(G(z))] + lambda_p E[exp(-S_p / tau_p)] + lambda_u E[1 - exp(-S_u / tau_u)].

    Bagad et al. 2021, equations 1 and 2. The first pushes generated records away from real ones, the second pulls them
    near.

    Args:
        generated: (records, width) G(z).
        critic: D.
        reference: (reference records, width) The real records among which the nearest are sought.
        privacy: lambda_p and tau_p, and the distance over the quasi-identifiers; `None` if lambda_p is 0.
        value: lambda_u and tau_u, and the distance over all attributes; `None` if lambda_u is 0.
        neighbours: How many of the nearest records count.
    """
    loss = -outputs_of(critic, generated).mean()
    # A term without weight is left out, since looking for the nearest records takes as long as all else.
    if privacy is not None:
        loss += privacy.weight * _nearness(generated, reference, privacy, neighbours).mean()
    if value is not None:
        loss += value.weight * (1 - _nearness(generated, reference, value, neighbours).mean())
    return loss


def _nearness(generated: Array, reference: Array, how: Nearness, neighbours: int) -> Array:
    """(records,) Return exp(-S / tau) for each generated record."""
    return jnp.exp(-nearest_sum(generated @ how.features, reference @ how.features, neighbours) / how.scale)


def nearest_sum(records: Array, reference: Array, neighbours: int) -> Array:
    """(records,) Return S, the sum of the Euclidean distances to the nearest reference records.

    Which records are nearest is no function to differentiate; how far they are is.

    Args:
        records: (records, features).
        reference: (reference records, features).
        neighbours: How many count.
    """
    here = jax.lax.stop_gradient(records)
    squares = (here**2).sum(axis=1)[:, None] - 2 * here @ reference.T + (reference**2).sum(axis=1)
    _, nearest = jax.lax.top_k(-squares, neighbours)
    gaps = records[:, None, :] - reference[nearest]
    return jnp.sqrt((gaps**2).sum(axis=2) + _LEAST_SQUARE).sum(axis=1)
