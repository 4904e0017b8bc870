"""Measures the utility and fidelity of a release against its table."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from aegis_provider.check.estimates import Estimate, Numbers, accuracy, r_squared, root_mean_square, weighted_auc
from aegis_provider.check.masked_records import MODELS, Feature, Fold, Labels, fitting_of
from aegis_provider.classifiers import AUC, CHANCE, R2, REGRESSORS, Fitting, Matrix
from aegis_provider.errors import TableError, refuse_without, shortened
from aegis_provider.plan.model import Plan
from aegis_provider.processes import Progress, results
from aegis_provider.synth.fidelity.comparison import Comparison
from aegis_provider.synth.fidelity.encoding import PlainRecords, stacked
from aegis_provider.synth.fidelity.parts import Parts, parts_of
from aegis_provider.synth.fidelity.result import Fidelity, ModelValue
from aegis_provider.synth.released.opening import Opened, open_release
from aegis_provider.table import Source, table_name

MOST_CLASSES: Final = 50
"""With more label values, classes have too few records, and training takes long."""


@dataclass(frozen=True, eq=False)
class Trial:
    """Training records, followed by test records.

    Attributes:
        labels: (records,) Their classes.
        numbers: (records,) What is predicted if the label is a number: the scores of its bins.
    """

    features: tuple[Feature, ...]
    labels: Labels
    trained: int
    numbers: Numbers | None = None

    def fitting(self, model: str) -> Fitting:
        """Return a model to train, and the records to predict."""
        fold = Fold(np.arange(self.trained), np.arange(self.trained, len(self.labels)))
        return fitting_of(model, self.features, self.labels, fold.train, fold, self.numbers)

    @property
    def tested(self) -> Labels:
        """(tested records,) The classes of the test records."""
        return self.labels[self.trained :]

    @property
    def guessed(self) -> float:
        """The accuracy of always guessing the most frequent class of the training records, or their mean's error."""
        if self.numbers is not None:
            learnt, tested = np.split(self.numbers, [self.trained])
            return float(np.sqrt(np.mean((tested - learnt.mean()) ** 2)))
        return float((self.tested == np.bincount(self.labels[: self.trained]).argmax()).mean())


@dataclass(frozen=True, eq=False)
class Trials:
    """The same models, trained on released and on equally many real records."""

    released: Trial
    real: Trial

    @classmethod
    def of(cls, parts: Parts, label: str, rng: np.random.Generator, scores: Numbers | None = None) -> "Trials":
        """Return the training and test records.

        Released records with a label value that no real record has are left out. `scores`: (values of the label,) what
        is predicted if it is a number; `None` if it has classes.

        Raises:
            TableError: The label has too few or too many values, or none of them is in the release.
        """
        values = _classes(parts, label)
        own = parts.learnt.column(label).of_record
        released = parts.learnt.take(np.isin(np.nan_to_num(own, nan=np.inf), np.nan_to_num(values, nan=np.inf)))
        if not len(released):
            raise TableError(f"no released value of the label {shortened(label)} is one of the table's")
        rows = np.sort(rng.permutation(len(parts.real))[: len(released)])
        both = (released, parts.read), (parts.real.take(rows), parts.tested)
        return cls(*(_trial(learnt, tested, label, values, scores) for learnt, tested in both))

    def values(self, done: Callable[[int, int], None]) -> Iterator[ModelValue]:
        """Train all models, and yield the performance of each."""
        models = MODELS if self.real.numbers is None else tuple(REGRESSORS)
        fittings = [each.fitting(name).probabilities for name in models for each in (self.released, self.real)]
        found = results(fittings, self.real.trained)
        for number, (name, released, real) in enumerate(zip(models, found, found, strict=True)):
            yield self._value(name, released, real)
            done(number + 1, len(models))

    def _value(self, name: str, released: Matrix, real: Matrix) -> ModelValue:
        (auc, right), (real_auc, real_right) = map(self._reached, (released, real))
        least, nothing, most = (0.0, CHANCE, 1.0) if self.real.numbers is None else (-np.inf, 0.0, np.inf)
        certain = real_auc.interval(-np.inf).low > nothing
        return ModelValue(
            model=name,
            auc=auc.interval(least, 1.0),
            real_auc=real_auc.interval(least, 1.0),
            auc_difference=(auc - real_auc).interval(-most, most),
            accuracy=right.interval(0.0, most),
            real_accuracy=real_right.interval(0.0, most),
            accuracy_difference=(right - real_right).interval(-most, most),
            kept=auc.share_of(real_auc, nothing).interval(-np.inf, np.inf) if certain else None,
        )

    def _reached(self, predicted: Matrix) -> tuple[Estimate, Estimate]:
        """Return the AUC and the accuracy on the tested records; of a number, `R^2` and the error."""
        labels = self.real.tested
        if self.real.numbers is None:
            tested, classes = np.unique(labels, return_inverse=True)
            return weighted_auc(predicted[:, tested], classes), accuracy(predicted, labels)
        numbers, every = self.real.numbers[self.real.trained :], np.arange(len(labels))
        explained = r_squared(predicted[:, 0], numbers, labels, [Fold(every, every)])
        return explained, root_mean_square(predicted[:, 0], numbers, labels)


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


