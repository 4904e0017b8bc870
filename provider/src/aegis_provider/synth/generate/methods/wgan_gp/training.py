"""Trains both networks, several iterations at a time."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from aegis_provider.synth.generate.methods.wgan_gp.networks import Blocks, Weights, initial_weights, outputs_of

# The square root has no derivative at 0.
_LEAST_SQUARE = 1e-12


class Nearness(NamedTuple):
    """The nearness of generated records to real ones.

    Attributes:
        features: (width, features) The matrix that maps vectors to features with Euclidean distances.
        scale: The sum of distances at which nearness has fallen to 1/e.
        weight: Its weight in the loss.
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
        key: The random key of x^.
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
        reference: (reference records, width) The real records to search for the nearest.
        privacy: lambda_p and tau_p, and the distance over the quasi-identifiers; `None` if lambda_p is 0.
        value: lambda_u and tau_u, and the distance over all attributes; `None` if lambda_u is 0.
        neighbours: The number of nearest records.
    """
    loss = -outputs_of(critic, generated).mean()
    # Skip a term without weight, since the search for the nearest records takes half of the time.
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

    The derivative is that of the distances, not of the choice of the nearest records.

    Args:
        records: (records, features).
        reference: (reference records, features).
        neighbours: The number of nearest records.
    """
    here = jax.lax.stop_gradient(records)
    squares = (here**2).sum(axis=1)[:, None] - 2 * here @ reference.T + (reference**2).sum(axis=1)
    _, nearest = jax.lax.top_k(-squares, neighbours)
    gaps = records[:, None, :] - reference[nearest]
    return jnp.sqrt((gaps**2).sum(axis=2) + _LEAST_SQUARE).sum(axis=1)


class Settings(NamedTuple):
    """The settings of the training; unless noted, those of Gulrajani et al. 2017, algorithm 1.

    Attributes:
        penalty: lambda, the weight of the gradient penalty.
        critic_steps: The steps of the critic for each of the generator.
        rate: The learning rate of Adam.
        noise: The length of z.
        hidden: The sizes of the hidden layers of both networks.
        batch: The records of a step.
        temperature: The temperature of Gumbel-softmax.
        neighbours: The number of nearest real records (Bagad et al. 2021).
        reference: The number of real records to search, drawn for each step.
    """

    penalty: float = 10.0
    critic_steps: int = 5
    rate: float = 1e-4
    noise: int = 128
    hidden: tuple[int, ...] = (256, 256)
    batch: int = 500
    temperature: float = 0.2
    neighbours: int = 5
    reference: int = 2_000

    @property
    def adam(self) -> optax.GradientTransformation:
        """The optimiser of both networks."""
        return optax.adam(self.rate, b1=0.0, b2=0.9)


class Networks(NamedTuple):
    """Both networks, the states of their optimisers, and the number of iterations so far."""

    generator: Weights
    critic: Weights
    generator_state: optax.OptState
    critic_state: optax.OptState
    iterations: Array


class Problem(NamedTuple):
    """The constants of the training.

    Attributes:
        codes: (records, columns) The levels of the real records.
        privacy: The penalty on nearness to them; `None` for no penalty.
        value: The reward for nearness to them; `None` for no reward.
    """

    codes: Array
    privacy: Nearness | None
    value: Nearness | None


def initial_networks(blocks: Blocks, settings: Settings, rng: np.random.Generator) -> Networks:
    """Return untrained networks."""
    generator = initial_weights((settings.noise, *settings.hidden, blocks.width), rng)
    critic = initial_weights((blocks.width, *settings.hidden, 1), rng)
    for_generator, for_critic = jax.jit(lambda *both: tuple(map(settings.adam.init, both)))(generator, critic)
    return Networks(generator, critic, for_generator, for_critic, jnp.asarray(np.int32(0)))


@partial(jax.jit, static_argnames=("blocks", "settings", "iterations"))
def trained(
    networks: Networks, problem: Problem, key: Array, *, blocks: Blocks, settings: Settings, iterations: int
) -> tuple[Networks, Array, Array]:
    """Return the networks after this many iterations, with the mean losses of critic and generator.
    Each iteration has its own key, so that an interrupted training resumes with the same results.
    """

    def iterate(current: Networks, _: None) -> tuple[Networks, tuple[Array, Array]]:
        return _iteration(current, problem, jax.random.fold_in(key, current.iterations), blocks, settings)

    networks, (critic, generator) = jax.lax.scan(iterate, networks, length=iterations)
    return networks, critic.mean(), generator.mean()


def _iteration(
    networks: Networks, problem: Problem, key: Array, blocks: Blocks, settings: Settings
) -> tuple[Networks, tuple[Array, Array]]:
    for_critic, for_generator = jax.random.split(key)

    def step(current: tuple[Weights, optax.OptState], one: Array) -> tuple[tuple[Weights, optax.OptState], Array]:
        return _critic_step(current, networks.generator, problem.codes, one, blocks, settings)

    keys = jax.random.split(for_critic, settings.critic_steps)
    (critic, critic_state), critic_losses = jax.lax.scan(step, (networks.critic, networks.critic_state), keys)
    loss, generator, state = _generator_step(networks, critic, problem, for_generator, blocks, settings)
    changed = Networks(generator, critic, state, critic_state, networks.iterations + 1)
    return changed, (critic_losses.mean(), loss)


def _critic_step(
    current: tuple[Weights, optax.OptState],
    generator: Weights,
    codes: Array,
    key: Array,
    blocks: Blocks,
    settings: Settings,
) -> tuple[tuple[Weights, optax.OptState], Array]:
    critic, state = current
    for_rows, for_records, for_penalty = jax.random.split(key, 3)
    rows = jax.random.randint(for_rows, (settings.batch,), 0, len(codes))
    generated = _generated(generator, for_records, blocks, settings)
    loss, slopes = jax.value_and_grad(critic_loss)(
        critic, blocks.one_hot(codes[rows]), generated, for_penalty, settings.penalty
    )
    updates, state = settings.adam.update(slopes, state)
    changed: Any = optax.apply_updates(critic, updates)
    return (changed, state), loss


def _generator_step(
    networks: Networks, critic: Weights, problem: Problem, key: Array, blocks: Blocks, settings: Settings
) -> tuple[Array, Weights, optax.OptState]:
    for_rows, for_records = jax.random.split(key)
    rows = jax.random.randint(for_rows, (settings.reference,), 0, len(problem.codes))
    reference = blocks.one_hot(problem.codes[rows])

    def loss_of(generator: Weights) -> Array:
        generated = _generated(generator, for_records, blocks, settings)
        return generator_loss(generated, critic, reference, problem.privacy, problem.value, settings.neighbours)

    loss, slopes = jax.value_and_grad(loss_of)(networks.generator)
    updates, state = settings.adam.update(slopes, networks.generator_state)
    changed: Any = optax.apply_updates(networks.generator, updates)
    return loss, changed, state


def _generated(generator: Weights, key: Array, blocks: Blocks, settings: Settings) -> Array:
    """(batch, width) Return generated records."""
    for_noise, for_levels = jax.random.split(key)
    logits = outputs_of(generator, jax.random.normal(for_noise, (settings.batch, settings.noise)))
    return blocks.soft(logits, for_levels, settings.temperature)
