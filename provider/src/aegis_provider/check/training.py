"""The models trained on every table in every fold, until time is up."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import product
from time import monotonic

import numpy as np

from aegis_provider.check.folds import Fold, Labels
from aegis_provider.check.masked_records import MaskedRecords
from aegis_provider.check.models import USUAL, fitting_of
from aegis_provider.check.result import NOTHING
from aegis_provider.classifiers import Matrix
from aegis_provider.processes import results
from aegis_provider.progress import Progress


@dataclass(frozen=True, eq=False)
class Training:
    """What to train on and test.

    Attributes:
        labels: (records,) The classes.
        folds: The folds, the same for all tables.
        tables: Returns the records of each table in a fold, by its name; may be called often.
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

    def predictions(self) -> Iterator[tuple[str, str, Matrix | None]]:
        """Yield each model with each table and the (records, classes) probabilities, or `None` if time was up.

        The first table comes first, by every model: all others are compared with it, and are masked meanwhile.
        """
        names = list(self.tables)
        every = [*product(self.models, names[:1]), *product(self.models, names[1:])]
        calls = (self._call(*each, place) for each in every for place in range(len(self.folds)))
        with closing(results(calls, len(self.labels))) as found:
            yield from self._collected(every, found)

    def _collected(
        self, every: Sequence[tuple[str, str]], found: Iterator[Matrix | None]
    ) -> Iterator[tuple[str, str, Matrix | None]]:
        done = 0
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

    def _call(self, model: str, table: str, place: int) -> Callable[[], Matrix | None]:
        """Return what trains on all folds but one, and predicts the records of that one, unless time is up."""
        if table != NOTHING and monotonic() >= self.end:
            return _nothing
        fold, records = self.folds[place], self.tables[table](place)
        train = fold.train[records.shown[fold.train]]
        return partial(fitting_of(model, records.features, self.labels, train, fold).probabilities_before, self.end)


def _nothing() -> None:
    """Train nothing."""
