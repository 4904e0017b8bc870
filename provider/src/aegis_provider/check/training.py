"""Trains the models on every table in every fold, until time is up."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from time import monotonic

import numpy as np

from aegis_provider.check.estimates import weighted_auc
from aegis_provider.check.masked_records import MaskedRecords
from aegis_provider.check.models import USUAL, Fold, Labels, fitting_of
from aegis_provider.check_result import CHANCE, NOTHING
from aegis_provider.classifiers import Matrix
from aegis_provider.processes import results
from aegis_provider.progress import Progress


@dataclass(frozen=True, eq=False)
class Predictions:
    """The predictions of a model.

    Attributes:
        probabilities: (records, classes) By the model of the fold that tests the record.
        on_trained: (folds,) The AUC of each fold's model on its training records.
    """

    probabilities: Matrix
    on_trained: Sequence[float]


@dataclass(frozen=True, eq=False)
class Training:
    """The training and test data, and limits.

    Attributes:
        labels: (records,) The classes.
        folds: The folds, the same for all tables.
        tables: By name, a function that returns a table's records in a fold; may be called often.
        end: The time, by the monotonic clock, after which no further training starts.
        progress: Called with the number of trainings done, and of all.
        models: The names of the models.
    """

    labels: Labels
    folds: Sequence[Fold]
    tables: Mapping[str, Callable[[int], MaskedRecords]]
    end: float
    progress: Progress
    models: Sequence[str] = USUAL

    def predictions(self) -> Iterator[tuple[str, str, Predictions | None]]:
        """Yield each model with each table and its predictions, or `None` if time was up.
        All models of the first table come first, since other tables are compared with it, and are masked meanwhile.
        """
        names = list(self.tables)
        every = [*product(self.models, names[:1]), *product(self.models, names[1:])]
        trained: deque[Labels] = deque()
        calls = (self._call(*each, place, trained) for each in every for place in range(len(self.folds)))
        with closing(results(calls, len(self.labels))) as found:
            yield from self._collected(every, found, trained)

    def _collected(
        self, every: Sequence[tuple[str, str]], found: Iterator[Matrix | None], trained: deque[Labels]
    ) -> Iterator[tuple[str, str, Predictions | None]]:
        done = 0
        for model, table in every:
            probabilities, on_trained = np.zeros((len(self.labels), int(self.labels.max()) + 1)), []
            for fold in self.folds:
                said, labels = next(found), trained.popleft()
                if said is not None:
                    probabilities[fold.test] = said[: len(fold.test)]
                    on_trained.append(_auc_of_known(said[len(fold.test) :], labels))
                done += 1
                self.progress(done, len(every) * len(self.folds))
            whole = len(on_trained) == len(self.folds)
            yield model, table, Predictions(probabilities, on_trained) if whole else None

    def _call(self, model: str, table: str, place: int, trained: deque[Labels]) -> Callable[[], Matrix | None]:
        """Return a call that trains on all folds but one, and predicts the records of that one, unless time is up.
        The call also predicts its training records; their classes are added to `trained`.
        """
        if table != NOTHING and monotonic() >= self.end:
            trained.append(self.labels[:0])
            return _nothing
        fold, records = self.folds[place], self.tables[table](place)
        train = fold.train[records.shown[fold.train]]
        fitting = fitting_of(model, records.features, self.labels, train, fold)
        trained.append(fitting.labels)
        return partial(replace(fitting, also_trained=True).probabilities_before, self.end)


def _auc_of_known(probabilities: Matrix, labels: Labels) -> float:
    """Return the AUC over classes with records, since a release may leave out a whole class."""
    held, classes = np.unique(labels, return_inverse=True)
    return weighted_auc(probabilities[:, held], classes).value if len(held) > 1 else CHANCE


def _nothing() -> None:
    """Train nothing."""
