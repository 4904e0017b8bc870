"""The records of a table, unmasked and masked by configurations, in the same order, and what models are fitted to."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aegis_provider.classifiers import CLASSIFIERS, LOGISTIC_REGRESSION, RATES, REGRESSORS, Fitting, Matrix, stratified
from aegis_provider.counting.counted_table import CountedTable, DistinctRecords
from aegis_provider.counting.counts import Places
from aegis_provider.counting.label_scores import scores_of
from aegis_provider.errors import NothingHoldsError, TableError, shortened
from aegis_provider.plan.model import DROP, IDENTITY, Attribute, Configuration, Plan
from aegis_provider.processes import results
from aegis_provider.records import MOST_RECORDS, NUMERIC, as_numbers, drawn, numbers_of, people_in, rows_of
from aegis_provider.release.blocks import Release, Texts, blocks_of, places_of
from aegis_provider.release.promise import Promise
from aegis_provider.table import Table, open_table
from aegis_provider.table.discretization import undiscretized
from aegis_provider.table.values import MISSING, Domain, infer_type


@dataclass(frozen=True, eq=False)
class Feature:
    """A column of a table.

    Attributes:
        places: (records,) The place of each value in the order of the domain.
        numbers: (values,) The number of each value, NaN if it is missing; `None` if the values are categories.
    """

    name: str
    places: Places
    numbers: NDArray[np.float64] | None


Labels: TypeAlias = NDArray[np.intp]
"""(records,) The class of each record, from 0."""


@dataclass(frozen=True, eq=False)
class Fold:
    """The records to train on and those to test on, as ascending indices."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def folds_of(labels: Labels, count: int, seed: int, people: Places | None = None) -> list[Fold]:
    """Split the records at random, with about the same share of each class in every fold, and each person in one.

    `people`: (records,) The number of the person of each; `None` if records are people.
    """
    [split] = results([partial(stratified, labels, count, seed, people)], len(labels))
    return [Fold(train, test) for train, test in split]


MODELS: Final = tuple(CLASSIFIERS)
"""The names of the models."""

USUAL: Final = (LOGISTIC_REGRESSION, "gradient boosting")
"""The models of a check, which trains many: a forest takes longer and ranks tables alike."""

LINEAR: Final = (LOGISTIC_REGRESSION, next(iter(REGRESSORS)))
"""The models that get indicators of values."""

# Numbers with more different values have no indicators.
_MOST_INDICATORS: Final = 50


def fitting_of(
    model: str,
    features: Sequence[Feature],
    labels: Labels,
    train: NDArray[np.intp],
    fold: Fold,
    numbers: Matrix | None = None,
) -> Fitting:
    """Return a model to fit, and the records of the fold's test to predict.

    `train`: the records of the fold that the release shows, to train on. If there are none, only the shares of the
    classes in the fold are used. `numbers`: (records,) what to predict instead of classes, if the label is a number.
    """
    features = [feature for feature in features if feature.places.min() < feature.places.max()]  # others tell nothing
    known, classes = (train if len(train) else fold.train), int(labels.max()) + 1
    if not features or len(np.unique(labels[train])) <= 1:
        nothing = np.zeros((len(labels), 1))
        told = None if numbers is None else numbers[known]
        return Fitting(RATES, nothing[known], labels[known], nothing[fold.test], classes, numbers=told)
    listed, columns = 0, list[NDArray[np.intp] | NDArray[np.float64]]([feature.places for feature in features])
    if model in LINEAR:
        shown = [
            feature.places
            for feature in features
            if feature.numbers is None or len(np.unique(feature.places)) <= _MOST_INDICATORS
        ]
        scaled = [feature.numbers[feature.places] for feature in features if feature.numbers is not None]
        listed, columns = len(shown), [*shown, *scaled]
    matrix = np.column_stack(columns).astype(np.float64)
    told = None if numbers is None else numbers[known]
    return Fitting(model, matrix[known], labels[known], matrix[fold.test], classes, listed, numbers=told)


_FEWEST_CLASSES: Final = 2


Refit: TypeAlias = Callable[[Plan, pa.Table], Plan]
"""Returns a plan with its `fitted_to_label` attributes fitted to some records only: a column of texts for each of its
`columns`; a missing value is `""`. Maskings retain their ids, and mask every value that they mask in the plan, even one
absent from these records.
"""

