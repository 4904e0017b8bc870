"""The models trained on every table in every fold, until time is up."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from time import monotonic

import numpy as np

from aegis_provider.check.features import Feature
from aegis_provider.check.folds import Fold, Labels
from aegis_provider.check.masked_records import MaskedRecords, Refitted
from aegis_provider.check.models import USUAL, fitting_of
from aegis_provider.classifiers import Fitting, Matrix
from aegis_provider.processes import results
from aegis_provider.progress import Progress


@dataclass(frozen=True, eq=False)
class Training:
    """What to train on and test.

    Attributes:
        labels: (records,) The classes.
        folds: The folds, the same for all tables.
        tables: Returns the records of each table, by its name; may be called often.
        refitted: The columns of configurations that differ between the folds, if there are any.
        end: The time, by the monotonic clock, after which no further training starts.
        progress: Called with the number of trainings done, and of all.
        models: The names of the models.
    """

    labels: Labels
    folds: Sequence[Fold]
    tables: Mapping[str, Callable[[], MaskedRecords]]
    refitted: Refitted | None
    end: float
    progress: Progress
    models: Sequence[str] = USUAL

    def predictions(self) -> Iterator[tuple[str, str, Matrix | None]]:
        """Yield each model with each table and the (records, classes) probabilities, or `None` if time was up.

        The first table comes first, by every model: all others are compared with it, and are masked meanwhile.
        """
        names = list(self.tables)
        every = [*product(self.models, names[:1]), *product(self.models, names[1:])]
        fittings = (self._fitting(*each, place) for each in every for place in range(len(self.folds)))
        calls = (partial(each.probabilities_before, self.end) for each in fittings)
        done, found = 0, results(calls, len(self.labels))
        for model, table in every:
            probabilities: Matrix | None = np.zeros((len(self.labels), int(self.labels.max()) + 1))
            for fold in self.folds:
                tested = next(found)
                if tested is None:
                    probabilities = None
                elif probabilities is not None:
                    probabilities[fold.test] = tested
                done += 1
                self.progress(done, len(every) * len(self.folds))
            yield model, table, probabilities

    def _fitting(self, model: str, table: str, place: int) -> Fitting:
        """Return how to train on all folds but one, and predict the records of that one."""
        fold = self.folds[place]
        train = fold.train[self.tables[table]().shown[fold.train]]
        return fitting_of(model, self._features(table, place), self.labels, train, fold)

    def _features(self, table: str, place: int) -> Sequence[Feature]:
        """Return the columns of a table. They are not fitted anew once time is up, when nothing is trained on them."""
        records = self.tables[table]()
        if self.refitted is None or not self.refitted.changes(table) or monotonic() >= self.end:
            return records.features
        return records.with_features(self.refitted.features(table, place, self.folds[place])).features