def _trial(trained: PlainRecords, tested: PlainRecords, label: str, values: Numbers, scores: Numbers | None) -> Trial:
    both = stacked([trained, tested])
    classes = np.searchsorted(values, both.column(label).of_record)
    predicted = None if scores is None else scores[both.column(label).of_record.astype(np.intp)]
    features = []
    for column in (each for each in both.columns if each.name != label):
        if column.is_numeric:
            numbers, places = np.unique(column.of_record, return_inverse=True)
            features.append(Feature(column.name, places, numbers))
        else:
            features.append(Feature(column.name, column.of_record.astype(np.intp), None))
    return Trial(tuple(features), classes, len(trained), predicted)


_FOR_TRAINING, _FOR_COMPARING, _FOR_CHANCE = 2, 3, 4
_STEPS: Final = 5
"""Three trainings, the comparison, and the embedding."""


def fidelity(
    release: Source,
    table: Source,
    *,
    plan: Plan | None = None,
    configuration: str | None = None,
    label: str | None = None,
    holdout: float | None = None,
    embed: bool = False,
    delimiter: str | None = None,
    memory_limit: str = "1GB",
    seed: int = 0,
    person: str | None = None,
    rows_per_person: int | None = None,
    progress: Progress = lambda _done, _total: None,
) -> Fidelity:
    """Measure the utility of a release for training models, and its fidelity to the table.

    Models are tested on held-out real records. Without any, as for masked tables, a fifth of the real records is drawn
    for tests, and their rows are removed from the release if each of its rows masks a record. Models treat masked
    values as separate values, and predict the scores of the bins of a number. For everything else, a masked value is
    replaced by a random value that it stands for, and the release is compared with half of its real records. Equal
    arguments give equal results.

    Source: docs/fidelity.md lists the source of each measure.

    Args:
        release: The release: anything that `open_table` accepts.
        holdout: The share of records held out from the release; see `open_release`.
        embed: Whether to return points in two dimensions, too; takes some seconds.
        delimiter: The delimiter of CSV files; by default, the one in each header.
        person: The column of the table that says whose a record is; by default that of the plan. Nobody is split.
        rows_per_person: The most records of a person that are used.
        progress: Called with the number of steps done, and of all.

    Raises:
        AegisError: scikit-learn is not installed.
        PlanError: The plan has no such configuration.
        TableError: A table cannot be read or is too small, they share no column besides the label, or the label cannot
            be predicted.
    """
    refuse_without("check")
    if plan is None and label is None:
        raise TableError("no label is named; name the label that models should predict")
    opened = open_release(
        release,
        table,
        plan=plan,
        configuration=configuration,
        label=label,
        holdout=holdout,
        delimiter=delimiter,
        memory_limit=memory_limit,
        seed=seed,
        person=person,
        rows_per_person=rows_per_person,
    )
    _refuse_unlike(opened, table_name(release), table_name(table))
    return _measured(opened, parts_of(opened, table_name(release), seed), seed, progress, embed=embed)


def _measured(opened: Opened, parts: Parts, seed: int, progress: Progress, *, embed: bool) -> Fidelity:
    trials = Trials.of(parts, opened.label, np.random.default_rng([seed, _FOR_TRAINING]), opened.scores)
    models = tuple(trials.values(lambda done, _: progress(done, _STEPS)))
    compared = Comparison.of(parts, np.random.default_rng([seed, _FOR_COMPARING]))
    clusters, agreement = compared.agreement()
    progress(_STEPS - 1, _STEPS)
    embedding = compared.embedding() if embed else None
    progress(_STEPS, _STEPS)
    return Fidelity(
        label=opened.label,
        models=models,
        guessed=trials.real.guessed,
        tested=len(parts.tested),
        tested_on=parts.tested_on,
        found=parts.shown_in(parts.released),
        found_by_chance=parts.shown_in(parts.released.shuffled(np.random.default_rng([seed, _FOR_CHANCE]))),
        trained=trials.released.trained,
        trained_on_real=trials.real.trained,
        compared=len(compared.real),
        clusters=clusters,
        agreement=agreement,
        associations=compared.associations(),
        mean_difference=compared.differences(np.mean),
        largest_difference=compared.differences(np.max),
        pair_total_variation=compared.pair_total_variation(),
        frechet_distance=compared.frechet_distance(),
        embedding=embedding,
        released=opened.size,
        of_records=opened.of_records,
        drawn=len(opened.records),
        lacking=opened.lacking,
        not_understood=opened.released.not_understood,
        is_masked=opened.released.is_masked,
        scale=AUC if opened.scores is None else R2,
    )


def _refuse_unlike(opened: Opened, release: str, table: str) -> None:
    """Refuse a release without the label, or without anything else."""
    names = opened.released.names
    if opened.label not in names:
        raise TableError(
            f"{release}: no column {shortened(opened.label)}, which is the label; without it no model can be trained"
        )
    if len(names) == 1:
        raise TableError(f"{release}: no column of {table} but the label is in it; give a release with attributes")
