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
from aegis_provider.check.models import USUAL, Matrix, predicted
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
        models: The names of the models.
    """

    labels: Labels
    folds: Sequence[Fold]
    tables: Mapping[str, MaskedRecords]
    refitted: Refitted | None
    end: float
    progress: Progress
    models: Sequence[str] = USUAL

    def predictions(self) -> Iterator[tuple[str, str, Matrix | None]]:
        """Yield each model with each table and the (records, classes) probabilities, or `None` if time was up."""
        one_thread = partial(threadpool_limits, 1)  # OpenMP's limit is one of each thread, that of BLAS one of all
        # Folds are trained at the same time. More threads within one would wait for each other on a busy machine, and
        # add up sums in another order.
        with (
            one_thread(),
            warnings.catch_warnings(),
            ThreadPoolExecutor(os.cpu_count(), initializer=one_thread) as pool,
        ):
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                yield from self._collected(pool)
            finally:
                pool.shutdown(cancel_futures=True)

    def _collected(self, pool: ThreadPoolExecutor) -> Iterator[tuple[str, str, Matrix | None]]:
        shape, folds = (len(self.labels), int(self.labels.max()) + 1), range(len(self.folds))
        submitted = []
        for model, table in product(self.models, self.tables):
            probabilities = np.zeros(shape)
            train = partial(self._train, model, table, probabilities)
            submitted.append((model, table, probabilities, [pool.submit(train, place) for place in folds]))
        done = 0
        for model, table, probabilities, trained in submitted:
            finished = True
            for each in trained:
                finished = each.result() and finished
                done += 1
                self.progress(done, len(submitted) * len(folds))
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
