"""The models trained on every table in every fold, until time is up."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from time import monotonic

import numpy as np
from sklearn.model_selection import StratifiedKFold

from aegis_provider.check.features import Feature
from aegis_provider.check.folds import Fold, Labels
from aegis_provider.check.masked_records import MaskedRecords, Refitted
from aegis_provider.check.models import MODELS, Matrix, predicted
from aegis_provider.progress import Progress


def folds_of(labels: Labels, count: int, seed: int) -> list[Fold]:
    """Split the records at random, with about the same share of each class in every fold; each has `count` records."""
    split = StratifiedKFold(count, shuffle=True, random_state=seed)
    return [Fold(train, test) for train, test in split.split(labels, labels)]


@dataclass(frozen=True, eq=False)
class Training:
    """What to train on and test.

    Attributes:
        labels: (records,) The classes.
        folds: The folds, the same for all tables.
        tables: The records of each table, by its name.
        refitted: The columns of configurations that differ between the folds, if there are any.
        end: The time, by the monotonic clock, after which no further training starts.
        progress: Called with the number of trainings done, and of all.
    """

    labels: Labels
    folds: Sequence[Fold]
    tables: Mapping[str, MaskedRecords]
    refitted: Refitted | None
    end: float
    progress: Progress

    def predictions(self) -> Iterator[tuple[str, str, Matrix | None]]:
        """Yield each model with each table and the (records, classes) probabilities, or `None` if time was up."""
        done, of_all = 0, len(MODELS) * len(self.tables) * len(self.folds)
        for model, table in product(MODELS, self.tables):
            probabilities: Matrix | None = np.zeros((len(self.labels), int(self.labels.max()) + 1))
            for place in range(len(self.folds)):
                if probabilities is None or not self._train(model, table, place, probabilities):
                    probabilities = None
                done += 1
                self.progress(done, of_all)
            yield model, table, probabilities

    def _train(self, model: str, table: str, place: int, probabilities: Matrix) -> bool:
        """Train on all folds but one, and set the probabilities of the records in that one, unless time is up."""
        fold, records = self.folds[place], self.tables[table]
        if records.features and monotonic() >= self.end:
            return False
        train = fold.train[records.shown[fold.train]]
        features = self._features(table, place)
        probabilities[fold.test] = predicted(model, features, self.labels, train, fold)
        return True

    def _features(self, table: str, place: int) -> Sequence[Feature]:
        records = self.tables[table]
        if self.refitted is None or not self.refitted.changes(table):
            return records.features
        return records.with_features(self.refitted.features(table, place, self.folds[place])).features
