"""The held-out performance of logistic regression on a masked table, from its counts of one and two attributes.

A linear score of the masked values has a mean in each class and a variance that the counts give exactly; only the shape
of its distribution they leave open. It is taken from made-up records (`population`), on which no more than the
score is read. Two scores are tried, the linear discriminant and logistic regression's weights; the better one counts.
What it explains of the class is reduced to what it will explain of new records ([@browne1975], equation 2.8).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final, Self

import numpy as np

from aegis_advisor.arrays import Codes, FloatArray, IntArray
from aegis_advisor.evidence import AttributeEvidence, PairCounts
from aegis_advisor.expected.logistic import area, fitted, linked
from aegis_advisor.expected.population import population
from aegis_advisor.joint.design import Design, Estimate, Masked, Scored, known_label
from aegis_advisor.measures.association import trace_bias
from aegis_advisor.measures.partial_table import numbers_of

TRAINED: Final = 0.8
"""The part of the records that a model learns from: four of five folds."""

OFF: Final = 0.009
"""Half of the 90 % interval: 1.645 times the formula's root mean square error on the tables that it was chosen on.

Of several classes, each is told from fewer records than of equal ones: its error grows as the root of their ratio.
"""

OFF_NUMBER: Final = 0.007
"""How far the interval of `R^2` reaches beyond what binning leaves open."""

MOST: Final = 0.99
"""The most of a class's variance that a score explains of a table of which only the trace is known."""

MOST_VALUES: Final = 1_000
"""The most masked values of a configuration; the computation then takes about a second."""

MOST_REFITTED: Final = 300
"""The most masked values for which logistic regression's weights are tried."""

FAR: Final = 4.0
"""A direction of inexact correlations counts if its eigenvalue is so many standard deviations above 0."""

DEPENDENT: Final = 1e-8
"""The eigenvalue up to which a direction of exact correlations depends on the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a linear model is expected to reach on records that it has not seen: classes or, with `r2`, a number.

    Attributes:
        auc: of logistic regression for two classes; for more, the mean over the classes, each against the rest.
        accuracy: the share of records whose class it names.
        r2: of linear regression: the share of the number's variance that it explains.
        rmse: its root mean square error, in the number's unit; None if the number's variance is not stated.
        low: the lower limit of the 90 % interval of `auc` or `r2`.
        high: the upper limit.
    """

    auc: float | None = None
    accuracy: float | None = None
    r2: float | None = None
    rmse: float | None = None
    low: float
    high: float

    @property
    def in_two_digits(self) -> Self:
        """These numbers to two digits, `rmse` to two significant ones: exact ones are an equation for the counts.

        The interval and `rmse` are those of the rounded number. Rounded themselves, they would say more of it.
        """
        number = self.auc if self.r2 is None else self.r2
        rounded = 0.0 if number is None else round(number, 2)
        moved = 0.0 if number is None else rounded - number
        rmse, left = self.rmse, 1.0 - (number or 0.0)
        if rmse is not None:
            rmse = float(f"{rmse * np.sqrt((1.0 - rounded) / left) if left > 0 else 0.0:.2g}")
        low, high = max(round(self.low + moved, 2), 0.0), min(round(self.high + moved, 2), 1.0)
        given = {"auc": self.auc, "accuracy": self.accuracy, "r2": self.r2}
        told = {name: None if one is None else round(one, 2) for name, one in given.items()}
        return replace(self, **told, rmse=rmse, low=low, high=high)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """An attribute of a configuration.

    Attributes:
        columns: its columns in the design.
        functions: (size, values) the design's functions of its masked values with records.
        shares: (values,) of the records.
        joint: (values, labels) counts.
    """

    columns: IntArray
    functions: FloatArray
    shares: FloatArray
    joint: FloatArray

    @classmethod
    def of(cls, masked: Masked, columns: IntArray) -> Self:
        held, joint = masked.basis.held, np.maximum(masked.joint, 0.0)[masked.basis.held]
        functions = masked.basis.project(np.eye(len(masked.joint)))[:, held]
        return cls(columns, functions, joint.sum(axis=1) / joint.sum(), joint)


