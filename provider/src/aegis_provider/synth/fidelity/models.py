"""What models are worth that are trained on a release, and tested on real records. Needs scikit-learn."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.check.estimates import Estimate, Numbers, accuracy, weighted_auc
from aegis_provider.check.features import Feature
from aegis_provider.check.folds import Fold, Labels
from aegis_provider.check.models import MODELS, fitting_of
from aegis_provider.check.result import CHANCE
from aegis_provider.classifiers import Fitting, Matrix
from aegis_provider.errors import TableError, shortened
from aegis_provider.processes import results
from aegis_provider.synth.fidelity.parts import Parts
from aegis_provider.synth.fidelity.plain import PlainColumn, PlainRecords, stacked
from aegis_provider.synth.fidelity.result import ModelValue

MOST_CLASSES: Final = 50
"""Of more label values, none is a class with enough records, and training takes long."""


@dataclass(frozen=True, eq=False)
class Trial:
    """Records to train on, above those to test on.

    Attributes:
        features: Their columns but for the label.
        labels: (records,) Their classes.
        trained: How many of them are trained on.
    """

    features: tuple[Feature, ...]
    labels: Labels
    trained: int

    def fitting(self, model: str) -> Fitting:
        """Return a model to train, and the records to predict."""
        fold = Fold(np.arange(self.trained), np.arange(self.trained, len(self.labels)))
        return fitting_of(model, self.features, self.labels, fold.train, fold)

    @property
    def tested(self) -> Labels:
        """(tested records,) The classes of the records that it is tested on."""
        return self.labels[self.trained :]

    @property
    def guessed(self) -> float:
        """The accuracy of always guessing the class that is most frequent among the records to train on."""
        return float((self.tested == np.bincount(self.labels[: self.trained]).argmax()).mean())


@dataclass(frozen=True, eq=False)
class Trials:
    """The same models, trained on released and on as many real records."""

    released: Trial
    real: Trial

    @classmethod
    def of(cls, parts: Parts, label: str, rng: np.random.Generator) -> "Trials":
        """Return the records to train on and to test on.

        Released records whose label value no real record has are left out.

        Raises:
            TableError: The label has too few or too many values, or the release has none of them.
        """
        values = _classes(parts, label)
        released = parts.learnt.take(_has_class(parts.learnt, label, values))
        if not len(released):
            raise TableError(f"no released value of the label {shortened(label)} is one of the table's")
        rows = np.sort(rng.permutation(len(parts.real))[: len(released)])
        return cls(
            _trial(released, parts.read, label, values), _trial(parts.real.take(rows), parts.tested, label, values)
        )

    def values(self, done: Callable[[int, int], None]) -> Iterator[ModelValue]:
        """Train all models, and yield what each is worth.

        Args:
            done: Called with the number of trainings that are done, and of all.
        """
        fittings = [each.fitting(name).probabilities for name in MODELS for each in (self.released, self.real)]
        found = results(fittings, self.real.trained)
        for number, (name, released, real) in enumerate(zip(MODELS, found, found, strict=True)):
            yield self._value(name, released, real)
            done(number + 1, len(MODELS))

    def _value(self, name: str, released: Matrix, real: Matrix) -> ModelValue:
        labels = self.real.tested
        aucs = [_auc(each, labels) for each in (released, real)]
        accuracies = [accuracy(each, labels) for each in (released, real)]
        certain = aucs[1].interval().low > CHANCE
        return ModelValue(
            model=name,
            auc=aucs[0].interval(0.0, 1.0),
            real_auc=aucs[1].interval(0.0, 1.0),
            auc_difference=(aucs[0] - aucs[1]).interval(),
            accuracy=accuracies[0].interval(0.0, 1.0),
            real_accuracy=accuracies[1].interval(0.0, 1.0),
            accuracy_difference=(accuracies[0] - accuracies[1]).interval(),
            kept=aucs[0].share_of(aucs[1], CHANCE).interval(-np.inf, np.inf) if certain else None,
        )


def _auc(probabilities: Matrix, labels: Labels) -> Estimate:
    """Return the AUC of the classes that are tested."""
    tested, classes = np.unique(labels, return_inverse=True)
    return weighted_auc(probabilities[:, tested], classes)


def _classes(parts: Parts, label: str) -> Numbers:
    """Return the label values of real records."""
    both = [np.unique(each.column(label).of_record) for each in (parts.real, parts.tested)]
    if min(map(len, both)) < 2:  # noqa: PLR2004 - one class
        raise TableError(f"the label {shortened(label)} has one value, so there is nothing to predict")
    values = np.unique(np.concatenate(both))
    if len(values) > MOST_CLASSES:
        raise TableError(
            f"the label {shortened(label)} has {len(values):,} values; models can predict at most {MOST_CLASSES}: "
            "group them first, or name another label"
        )
    return values


def _has_class(records: PlainRecords, label: str, values: Numbers) -> NDArray[np.bool_]:
    return np.isin(np.nan_to_num(records.column(label).of_record, nan=np.inf), np.nan_to_num(values, nan=np.inf))


def _trial(trained: PlainRecords, tested: PlainRecords, label: str, values: Numbers) -> Trial:
    both = stacked([trained, tested])
    classes = np.searchsorted(values, both.column(label).of_record)
    features = tuple(_feature(each) for each in both.columns if each.name != label)
    return Trial(features, classes, len(trained))


def _feature(column: PlainColumn) -> Feature:
    if not column.is_numeric:
        return Feature(column.name, column.of_record.astype(np.intp), None)
    numbers, places = np.unique(column.of_record, return_inverse=True)
    return Feature(column.name, places, numbers)
