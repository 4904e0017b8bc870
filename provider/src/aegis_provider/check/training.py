"""The models trained on every table in every fold, until time is up."""

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from time import monotonic

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

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
        of_all = len(MODELS) * len(self.tables) * len(self.folds)
        # Folds are trained at the same time. More threads within one would wait for each other on a busy machine, and
        # add up sums in another order.
        one_thread = partial(threadpool_limits, 1)  # OpenMP's limit is one of each thread, that of BLAS one of all
        with (
            one_thread(),
            warnings.catch_warnings(),
            ThreadPoolExecutor(os.cpu_count(), initializer=one_thread) as pool,
        ):
            warnings.simplefilter("ignore", ConvergenceWarning)
            for done, (model, table) in enumerate(product(MODELS, self.tables)):
                probabilities = np.zeros((len(self.labels), int(self.labels.max()) + 1))
                trained = pool.map(partial(self._train, model, table, probabilities), range(len(self.folds)))
                finished = True
                for fold, each in enumerate(trained, start=1):
                    finished = finished and each
                    self.progress(done * len(self.folds) + fold, of_all)
                yield model, table, probabilities if finished else None

    def _train(self, model: str, table: str, probabilities: Matrix, place: int) -> bool:
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
