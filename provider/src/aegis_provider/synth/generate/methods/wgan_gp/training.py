"""The training of both networks, some hundred iterations at a time."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from aegis_provider.synth.generate.methods.wgan_gp.blocks import Blocks
from aegis_provider.synth.generate.methods.wgan_gp.losses import Nearness, critic_loss, generator_loss
from aegis_provider.synth.generate.methods.wgan_gp.networks import Weights, initial_weights, outputs_of


class Settings(NamedTuple):
    """The settings of the training; unless noted, those of Gulrajani et al. 2017, algorithm 1.

    Attributes:
        penalty: lambda, the weight of the gradient penalty.
        critic_steps: The steps of the critic for each of the generator.
        rate: The rate of Adam.
        noise: The length of z.
        hidden: The sizes of the hidden layers of both networks.
        batch: The records of a step.
        temperature: That of Gumbel-softmax.
        neighbours: How many of the nearest real records count (Bagad et al. 2021).
        reference: Among how many real records the nearest are sought, drawn anew for each step.
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
    """Both networks, the states of their optimisers, and how many iterations they have been trained."""

    generator: Weights
    critic: Weights
    generator_state: optax.OptState
    critic_state: optax.OptState
    iterations: Array


class Problem(NamedTuple):
    """What does not change in the training.

    Attributes:
        codes: (records, columns) The levels of the real records.
        privacy: What nearness to them costs; `None` for nothing.
        value: What it is worth; `None` for nothing.
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
    """Return the networks after so many iterations, with the mean losses of critic and generator.

    Each iteration has its own key, so that a training that was interrupted goes on as if it had not been.
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
