"""Wasserstein GAN with gradient penalty (Gulrajani et al. 2017), with regularisers for privacy and value.

The regularisers are those of Bagad et al., *Data-Sharing Economy: Value-Addition from Data meets Privacy* (2021), with
the signs described in its text; see decision 44.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from numpy.typing import NDArray

from aegis_provider.synth.generate.levels import Codes
from aegis_provider.synth.generate.methods.method import DivergedError, LearningTask, Method
from aegis_provider.synth.generate.networks import Blocks, Weights, distance_map, initial_weights, outputs_of

# The square root has no derivative at 0.
_LEAST_SQUARE = 1e-12


class Nearness(NamedTuple):
    """The nearness of generated records to real ones.

    Attributes:
        features: (width, features) The matrix that maps vectors to features with Euclidean distances.
        scale: The sum of distances at which nearness has fallen to 1/e.
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
        reference: (reference records, features).
    """
    here = jax.lax.stop_gradient(records)
    squares = (here**2).sum(axis=1)[:, None] - 2 * here @ reference.T + (reference**2).sum(axis=1)
    _, nearest = jax.lax.top_k(-squares, neighbours)
    gaps = records[:, None, :] - reference[nearest]
    return jnp.sqrt((gaps**2).sum(axis=2) + _LEAST_SQUARE).sum(axis=1)


class WganSettings(NamedTuple):
    """The settings of the training; unless noted, those of Gulrajani et al. 2017, algorithm 1.

    Attributes:
        penalty: lambda, the weight of the gradient penalty.
        critic_steps: The steps of the critic for each of the generator.
        noise: The length of z.
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
        privacy: The penalty on nearness to them; `None` for no penalty.
        value: The reward for nearness to them; `None` for no reward.
    """

    codes: Array
    privacy: Nearness | None
    value: Nearness | None


def initial_networks(blocks: Blocks, settings: WganSettings, rng: np.random.Generator) -> Networks:
    """Return untrained networks."""
    generator = initial_weights((settings.noise, *settings.hidden, blocks.width), rng)
    critic = initial_weights((blocks.width, *settings.hidden, 1), rng)
    for_generator, for_critic = jax.jit(lambda *both: tuple(map(settings.adam.init, both)))(generator, critic)
    return Networks(generator, critic, for_generator, for_critic, jnp.asarray(np.int32(0)))


@partial(jax.jit, static_argnames=("blocks", "settings", "iterations"))
def trained(
    networks: Networks, problem: Problem, key: Array, *, blocks: Blocks, settings: WganSettings, iterations: int
) -> tuple[Networks, Array, Array]:
    """Return the networks after this many iterations, with the mean losses of critic and generator.

    Each iteration has its own key, so that an interrupted training resumes with the same results.
    """

    def iterate(current: Networks, _: None) -> tuple[Networks, tuple[Array, Array]]:
        return _iteration(current, problem, jax.random.fold_in(key, current.iterations), blocks, settings)

    networks, (critic, generator) = jax.lax.scan(iterate, networks, length=iterations)
    return networks, critic.mean(), generator.mean()


def _iteration(
    networks: Networks, problem: Problem, key: Array, blocks: Blocks, settings: WganSettings
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
    settings: WganSettings,
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
    networks: Networks, critic: Weights, problem: Problem, key: Array, blocks: Blocks, settings: WganSettings
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


def _generated(generator: Weights, key: Array, blocks: Blocks, settings: WganSettings) -> Array:
    """(batch, width) Return generated records."""
    for_noise, for_levels = jax.random.split(key)
    logits = outputs_of(generator, jax.random.normal(for_noise, (settings.batch, settings.noise)))
    return blocks.soft(logits, for_levels, settings.temperature)


_SAMPLED_AT_ONCE: Final = 5_000
"""Fixed sample size, since JAX compiles for each number of records."""


@dataclass(frozen=True)
class WganGp(Method):
    """Wasserstein GAN with gradient penalty, and the two regularisers of Bagad et al. (2021).

    Attributes:
        every: Iterations between models, few enough to be quick.
    """

    heeds: ClassVar[frozenset[str]] = frozenset({"privacy", "value"})

    settings: WganSettings = WganSettings()  # noqa: RUF009 - immutable
    every: int = 25
    stride: int = 10

    def train(
        self, task: LearningTask, rng: np.random.Generator, state: Mapping[str, Any] | None = None
    ) -> Iterator["Trained"]:
        """Yield a model every few iterations, indefinitely.

        Raises:
            DivergedError: The weights are no longer numbers.
        """
        key, blocks = jax.random.key(int(rng.integers(1 << 32))), Blocks(task.sizes)
        networks = initial_networks(blocks, self.settings, rng)
        if state:
            networks = _restored(networks, state)
        known = np.where(task.quasi_identifiers, task.privacy_weights, 0)
        privacy = self._nearness(task, known, task.knobs.privacy, rng)
        value = self._nearness(task, task.importance, task.knobs.value, rng)
        problem = Problem(jnp.asarray(task.codes.astype(np.int32)), privacy, value)
        step = partial(trained, blocks=blocks, settings=self.settings, iterations=self.every)
        while True:
            networks, critic, generator = step(networks, problem, key)
            losses = {"critic": float(critic), "generator": float(generator)}
            if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(networks.generator)):
                raise DivergedError(int(networks.iterations), losses)
            yield Trained(blocks, self.settings, networks, losses)

    def restored(self, task: LearningTask, state: Mapping[str, Any]) -> "Trained":
        """Return the model of the same task with this state."""
        blocks = Blocks(task.sizes)
        networks = initial_networks(blocks, self.settings, np.random.default_rng(0))
        return Trained(blocks, self.settings, _restored(networks, state), {})

    def _nearness(
        self, task: LearningTask, weights: NDArray[np.float64], weight: float, rng: np.random.Generator
    ) -> Nearness | None:
        if not weight:
            return None
        features = distance_map(task.levels, weights)
        rows = rng.permutation(len(task.codes))[: 2 * self.settings.reference]
        real, half = Blocks(task.sizes).vectors(task.codes[rows], features), max(1, len(rows) // 2)
        sums = _nearest_sum(real[:half], real[-half:], min(self.settings.neighbours, half))
        # Distances are relative to the median S of real records, unless most of these have enough equal ones.
        median = float(np.median(sums))
        scale = median if median > _NOTHING else 1.0
        return Nearness(jnp.asarray(features), jnp.float32(scale), jnp.float32(weight))


_NOTHING: Final = 1e-3
_nearest_sum = jax.jit(nearest_sum, static_argnums=2)


@dataclass(frozen=True, eq=False)
class Trained:
    """A generator after some iterations.

    Attributes:
        losses: The mean losses of the last iterations.
    """

    blocks: Blocks
    settings: WganSettings
    networks: Networks
    losses: Mapping[str, float]

    def sample(self, records: int, rng: np.random.Generator) -> Codes:
        """(records, columns) Return the levels of new records."""
        parts = []
        for start in range(0, records, _SAMPLED_AT_ONCE):
            noise = rng.standard_normal((_SAMPLED_AT_ONCE, self.settings.noise), dtype=np.float32)
            logits = np.asarray(_outputs_of(self.networks.generator, noise))
            parts.append(self.blocks.hard(logits[: records - start], rng))
        return np.concatenate(parts)

    def state(self) -> Mapping[str, Any]:
        """Return the weights and the states of the optimisers."""
        return {f"{place:03}": np.asarray(each) for place, each in enumerate(jax.tree.leaves(self.networks))}


_outputs_of = jax.jit(outputs_of)


def _restored(networks: Networks, state: Mapping[str, Any]) -> Networks:
    """Return the networks with the weights of a state."""
    _, shape = jax.tree.flatten(networks)
    restored: Networks = jax.tree.unflatten(shape, [jnp.asarray(state[name]) for name in sorted(state)])
    return restored