def generalised(adjusted: float, dimensions: int, records: int) -> float:
    """The squared correlation of a fitted score and the class in new records.

    Args:
        adjusted: the part of the class's variance that the best score explains of all records there are, as the
            adjusted `R^2`.
        dimensions: how many weights are fitted.
        records: how many records there are; `TRAINED` of them are fitted to.
    """
    chance = 2 * dimensions * (1 - adjusted) ** 2 / ((records - 1) * max(records - dimensions + 1, 1))
    fourth, fitted_to = max(adjusted**2 - chance, 0.0), TRAINED * records
    below = (fitted_to - 2 * dimensions - 2) * adjusted + dimensions
    return min(max((fitted_to - dimensions - 3) * fourth + adjusted, 0.0) / below, adjusted) if below > 0 else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """A masked table, as its counts show it.

    Attributes:
        correlations: (columns, columns) of the functions of all parts.
        labels: (columns, targets) with the standardised indicator of each class, or the standardised scores.
        whitening: (columns, dimensions) `W` such that `W W'` inverts the correlations in the directions that are kept.
        chance: (targets,) what errors of the counts add to the share explained.
        classes: (classes,) the shares of the records, none of them 0.
    """

    parts: Sequence[_Part]
    correlations: FloatArray
    labels: FloatArray
    whitening: FloatArray
    chance: FloatArray
    classes: FloatArray
    records: int

    @classmethod
    def of(cls, design: Design, row: Sequence[int], label: IntArray) -> Self:
        """Read the table of a configuration, its codes in `row` (attributes,), off a design.

        Args:
            label: (labels,) the records of each label value.
        """
        used = [(of[code], at[code]) for of, at, code in zip(design.masked, design.columns, row, strict=True)]
        parts = [_Part.of(masked, columns) for masked, columns in used if masked is not None]
        columns = np.concatenate([part.columns for part in parts]) if parts else np.zeros(0, dtype=np.int64)
        held, shares = np.flatnonzero(label), label[label > 0] / label.sum()
        functions = design.label.project(np.eye(label.size))
        if isinstance(design.label, Scored):
            targets = np.eye(len(functions))
        else:
            targets = functions[:, held] * np.sqrt(shares / np.maximum(1 - shares, 1e-12))
        correlations = design.correlations[np.ix_(columns, columns)]
        values, vectors = np.linalg.eigh(correlations)
        kept, chance = values > DEPENDENT, np.zeros(targets.shape[1])
        if design.variance is not None:
            moved = _moved(design.variance.correlations[np.ix_(columns, columns)], vectors)
            kept &= values > FAR * moved
        whitening = vectors[:, kept] / np.sqrt(values[kept])
        if design.variance is not None:
            spread = np.square(targets.T @ functions).sum(axis=1) / max(float(np.square(functions).sum()), 1e-300)
            chance = float(np.square(whitening).sum(axis=1) @ design.variance.labels[columns]) * spread
        labels = design.labels[columns] @ targets
        return cls(parts, correlations, labels, whitening, chance, shares, int(label.sum()))

    @property
    def scored(self) -> range:
        """The classes that are told from the rest: one of two, or all."""
        return range(1, 2) if self.classes.size == 2 else range(self.classes.size)  # noqa: PLR2004

    def blocks(self) -> Iterator[tuple[_Part, slice]]:
        """Yield each part with its place in the correlations."""
        end = 0
        for part in self.parts:
            yield part, slice(end, end := end + part.columns.size)

    def expected(self, trace: float | None = None, dimensions: int = 0) -> Expected:
        """What is expected of a model; with a trace, of a finer table of two classes with so many dimensions."""
        if not self.whitening.shape[1] or self.classes.size < 2:  # noqa: PLR2004
            return Expected(auc=0.5, accuracy=float(self.classes.max(initial=0.0)), low=0.5, high=0.5)
        told = [_Told.of(self, one) for one in self.scored]
        if trace is not None:
            times = trace / max(told[0].score.adjusted, 1e-300)
            told = [_Told.by(self, self.scored[0], told[0].score, times, dimensions)]
        auc, accuracy = _of_several(self, told) if len(told) > 1 else _of_two(told[0])
        off = OFF * (float(np.mean(np.sqrt(1 / (self.classes.size * self.classes)))) if len(told) > 1 else 1.0)
        return Expected(auc=auc, accuracy=accuracy, low=max(auc - off, 0.5), high=min(auc + off, 1.0))

    def solved(self, target: int) -> tuple[FloatArray, float]:
        """The coefficients (columns,) of least squares for a target, and the share of its variance they explain."""
        coefficients = self.whitening @ (self.whitening.T @ self.labels[:, target])
        return coefficients, max(float(coefficients @ self.labels[:, target] - self.chance[target]), 0.0)

    def expected_number(self, between: float, variance: float) -> Expected:
        """What is expected of a model of a number with this variance, that of its scores being `between`.

        Of new records, `1 - (1 - r^2) (m - 2) / (m - k - 2) (m + 1) / m` is explained by `k` weights fitted to `m`
        records [@darlington1968]. Within a bin nothing is taken to be predicted; the interval reaches to where as much
        is as between bins.
        """
        dimensions, fitted_to = self.whitening.shape[1], TRAINED * self.records
        explained, left = self.solved(0)[1] if self.labels.shape[1] else 0.0, fitted_to - dimensions - 2
        adjusted = max(explained - trace_bias(explained, dimensions, 1, self.records), 0.0)
        lost = (1 - adjusted) * (fitted_to - 2) / max(left, 1.0) * (fitted_to + 1) / fitted_to
        of_scores = max(1 - lost, 0.0) if left >= 1 else 0.0
        r2 = of_scores * between / variance if variance > 0 else 0.0
        low, high = max(r2 - OFF_NUMBER, 0.0), min(of_scores + OFF_NUMBER, 1.0)
        return Expected(r2=r2, rmse=float(np.sqrt(variance * (1 - r2))), low=low, high=high)

    def by_value(self, coefficients: FloatArray) -> list[FloatArray]:
        """The weight of each masked value (values,) by part, from coefficients (columns,) of the functions."""
        return [coefficients[block] @ part.functions for part, block in self.blocks()]

    def by_function(self, weights: Sequence[FloatArray]) -> FloatArray:
        """The coefficients (columns,) of weights (values,) by part."""
        return np.concatenate(
            [part.functions @ (part.shares * one) for part, one in zip(self.parts, weights, strict=True)]
        )