Choose: TypeAlias = Callable[[CountedTable, Plan, DistinctRecords, int], Sequence[Configuration]]
"""Returns at most this many configurations, the best first, chosen as if only some records had a known label: from the
table, all of whose records must be private, its plan, and the places of the values and labels of these records.
Raises `NothingHoldsError` if no configuration meets the requirement.
"""


@dataclass(frozen=True, eq=False)
class MaskedRecords:
    """The records masked by a configuration. `shown`: (records,) Whether the release contains the record."""

    features: tuple[Feature, ...]
    shown: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class CheckedRecords:
    """The records used in a check.

    Attributes:
        plan: The plan of `texts`, which are written plainly and have the types of the table.
        chosen: (records,) The places of the records in the table, ascending.
        texts: The records: a column of texts for each of the plan's columns.
        labels: (records,) The class of each record, from 0.
        rare: The numbers of records of label values that are left out for having fewer people than folds.
        people: (records,) The number of the person of each record; `None` if records are people.
        numbers: (records,) The numbers of a label in bins, or the scores of its coarser bins if it is masked; `None` if
            the label has classes.
    """

    counted: CountedTable
    plan: Plan
    chosen: NDArray[np.intp]
    texts: pa.Table
    labels: Labels
    rare: Mapping[str, int]
    people: Places | None = None
    numbers: Matrix | None = None

    @classmethod
    def read(cls, table: Table, plan: Plan, folds: int, seed: int, shown_as: str = IDENTITY) -> "CheckedRecords":
        """Read at most `MOST_RECORDS` records, without label values that are too rare for the folds.

        Args:
            shown_as: The masking of the label. A masked one has classes, or the mean scores of merged bins.

        Raises:
            TableError: The table cannot be read or does not fit the plan, or only one label value is frequent enough.
            PlanError: The plan's scores do not fit the label's values.
        """
        counted = CountedTable.of(table, plan)
        chosen = drawn(counted.records, MOST_RECORDS, seed)
        plainly = undiscretized(counted.table)
        whose = [] if counted.person is None else [counted.person]
        rows = rows_of(plainly.batches([*plan.columns, *whose]), chosen).columns
        texts = pa.table(rows[: len(plan.columns)], names=plan.columns)
        people = people_in(rows[-1]) if whose else np.arange(len(chosen))
        [shown] = _wholes(rows_of(counted.table.batches([plan.label]), chosen))  # in the bins of a number
        texts_of_label, mapping = _shown_label(counted, plan, shown_as)
        values, labels = np.unique(places_of(shown, counted.label.places, mapping), return_inverse=True)
        sizes, records = np.bincount(np.unique(np.stack([people, labels]), axis=1)[1]), np.bincount(labels)
        if (sizes >= folds).sum() < _FEWEST_CLASSES:
            raise TableError(
                f"{table.name}: the label {shortened(plan.label)} has fewer than two values with {folds} "
                f"{'people' if whose else 'records'} or more, so models cannot be trained and tested on it"
            )
        rare = {texts_of_label[values[each]]: int(records[each]) for each in np.flatnonzero(sizes < folds)}
        kept, numbers = sizes[labels] >= folds, None
        if plan.label in plan.binned:
            numbers = np.array(as_numbers([each or None for each in texts.column(plan.label).to_pylist()]))
            kept &= ~np.isnan(numbers)
            if mapping is not None:
                numbers = _scores_shown(counted, plan, mapping)[values[labels]]
        _, classes = np.unique(labels[kept], return_inverse=True)
        plain = plan.of_plain_table()  # with the types of the whole counted table
        types = {attribute.attribute.name: attribute.domain.value_type for attribute in counted.attributes}
        attributes = (
            attribute if attribute.discretization else replace(attribute, value_type=types[attribute.name])
            for attribute in plain.attributes
        )
        plain = replace(plain, attributes=tuple(attributes))
        told = people[kept] if whose else None
        known = None if numbers is None else numbers[kept]
        return cls(counted, plain, chosen[kept], texts.filter(pa.array(kept)), classes, rare, told, known)

    @cached_property
    def coded(self) -> DistinctRecords:
        """The records as places of their values, in any bins of the plan, and of their labels."""
        domains = {attribute.attribute.name: attribute.domain for attribute in self.counted.attributes}
        domains.setdefault(self.plan.label, self.counted.label)
        columns = _wholes(rows_of(self.counted.table.batches(list(domains)), self.chosen))
        codes = [places_of(texts, each.places) for texts, each in zip(columns, domains.values(), strict=True)]
        ones = np.ones(len(self.chosen), dtype=np.int64)
        return DistinctRecords(tuple(domains), tuple(domains.values()), np.stack(codes, axis=1), ones)

    def with_plan(self, plan: Plan) -> "CheckedRecords":
        """Return the same records with other maskings of their attributes."""
        named = {attribute.name: attribute for attribute in plan.attributes}
        attributes = tuple(
            replace(attribute, attribute=named[attribute.attribute.name]) for attribute in self.counted.attributes
        )
        return replace(self, counted=replace(self.counted, attributes=attributes), plan=plan)

    def as_it_is(self) -> MaskedRecords:
        """Return the records unmasked and without bins."""
        features = []
        for attribute in self.plan.attributes:
            texts = self.texts.column(attribute.name).combine_chunks()
            domain = Domain.of(texts.unique().to_pylist(), attribute.value_type)
            features.append(Feature(attribute.name, places_of(texts, domain.places), numbers_of(domain)))
        return MaskedRecords(tuple(features), np.ones(len(self.chosen), dtype=bool))

    def masked(self, configuration: Configuration) -> MaskedRecords:
        """Return the records as the configuration masks them.

        Raises:
            TableError: As in `apply`.
        """
        release = Release.of(self.counted, self.plan, configuration)
        promise = Promise.of(release, self.plan, configuration)
        blocks: Iterable[pa.RecordBatch] = release.blocks()
        if not configuration.suppresses:
            everything = np.ones(len(self.chosen), dtype=bool)
            return MaskedRecords(_features(release, _wholes(rows_of(blocks, self.chosen))), everything)
        suppression = promise.suppression(promise.judged.blocks())
        marked = map(suppression.marked, release.by_person().blocks())
        rows = rows_of((block.append_column("shown", pc.invert(left_out)) for block, left_out in marked), self.chosen)
        return MaskedRecords(_features(suppression.release, _wholes(rows)), rows.column("shown").to_numpy())


