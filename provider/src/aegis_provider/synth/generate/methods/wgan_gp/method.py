"""The method `wgan-gp`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from aegis_provider.synth.generate.levels import Codes
from aegis_provider.synth.generate.methods.method import DivergedError, Knobs, Task
from aegis_provider.synth.generate.methods.wgan_gp.networks import Blocks, distance_map, outputs_of
from aegis_provider.synth.generate.methods.wgan_gp.training import (
    Nearness,
    Networks,
    Problem,
    Settings,
    initial_networks,
    nearest_sum,
    trained,
)

_SAMPLED_AT_ONCE: Final = 5_000
"""Fixed sample size, since JAX compiles for each number of records."""


@dataclass(frozen=True)
class WganGp:
    """Wasserstein GAN with gradient penalty, and the two regularisers of Bagad et al. (2021).

    Attributes:
        settings: The settings of the networks and their training.
        every: Iterations between models, few enough to be quick.
        stride: The interval between evaluated models.
        scaled: Whether distances are relative to those between real records; otherwise they are absolute, as in the
            paper.
    """

    heeds: ClassVar[frozenset[str]] = frozenset({"privacy", "value"})

    settings: Settings = Settings()  # noqa: RUF009 - immutable
    every: int = 25
    stride: int = 10
    scaled: bool = True

    def guarantee(self, _knobs: Knobs) -> tuple[float, float] | None:
        """Return `None`: there is no guarantee."""
        return None

    def train(
        self, task: Task, rng: np.random.Generator, state: Mapping[str, Any] | None = None
    ) -> Iterator["Trained"]:
        """Yield a model every few iterations, indefinitely.

        Raises:
            DivergedError: The weights are no longer numbers.
        """
        key, blocks = jax.random.key(int(rng.integers(1 << 32))), Blocks(task.sizes)
        networks = initial_networks(blocks, self.settings, rng)
        if state:
            networks = _restored(networks, state)
        problem = self._problem(task, rng)
        step = partial(trained, blocks=blocks, settings=self.settings, iterations=self.every)
        while True:
            networks, critic, generator = step(networks, problem, key)
            losses = {"critic": float(critic), "generator": float(generator)}
            if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(networks.generator)):
                raise DivergedError(int(networks.iterations), losses)
            yield Trained(blocks, self.settings, networks, losses)

    def restored(self, task: Task, state: Mapping[str, Any]) -> "Trained":
        """Return the model of the same task with this state."""
        blocks = Blocks(task.sizes)
        networks = initial_networks(blocks, self.settings, np.random.default_rng(0))
        return Trained(blocks, self.settings, _restored(networks, state), {})

    def _problem(self, task: Task, rng: np.random.Generator) -> Problem:
        known = np.where(task.quasi_identifiers, task.privacy_weights, 0)
        privacy = self._nearness(task, known, task.knobs.privacy, rng)
        value = self._nearness(task, task.importance, task.knobs.value, rng)
        return Problem(jnp.asarray(task.codes.astype(np.int32)), privacy, value)

    def _nearness(
        self, task: Task, weights: NDArray[np.float64], weight: float, rng: np.random.Generator
    ) -> Nearness | None:
        if not weight:
            return None
        features = distance_map(task.levels, weights)
        scale = self._usual_distance(task, features, rng) if self.scaled else 1.0
        return Nearness(jnp.asarray(features), jnp.float32(scale), jnp.float32(weight))

    def _usual_distance(self, task: Task, features: NDArray[np.float32], rng: np.random.Generator) -> float:
        """Return the median S of real records; 1 if it is 0, since most of them have enough equal ones."""
        rows = rng.permutation(len(task.codes))[: 2 * self.settings.reference]
        real, half = Blocks(task.sizes).vectors(task.codes[rows], features), max(1, len(rows) // 2)
        sums = _nearest_sum(real[:half], real[-half:], min(self.settings.neighbours, half))
        median = float(np.median(sums))
        return median if median > _NOTHING else 1.0


_NOTHING: Final = 1e-3
_nearest_sum = jax.jit(nearest_sum, static_argnums=2)


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