def _moved(variances: FloatArray, vectors: FloatArray) -> FloatArray:
    """(columns,) how far errors with these variances (columns, columns) move the eigenvalues, as standard deviations.

    An eigenvalue moves by `v' E v` with its eigenvector `v` and symmetric errors `E`, to first order.
    """
    squares = np.square(vectors)
    return np.asarray(np.sqrt(2 * np.sum(squares * (variances @ squares), axis=0)))


@dataclass(frozen=True, slots=True, eq=False)
class _Score:
    """A linear score for one class.

    Attributes:
        weights: by part, (values,).
        adjusted: the part of the class's variance that it explains, adjusted for chance.
        score: (made-up records,) with the mean 0 and the variance 1.
    """

    weights: Sequence[FloatArray]
    places: IntArray
    adjusted: float
    score: FloatArray

    @classmethod
    def of(cls, table: _Table, of_class: int, weights: Sequence[FloatArray], most: float) -> Self:
        """Draw made-up records for a score that explains `most` at most."""
        coefficients, size = table.by_function(weights), len(table.parts)
        blocks = np.zeros((coefficients.size, size))
        for number, (_, block) in enumerate(table.blocks()):
            blocks[block, number] = coefficients[block]
        covariances = blocks.T @ table.correlations @ blocks
        explained = float(coefficients @ table.labels[:, of_class]) ** 2 / max(float(covariances.sum()), 1e-300)
        places = population(weights, [part.shares for part in table.parts], covariances)
        score = sum((one[place] for one, place in zip(weights, places.T, strict=True)), np.zeros(len(places)))
        score = score - score.mean()
        explained = min(explained, most)
        adjusted = max(explained - trace_bias(explained, table.whitening.shape[1], 1, table.records), 0.0)
        return cls(weights, places, adjusted, score / max(float(score.std()), 1e-300))


