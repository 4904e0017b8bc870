"""Training of a method until it no longer improves on records that it never saw."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from time import monotonic
from typing import Final

import numpy as np
from pydantic import TypeAdapter
from threadpoolctl import threadpool_limits

from aegis_provider.synth.generate.checkpoint import Checkpoint, Saved
from aegis_provider.synth.generate.levels import Codes
from aegis_provider.synth.generate.methods.method import DivergedError, Method, Model, Resumable, Task
from aegis_provider.synth.generate.quality import Quality, Yardstick
from aegis_sdk.cli.signals import held_back

PATIENCE: Final = 8
"""The training stops after this many looks without a better model."""

STOPPED: Final = "it was stopped"
"""Why a training ended that a signal stopped."""

_SAMPLED: Final = 5_000
_FOR_TRAINING, _FOR_LOOKS = 1, 2


@dataclass(frozen=True)
class Look:
    """A model, looked at during the training.

    Attributes:
        seconds: How long the training has taken until then.
        number: The number of the model, from 1; not all are looked at.
        losses: The losses of the training by their names.
        quality: What its records are like, beside real ones that it never saw.
    """

    seconds: float
    number: int
    losses: Mapping[str, float]
    quality: Quality


@dataclass(frozen=True, eq=False)
class Training:
    """What a training led to.

    Attributes:
        model: The best model.
        looks: All models that were looked at.
        best: The place of the best among them.
        ended: Why it ended, in a few words; empty if the method learns in one step.
    """

    model: Model
    looks: tuple[Look, ...]
    best: int
    ended: str

    @property
    def quality(self) -> Quality:
        """That of the best model."""
        return self.looks[self.best].quality


Watch = Callable[[Look], None]


@dataclass(frozen=True, eq=False)
class Trainer:
    """Trains a method.

    Attributes:
        method: The method.
        task: What to learn.
        validation: (records, columns) The levels of records that the method does not learn from.
        seed: The source of all randomness but that of differential privacy.
        seconds: The time limit. The training ends with the first model after it.
        checkpoint: Where the training is kept until it ends; `None` if it is not.
        watch: Called with each look.
        spent: The seconds that were spent before; they count.
    """

    method: Method
    task: Task
    validation: Codes
    seed: int
    seconds: float
    checkpoint: Checkpoint | None = None
    watch: Watch = field(default=lambda _: None)
    spent: float = 0.0

    def train(self) -> Training:
        """Train until the models no longer improve, the method ends, or time is up; return the best model.

        Ctrl-C ends the training as the time limit does, once there is a model. It waits for the model that is on its
        way.

        Raises:
            DivergedError: The first model is already useless.
            TableError: The method cannot learn this task.
        """
        saved = self._saved()
        looks, best = list(saved.looks) if saved else [], saved.best if saved else 0
        model = self._restored(saved)
        began, ended = monotonic() - self.spent - (looks[-1].seconds if looks else 0.0), ""
        models = self.method.train(self.task, self._rng(_FOR_TRAINING), saved.latest if saved else None)
        try:
            for number, each in enumerate(_unbroken(models), looks[-1].number + 1 if looks else 1):
                if not self._is_due(number, monotonic() - began):
                    continue
                looks.append(self._look(each, number, began))
                if model is None or looks[-1].quality.score > looks[best].quality.score:
                    model, best = each, len(looks) - 1
                self._save(each, model, looks, best)
                self.watch(looks[-1])
                if ended := self._end(looks, best):
                    break
        except (DivergedError, KeyboardInterrupt) as error:
            if model is None:
                raise
            ended = STOPPED if isinstance(error, KeyboardInterrupt) else str(error)
        if model is None:
            raise AssertionError("a method yields a model or raises")
        return Training(model, tuple(looks), best, ended)

    def _is_due(self, number: int, seconds: float) -> bool:
        stride = self.method.stride if isinstance(self.method, Resumable) else 1
        return number == 1 or number % stride == 0 or seconds >= self.seconds

    def _look(self, model: Model, number: int, began: float) -> Look:
        records = min(len(self.task.codes), _SAMPLED)
        with held_back():
            generated = model.sample(records, self._rng(_FOR_LOOKS, number))
        # With more threads than idle cores, those of the trees would mostly wait for each other.
        with threadpool_limits(1):
            quality = self._yardstick.quality(generated)
        return Look(monotonic() - began, number, dict(model.losses), quality)

    @cached_property
    def _yardstick(self) -> Yardstick:
        return Yardstick.of(self.validation, self.task.levels)

    def _end(self, looks: list[Look], best: int) -> str:
        """Return why the training ends now; nothing if it goes on."""
        if looks[-1].seconds >= self.seconds:
            early = "" if len(looks) > 1 else ", before a second model; more seconds make better ones"
            return f"time was up after {looks[-1].seconds:.0f} seconds{early}"
        return f"the last {PATIENCE} looks were no better" if len(looks) - 1 - best >= PATIENCE else ""

    def _rng(self, *purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, *purpose])

    def _saved(self) -> Saved | None:
        return None if self.checkpoint is None else self.checkpoint.read(TypeAdapter(tuple[Look, ...]))

    def _restored(self, saved: Saved | None) -> Model | None:
        if saved is None or not isinstance(self.method, Resumable):
            return None
        return self.method.restored(self.task, saved.best_state)

    def _save(self, latest: Model, best_model: Model, looks: list[Look], best: int) -> None:
        if self.checkpoint is not None and isinstance(self.method, Resumable):
            self.checkpoint.write(Saved(tuple(looks), best, latest.state(), best_model.state()))


def _unbroken(models: Iterator[Model]) -> Iterator[Model]:
    """Yield the models; a signal waits until the next is there, since JAX loses it or crashes if it comes inside."""
    while True:
        with held_back():
            model = next(models, None)
        if model is None:
            return
        yield model