def _shown_label(counted: CountedTable, plan: Plan, masking: str) -> tuple[Sequence[str], Places | None]:
    """Return the texts of the label as a masking shows it, and (values,) the place of each value among these."""
    label = counted.masked_label(plan)
    if label is None or masking == IDENTITY:
        return counted.label.texts, None
    masked = counted.masked_domains(label)[masking]
    return masked.texts, masked.partition().groups


def _scores_shown(counted: CountedTable, plan: Plan, groups: Places) -> NDArray[np.float64]:
    """Return the score of each merged bin of a masked label, the mean of its records' scores, as answers take it."""
    histogram = counted.attributes[0].counts.label_histogram()
    scores = np.array((scores_of(counted, plan, plan.label, histogram) or {})["values"], dtype=np.float64)
    weights = np.maximum(histogram, 1e-9)  # a group without records has a score, too
    means: NDArray[np.float64] = np.bincount(groups, weights * scores) / np.bincount(groups, weights)
    return means


@dataclass(frozen=True, eq=False)
class Refitted:
    """The masked records in each fold, with maskings fitted only to the label of the training records."""

    records: CheckedRecords
    configurations: Sequence[Configuration]
    refit: Refit
    folds: Sequence[Fold]
    _by_fold: dict[int, Mapping[str, Mapping[str, Feature]]] = field(default_factory=dict)

    def masked(self, whole: Callable[[], MaskedRecords], configuration: str, place: int) -> MaskedRecords:
        """Return the masked records of a configuration, with the columns refitted in the fold at this place.

        Raises:
            TableError: A refitted masking has no masked value for a value.
        """
        [chosen] = [each for each in self.configurations if each.id == configuration]
        if not any(is_fitted(attribute, chosen) for attribute in self.records.plan.attributes):
            return whole()
        if place not in self._by_fold:
            self._by_fold[place] = dict(self._of(self.folds[place]))
        again, known = self._by_fold[place][configuration], whole()
        return replace(known, features=tuple(again.get(feature.name, feature) for feature in known.features))

    def _of(self, fold: Fold) -> Iterator[tuple[str, Mapping[str, Feature]]]:
        plan = self.refit(self.records.plan, self.records.texts.take(pa.array(fold.train)))
        attributes = {attribute.name: attribute for attribute in plan.attributes if attribute.fitted_to_label}
        read, texts = self._read
        counted = replace(
            read,
            attributes=tuple(
                replace(attribute, attribute=attributes[attribute.attribute.name]) for attribute in read.attributes
            ),
        )
        plan = replace(plan, attributes=tuple(attributes.values()))
        for configuration in self.configurations:
            maskings = {name: choice for name, choice in configuration.maskings.items() if name in attributes}
            release = Release.of(counted, plan, replace(configuration, maskings=maskings))
            yield configuration.id, {feature.name: feature for feature in _features(release, release.masked(texts))}

    @cached_property
    def _read(self) -> tuple[CountedTable, Mapping[str, Texts]]:
        """The attributes fitted to the label, counted in the records, and their columns with the label's."""
        plan = self.records.plan
        plan = replace(plan, attributes=tuple(attribute for attribute in plan.attributes if attribute.fitted_to_label))
        with open_table(self.records.texts) as opened:
            counted = CountedTable.of(opened, plan)
            names = {plan.label, *(attribute.name for attribute in plan.attributes)}
            wanted = [name for name in counted.table.columns if name in names]
            [block] = blocks_of(counted.table.batches(wanted), len(self.records.labels))
            closed = replace(counted.table, finder=None)  # a closed table cannot find the row of a value
            return replace(counted, table=closed), dict(zip(wanted, block.columns, strict=True))