def expect(
    evidence: Sequence[AttributeEvidence],
    options: Sequence[tuple[str, ...]],
    codes: Codes,
    pairs: Sequence[PairCounts],
    estimate: Estimate = lambda _evidence, _option: None,
) -> list[Expected | None]:
    """Expect the performance on the masked tables of some configurations.

    Args:
        evidence: on the attributes that a model learns from.
        options: per attribute, the masking ids, `identity` and `drop` that codes stand for.
        codes: (configurations, attributes); few, since each takes about a tenth of a second.
        pairs: pair counts; those that follow by folding may be left out.
        estimate: estimates the joint counts of a masking with the label from counts that are not exact.

    Returns:
        For each configuration what is expected; None without the counts of two of its maskings together, or with more
        than `MOST_VALUES` masked values.

    Raises:
        MissingCountsError: a masking that is used has no joint counts with the label.
        TooManyColumnsError: the maskings have too many dimensions.
    """
    if not len(codes):
        return []
    design, label = Design.of(evidence, options, codes, pairs, estimate), known_label(evidence)
    left_out = design.lacking(codes) | (_values(design, codes) > MOST_VALUES)
    rows = zip(codes.tolist(), left_out.tolist(), strict=True)
    return [None if left else _Table.of(design, row, label).expected() for row, left in rows]


def expect_number(
    evidence: Sequence[AttributeEvidence],
    options: Sequence[tuple[str, ...]],
    codes: Codes,
    pairs: Sequence[PairCounts],
    variance: float | None = None,
    estimate: Estimate = lambda _evidence, _option: None,
) -> list[Expected | None]:
    """Expect the performance of linear regression for a label that is a number.

    Args:
        evidence: on the attributes that a model learns from; its label's classes have scores.
        variance: of the number itself; None if not stated: then `r2` is of the scores, and there is no `rmse`. For the
            others see `expect`.
    """
    if not len(codes):
        return []
    label = known_label(evidence)
    scores = numbers_of(label.size, evidence[0].label_scores)
    between = float(np.cov(scores, fweights=label, ddof=0))
    design = Design.of(evidence, options, codes, pairs, estimate, scores)
    left_out = design.lacking(codes) | (_values(design, codes) > MOST_VALUES)
    whole = between if variance is None else max(variance, between)
    rows = zip(codes.tolist(), left_out.tolist(), strict=True)
    told = [None if left else _Table.of(design, row, label).expected_number(between, whole) for row, left in rows]
    # Scores of bins vary less than the number: only its own variance gives an error in its unit.
    return [one if one is None or variance is not None else replace(one, rmse=None) for one in told]


def _values(design: Design, codes: Codes) -> IntArray:
    """(configurations,) the dimensions of the maskings of each."""
    sizes = [np.array([columns.size for columns in of]) for of in design.columns]
    dimensions = [size[column] for size, column in zip(sizes, codes.T, strict=True)]
    return np.asarray(np.sum(dimensions, axis=0, dtype=np.int64))


