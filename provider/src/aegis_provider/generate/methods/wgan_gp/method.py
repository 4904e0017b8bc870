"""The method `wgan-gp`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from aegis_provider.generate.levels import Codes
from aegis_provider.generate.methods.method import DivergedError, Task
from aegis_provider.generate.methods.wgan_gp.blocks import Blocks, distance_map
from aegis_provider.generate.methods.wgan_gp.losses import Nearness, nearest_sum
from aegis_provider.generate.methods.wgan_gp.networks import Weights, outputs_of
from aegis_provider.generate.methods.wgan_gp.training import Networks, Problem, Settings, initial_networks, trained

_SAMPLED_AT_ONCE: Final = 10_000


@dataclass(frozen=True)
class WganGp:
    """Wasserstein GAN with gradient penalty, and the two regularisers of Bagad et al. (2021).

    Attributes:
        settings: Those of the networks and of their training.
        every: After how many iterations a model is returned.
        scaled: Whether distances are relative to those between real records; otherwise they are absolute, as printed in
            the paper.
    """

    heeds: ClassVar[frozenset[str]] = frozenset({"privacy", "value"})

    settings: Settings = Settings()  # noqa: RUF009 - immutable
    every: int = 250
    scaled: bool = True

    def guarantee(self, _task: Task) -> tuple[float, float] | None:
        """Nothing is guaranteed."""
        return None

    def train(
        self, task: Task, rng: np.random.Generator, state: Mapping[str, Any] | None = None
    ) -> Iterator["Trained"]:
        """Yield a model after every few iterations, without end.

        Raises:
            DivergedError: The weights are no numbers any more.
        """
        key = jax.random.key(int(rng.integers(1 << 32)))
        blocks = Blocks(task.sizes)
        networks = initial_networks(blocks, self.settings, jax.random.fold_in(key, 0))
        if state:
            networks = _restored(networks, state)
        problem = self._problem(task, jax.random.fold_in(key, 1))
        step = partial(trained, blocks=blocks, settings=self.settings, iterations=self.every)
        while True:
            networks, critic, generator = step(networks, problem, jax.random.fold_in(key, 2))
            losses = {"critic": float(critic), "generator": float(generator)}
            if not all(np.isfinite(each).all() for each in jax.tree.leaves(networks.generator)):
                raise DivergedError(int(networks.iterations), losses)
            yield Trained(blocks, self.settings, networks, losses)

    def restored(self, task: Task, state: Mapping[str, Any]) -> "Trained":
        """Return the model of the same task that had this state."""
        blocks = Blocks(task.sizes)
        networks = _restored(initial_networks(blocks, self.settings, jax.random.key(0)), state)
        return Trained(blocks, self.settings, networks, {})

    def _problem(self, task: Task, key: Array) -> Problem:
        codes = jnp.asarray(task.codes, jnp.int32)
        weights = np.where(task.quasi_identifiers, task.privacy_weights, 0)
        privacy = self._nearness(task, weights, task.knobs.privacy, key)
        return Problem(codes, privacy, self._nearness(task, task.importance, task.knobs.value, key))

    def _nearness(self, task: Task, weights: NDArray[np.float64], weight: float, key: Array) -> Nearness:
        features = jnp.asarray(distance_map(task.levels, weights))
        scale = jnp.ones(()) if not self.scaled else self._usual_distance(task, features, key)
        return Nearness(features, scale, jnp.asarray(weight, jnp.float32))

    def _usual_distance(self, task: Task, features: Array, key: Array) -> Array:
        """Return the median S of real records; 1 if most of them have as many equal ones."""
        most = self.settings.reference
        rows = jax.random.permutation(key, len(task.codes))[: 2 * most]
        real = Blocks(task.sizes).one_hot(jnp.asarray(task.codes, jnp.int32)[rows]) @ features
        half = max(1, len(rows) // 2)
        sums = nearest_sum(real[:half], real[-half:], min(self.settings.neighbours, half))
        median = jnp.median(sums)
        return jnp.where(median > _NOTHING, median, 1.0)


_NOTHING: Final = 1e-3


@dataclass(frozen=True, eq=False)
class Trained:
    """A generator after some iterations.

    Attributes:
        blocks: The blocks of its records.
        settings: The settings that it was trained with.
        networks: The networks.
        losses: The mean losses of the last iterations.
    """

    blocks: Blocks
    settings: Settings
    networks: Networks
    losses: Mapping[str, float]

    def sample(self, records: int, rng: np.random.Generator) -> Codes:
        """(records, columns) Return the levels of new records."""
        key = jax.random.key(int(rng.integers(1 << 32)))
        parts = []
        for start in range(0, records, _SAMPLED_AT_ONCE):
            part = jax.random.fold_in(key, start)
            drawn = _drawn(self.networks.generator, part, blocks=self.blocks, noise=self.settings.noise)
            parts.append(np.asarray(drawn)[: records - start])
        return np.concatenate(parts).astype(np.intp)

    def state(self) -> Mapping[str, Any]:
        """Return the weights and the states of the optimisers."""
        return {f"{place:03}": np.asarray(each) for place, each in enumerate(jax.tree.leaves(self.networks))}


@partial(jax.jit, static_argnames=("blocks", "noise"))
def _drawn(generator: Weights, key: Array, *, blocks: Blocks, noise: int) -> Array:
    for_noise, for_levels = jax.random.split(key)
    logits = outputs_of(generator, jax.random.normal(for_noise, (_SAMPLED_AT_ONCE, noise)))
    return blocks.hard(logits, for_levels)


def _restored(networks: Networks, state: Mapping[str, Any]) -> Networks:
    """Return the networks with the weights of a state."""
    _, shape = jax.tree.flatten(networks)
    restored: Networks = jax.tree.unflatten(shape, [jnp.asarray(state[name]) for name in sorted(state)])
    return restored
