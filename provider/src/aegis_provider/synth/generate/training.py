"""Trains a method until it no longer improves on validation records."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any, Final, Self
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError
from threadpoolctl import threadpool_limits

from aegis_provider.check.estimates import weighted_auc
from aegis_provider.check.masked_records import Feature, Fold, fitting_of
from aegis_provider.classifiers import CHANCE
from aegis_provider.files import written_whole
from aegis_provider.synth.fidelity.encoding import MOST_CATEGORIES, Gaussian, Vectors, one_hot, pair_total_variation
from aegis_provider.synth.generate.levels import Codes, Levels
from aegis_provider.synth.generate.methods.method import DivergedError, LearningTask, Method, Model, Resumable
from aegis_sdk.cli.signals import held_back

_FORMAT: Final = 3
"""Version of the checkpoint format; a checkpoint of another version is ignored."""


@dataclass(frozen=True, eq=False)
class Saved:
    """A saved training."""

    looks: Sequence[Any]
    best: int
    latest: Mapping[str, NDArray[Any]]
    best_state: Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Checkpoint:
    """The file of a training.

    Attributes:
        digest: The digest of everything that the training depends on; a file with another one is ignored.
    """

    path: Path
    digest: str

    def read(self, looks: TypeAdapter[Any]) -> Saved | None:
        """Return the training in the file; `None` if there is none, or it belongs to another task."""
        with suppress(OSError, ValueError, KeyError, TypeError, BadZipFile, ValidationError):
            with np.load(self.path, allow_pickle=False) as arrays:
                about = json.loads(str(arrays["about"]))
                if (about["format"], about["digest"]) != (_FORMAT, self.digest):
                    return None
                states = [
                    {name[1:]: arrays[name] for name in arrays.files if name[0] == which and name != "about"}
                    for which in ("l", "b")
                ]
            return Saved(looks.validate_python(about["looks"]), int(about["best"]), *states)
        return None

    def write(self, saved: Saved) -> None:
        """Write the training, whole or not at all.

        Raises:
            OutputError: It cannot be written.
        """
        looks = TypeAdapter(tuple[Any, ...]).dump_python(tuple(saved.looks), mode="json")
        about = {"format": _FORMAT, "digest": self.digest, "looks": looks, "best": saved.best}
        states = {f"l{name}": each for name, each in saved.latest.items()}
        states |= {f"b{name}": each for name, each in saved.best_state.items()}
        with written_whole(self.path) as part, part.open("wb") as file:
            np.savez(file, allow_pickle=False, about=np.array(json.dumps(about)), **states)

    def remove(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Quality:
    """The similarity of generated and real records.

    Attributes:
        pair_total_variation: The mean over all pairs of columns of half the sum of absolute differences between the
            shares of their combinations; 0 if all are equal, at most 1.
        auc: The AUC, on real records, of boosted trees that were trained on generated ones to predict the label; with
            more than two values the mean of each against the rest, weighted by records. `None` if the real records
            have one label value, or the label is a number.
        frechet_distance: The Fréchet distance: of the means and covariances of the levels, where those of numbers are
            their standardised positions.
        r2: The same for a label that is a number: the share of the variance of its bins' scores that is predicted.
    """

    pair_total_variation: float
    auc: float | None
    frechet_distance: float
    r2: float | None = None

    @property
    def score(self) -> float:
        """The score for comparing models; higher is better."""
        reached = self.auc if self.r2 is None else self.r2
        return (CHANCE if reached is None else reached) - self.pair_total_variation

    @property
    def in_words(self) -> str:
        """How well trees trained on generated records predict: `, AUC 0.712` or `, R2 0.412`; empty if unknown."""
        if self.r2 is not None:
            return f", R2 {self.r2:.3f}"
        return "" if self.auc is None else f", AUC {self.auc:.3f}"


@dataclass(frozen=True, eq=False)
class Yardstick:
    """Real records for repeated comparison with generated ones.

    Attributes:
        real: (records, columns) Their levels, the label in the last column.
        scores: (levels of the label,) The scores of a label that is a number; `None` if it has classes.
    """

    real: Codes
    sizes: Sequence[int]
    _encoder: "_Encoder"
    _gaussian: Gaussian
    scores: Vectors | None = None

    @classmethod
    def of(cls, real: Codes, levels: Sequence[Levels], scores: Vectors | None = None) -> Self:
        """Return the yardstick of these real records."""
        encoder = _Encoder.of(real, levels)
        return cls(real, [level.size for level in levels], encoder, Gaussian.of(encoder.vectors(real)), scores)

    def quality(self, generated: Codes) -> Quality:
        """Compare generated records with the real ones, both as (records, columns) levels."""
        frechet = Gaussian.of(self._encoder.vectors(generated)).frechet_distance(self._gaussian)
        variation = pair_total_variation(generated, self.real, self.sizes)
        if self.scores is None:
            return Quality(variation, predictive_auc(generated, self.real), frechet)
        return Quality(variation, None, frechet, predictive_r_squared(generated, self.real, self.scores))


@dataclass(frozen=True, eq=False)
class _Encoder:
    """Turns levels into vectors.

    Attributes:
        values: By column, the vector of each level (levels, width).
    """

    values: tuple[Vectors, ...]

    @classmethod
    def of(cls, real: Codes, levels: Sequence[Levels]) -> Self:
        return cls(tuple(_vectors(one, codes) for one, codes in zip(levels, real.T, strict=True)))

    def vectors(self, codes: Codes) -> Vectors:
        """(records, width) Return the vector of each record."""
        return np.concatenate([each[column] for each, column in zip(self.values, codes.T, strict=True)], axis=1)


def _vectors(levels: Levels, codes: Codes) -> Vectors:
    """(levels, width) Return standardised positions with an indicator of missing ones, or indicators of levels."""
    if levels.positions is not None:
        real = levels.positions[codes]
        missing = np.arange(levels.size) == (-1 if levels.missing is None else levels.missing)
        return np.stack([(levels.positions - real.mean()) / (real.std() or 1.0), missing], axis=1)
    ranks = np.argsort(np.argsort(-np.bincount(codes, minlength=levels.size), kind="stable"))
    return one_hot(ranks.clip(max=MOST_CATEGORIES)[:, None], [min(levels.size, MOST_CATEGORIES + 1)])


def predictive_auc(training: Codes, test: Codes) -> float | None:
    """Return the AUC of boosted trees on `test`, trained on `training`, both (records, columns); see `Quality`."""
    held, classes = np.unique(test[:, -1], return_inverse=True)
    if len(held) < 2:  # noqa: PLR2004 - one class
        return None
    return weighted_auc(_predicted("gradient boosting", training, test)[:, held], classes).value


def predictive_r_squared(training: Codes, test: Codes, scores: Vectors) -> float:
    """Return `R^2` of boosted trees for a number, like `predictive_auc`, by the scores (levels,) of its levels."""
    predicted, numbers = _predicted("boosted regression", training, test, scores)[:, 0], scores[test[:, -1]]
    spread = float(np.mean((numbers - numbers.mean()) ** 2))
    return 1 - float(np.mean((predicted - numbers) ** 2)) / spread if spread > 0 else 0.0


def _predicted(model: str, training: Codes, test: Codes, scores: Vectors | None = None) -> Vectors:
    codes = np.concatenate([training, test])
    fold = Fold(np.arange(len(training)), np.arange(len(training), len(codes)))
    features = [Feature(str(place), column, None) for place, column in enumerate(codes[:, :-1].T)]
    numbers = None if scores is None else scores[codes[:, -1]]
    return fitting_of(model, features, codes[:, -1], fold.train, fold, numbers).probabilities()


PATIENCE: Final = 8
"""Evaluations without a better model after which the training stops."""

STOPPED: Final = "it was stopped"
"""The reason for a training ended by a signal."""

_SAMPLED: Final = 5_000
_FOR_TRAINING, _FOR_LOOKS = 1, 2


@dataclass(frozen=True)
class TrainingLook:
    """An evaluation of a model during the training.

    Attributes:
        number: The number of the model, from 1; not all are evaluated.
    """

    seconds: float
    number: int
    losses: Mapping[str, float]
    quality: Quality


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """The result of a training.

    Attributes:
        ended: Why it ended, in a few words; empty if the method learns in one step.
    """

    model: Model
    looks: tuple[TrainingLook, ...]
    best: int
    ended: str

    @property
    def quality(self) -> Quality:
        """The quality of the best model."""
        return self.looks[self.best].quality


Watch = Callable[[TrainingLook], None]


@dataclass(frozen=True, eq=False)
class Trainer:
    """Trains a method.

    Attributes:
        seed: The seed of all randomness except that of differential privacy.
        seconds: The time limit. The training ends with the first model after it.
        checkpoint: The checkpoint file until the training ends, if any.
        spent: The seconds spent before, which count towards the limit.
        scores: (levels of the label,) The scores of a label that is a number; `None` if it has classes.
    """

    method: Method
    task: LearningTask
    validation: Codes
    seed: int
    seconds: float
    checkpoint: Checkpoint | None = None
    watch: Watch = field(default=lambda _: None)
    spent: float = 0.0
    scores: Vectors | None = None

    def train(self) -> TrainingResult:
        """Train until the models no longer improve, the method ends, or time is up; return the best model.

        Ctrl-C ends the training like the time limit, once there is a model, after the current one is finished.

        Raises:
            DivergedError: The first model is already useless.
            TableError: The method cannot learn this task.
        """
        saved = None if self.checkpoint is None else self.checkpoint.read(TypeAdapter(tuple[TrainingLook, ...]))
        looks, best = list(saved.looks) if saved else [], saved.best if saved else 0
        model: Model | None = None
        if saved is not None and isinstance(self.method, Resumable):
            model = self.method.restored(self.task, saved.best_state)
        began, ended = monotonic() - self.spent - (looks[-1].seconds if looks else 0.0), ""
        models = self.method.train(self.task, self._rng(_FOR_TRAINING), saved.latest if saved else None)
        stride = self.method.stride if isinstance(self.method, Resumable) else 1
        try:
            for number, each in enumerate(_unbroken(models), looks[-1].number + 1 if looks else 1):
                if not (number == 1 or number % stride == 0 or monotonic() - began >= self.seconds):
                    continue
                looks.append(self._look(each, number, began))
                if model is None or looks[-1].quality.score > looks[best].quality.score:
                    model, best = each, len(looks) - 1
                if self.checkpoint is not None and isinstance(self.method, Resumable):
                    self.checkpoint.write(Saved(tuple(looks), best, each.state(), model.state()))
                self.watch(looks[-1])
                if ended := self._end(looks, best):
                    break
        except (DivergedError, KeyboardInterrupt) as error:
            if model is None:
                raise
            ended = STOPPED if isinstance(error, KeyboardInterrupt) else str(error)
        if model is None:
            raise AssertionError("a method yields a model or raises")
        return TrainingResult(model, tuple(looks), best, ended)

    def _look(self, model: Model, number: int, began: float) -> TrainingLook:
        records = min(len(self.task.codes), _SAMPLED)
        with held_back():
            generated = model.sample(records, self._rng(_FOR_LOOKS, number))
        # With more threads than idle cores, the threads of the trees mostly block each other.
        with threadpool_limits(1):
            quality = self._yardstick.quality(generated)
        return TrainingLook(monotonic() - began, number, dict(model.losses), quality)

    @cached_property
    def _yardstick(self) -> Yardstick:
        return Yardstick.of(self.validation, self.task.levels, self.scores)

    def _end(self, looks: list[TrainingLook], best: int) -> str:
        """Return why the training ends now; empty if it continues."""
        if looks[-1].seconds >= self.seconds:
            early = "" if len(looks) > 1 else ", before a second model; more seconds make better ones"
            return f"time was up after {looks[-1].seconds:.0f} seconds{early}"
        return f"the last {PATIENCE} looks were no better" if len(looks) - 1 - best >= PATIENCE else ""

    def _rng(self, *purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, *purpose])


def _unbroken(models: Iterator[Model]) -> Iterator[Model]:
    """Yield the models; a signal waits for the next one, since JAX loses signals or crashes on them."""
    while True:
        with held_back():
            model = next(models, None)
        if model is None:
            return
        yield model