@dataclass(frozen=True, eq=False)
class ChosenAnew:
    """The masked records in each fold, by the configurations chosen from its training records alone.

    Attributes:
        configurations: The configurations chosen from all records, the best first.
        refit: Refits maskings to the label; `None` if there are none.
    """

    records: CheckedRecords
    configurations: Sequence[Configuration]
    choose: Choose
    refit: Refit | None
    folds: Sequence[Fold]
    _by_fold: dict[int, Sequence[MaskedRecords]] = field(default_factory=dict)

    def masked(self, rank: int, place: int) -> MaskedRecords:
        """Return the records as the configuration of this rank masks them in a fold."""
        if place not in self._by_fold:
            self._by_fold[place] = self._of(self.folds[place])
        return self._by_fold[place][rank]

    def _of(self, fold: Fold) -> Sequence[MaskedRecords]:
        records, known = self.records, self.records.coded
        if self.refit is not None:
            records = records.with_plan(self.refit(records.plan, records.texts.take(pa.array(fold.train))))
        told = replace(known, codes=known.codes[fold.train], counts=known.counts[fold.train])
        try:
            chosen = self.choose(records.counted, records.plan, told, len(self.configurations))
        except NothingHoldsError:  # with refitted maskings
            chosen = self.configurations
        masked = [records.masked(configuration) for configuration in chosen]
        return [*masked, *masked[-1:] * (len(self.configurations) - len(masked))]


def is_fitted(attribute: Attribute, configuration: Configuration) -> bool:
    """Return whether a configuration's masking of an attribute depends on the label."""
    return attribute.fitted_to_label and configuration.maskings[attribute.name] not in {IDENTITY, DROP}


def _wholes(rows: pa.Table) -> list[Texts]:
    return [column.combine_chunks() for column in rows.columns]


def _features(release: Release, texts: Sequence[Texts]) -> tuple[Feature, ...]:
    originals = {attribute.attribute.name: attribute.domain for attribute in release.counted.attributes}
    features = []
    for place, column in enumerate(release.columns):
        if column.name in originals:
            original, texts_there = originals[column.name], column.domain.texts
            numbers = None
            if column.domain is original:
                numbers = numbers_of(column.domain)
            elif original.value_type in NUMERIC and infer_type(texts_there) in NUMERIC:  # so are the unmasked values
                numbers = as_numbers([None if text == MISSING else text for text in texts_there])
            places = places_of(texts[place], column.domain.places)
            features.append(Feature(column.name, places, numbers))
    return tuple(features)