def expect_of_trace(
    evidence: Sequence[AttributeEvidence],
    options: Sequence[tuple[str, ...]],
    codes: Codes,
    pairs: Sequence[PairCounts],
    trace: float,
    estimate: Estimate = lambda _evidence, _option: None,
) -> Expected | None:
    """Expect the performance on the unmasked table, of which only the trace adjusted for chance is known.

    The shape of its scores is taken from a masked table, preferably a fine one. A trace does not say which of several
    classes is told, and the formula for new records is for few weights, so other tables have no answer.

    Args:
        codes: (1, attributes) of that table's configuration; for the others see `expect`.
        trace: Pillai's trace of the unmasked table.
    """
    design, label = Design.of(evidence, options, codes, pairs, estimate), known_label(evidence)
    weights = sum(one.values - 1 for one in evidence)
    if design.lacking(codes).any() or weights > MOST_REFITTED or np.count_nonzero(label) != 2:  # noqa: PLR2004
        return None
    return _Table.of(design, codes[0].tolist(), label).expected(trace, weights)


@dataclass(frozen=True, slots=True, eq=False)
class _Told:
    """How well one class is told from the rest.

    Attributes:
        score: the better score.
        generalised: the part of the class's variance that it will explain of new records.
    """

    score: _Score
    generalised: float
    chance: FloatArray
    auc: float

    @classmethod
    def of(cls, table: _Table, of_class: int) -> Self:
        """Try both scores of a class."""
        solved, most = table.solved(of_class)
        first = _Score.of(table, of_class, table.by_value(solved), most)
        scores = [first]
        if table.correlations.shape[0] <= MOST_REFITTED:
            scores.append(_refitted(table, of_class, first, most))
        return max((cls.by(table, of_class, score) for score in scores), key=attrgetter("auc"))

    @classmethod
    def by(cls, table: _Table, of_class: int, score: _Score, times: float = 1.0, dimensions: int | None = None) -> Self:
        """Judge one score, were it to explain so many times as much with so many dimensions."""
        fitted_weights = table.whitening.shape[1] if dimensions is None else dimensions
        explained = generalised(min(times * score.adjusted, MOST), fitted_weights, table.records)
        chance = linked(score.score, float(table.classes[of_class]), explained)
        return cls(score, explained, chance, area(score.score, chance))


def _refitted(table: _Table, of_class: int, first: _Score, most: float) -> _Score:
    """The score with the weights of logistic regression on the made-up records of another score."""
    share, held = float(table.classes[of_class]), np.cumsum([0, *(one.shares.size for one in table.parts)])
    by_value = np.concatenate([one.joint[:, of_class] / one.joint.sum(axis=1) for one in table.parts])
    start = np.concatenate(first.weights) / np.sqrt(share * (1 - share))
    weights = fitted(first.places + held[:-1], int(held[-1]), by_value, start, 1 / table.records)
    return _Score.of(table, of_class, np.split(weights, held[1:-1]), most)


def _among(table: _Table, told: Sequence[_Told], places: IntArray) -> FloatArray:
    """(classes, records) the chances of several classes in made-up records, with the sum 1."""
    chances = []
    for one, share in zip(told, table.classes.tolist(), strict=True):
        score = np.sum([weight[place] for weight, place in zip(one.score.weights, places.T, strict=True)], axis=0)
        score = score - score.mean()
        chances.append(linked(score / max(float(score.std()), 1e-300), share, one.generalised))
    return np.asarray(np.array(chances) / np.sum(chances, axis=0))


def _of_two(told: _Told) -> tuple[float, float]:
    """AUC and accuracy for two classes."""
    return told.auc, float(np.mean(np.maximum(told.chance, 1 - told.chance)))


def _of_several(table: _Table, told: Sequence[_Told]) -> tuple[float, float]:
    """The AUC, the mean over the classes, and the accuracy, on the records of the class that is told best.

    A class between others is told by these, too: by its chance among all classes, if that does better than its score.
    """
    each = []
    for number, one in enumerate(told):
        chance = _among(table, told, one.score.places)[number]
        each.append(max(one.auc, area(chance, chance)))
    best = max(told, key=attrgetter("generalised"))
    return float(np.mean(each)), float(np.mean(_among(table, told, best.score.places).max(axis=0)))
