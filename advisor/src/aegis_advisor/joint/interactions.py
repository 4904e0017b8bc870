"""Interactions: information on the label that only combinations of attributes have, by chi-squares of masking pairs.

An additive function of two masked values explains Pillai's trace `V_ij` of the label, and any function of them the mean
square contingency `chi_square_ij / N`. Both are adjusted for chance (`trace_bias`). The difference is the gain of the
pair. Unless chance is a likely explanation, it counts, as a *share* of what the two leave unexplained.

A configuration adds the shares of its pairs one after another, each as a share of what is still unexplained, so that
the total never exceeds the number of classes less one. Two things would count an interaction twice. Copies: the
products of the values of `i` and `j` are nearly those of `k` and `l` if `i` determines `k` and `j` determines `l`. So a
pair counts only as far as it goes beyond a copy of the pairs before it (`overlap`, `_by_forest`). And cycles of pairs:
as in a dependence tree [@chowliu1968], only a forest counts. An attribute and its exact copies are one node of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy

from aegis_advisor.arrays import Codes, FloatArray, IntArray
from aegis_advisor.errors import ContradictoryPairsError
from aegis_advisor.evidence import PairAssociation
from aegis_advisor.evidence.perturbation import largest_noise
from aegis_advisor.joint.count_errors import CountErrors
from aegis_advisor.joint.design import Design, PairPlace
from aegis_advisor.joint.trace import traces
from aegis_advisor.measures.association import trace_bias

SIGNIFICANCE = 0.05
"""The probability that some gain counts although no pair of maskings has an interaction."""

LEAST_TRIED = 1000
"""The minimum number of pairs to correct for, so that a question about fewer attributes, or one more attribute in the
entry, does not change which gains count."""

COPY = 1 - 1e-9
"""From this overlap on, one of two attributes counts as a function of the other: 1, up to rounding."""

ERRORS = np.linspace(-0.8, 0.8, 9)
"""Errors of rounding a number up or down at random, as shares of the base."""

CHANCES = (1 - np.abs(ERRORS)) / np.sum(1 - np.abs(ERRORS))
"""The probability of each error given the rounded number: triangular."""

BLOCK = 4_000_000
"""The most pairs of attributes, summed over configurations, to look up at once."""

LEAST_LEFT = 0.1
"""A pair has no gain if its combinations leave fewer degrees of freedom than this share of the records."""


@dataclass(frozen=True, slots=True, eq=False)
class Interactions:
    """The shares and overlaps of all maskings used together.

    Attributes:
        ends: (pairs, 2) every two attributes.
        shares: per pair of attributes, (options, options) the share of what two maskings leave unexplained that their
            combination explains; 0 if that may be chance.
        variances: likewise, the variance of each due to errors of counts.
        overlaps: per pair of attributes, (options, options) the overlap of the two maskings, from 0 to 1.
    """

    ends: IntArray
    shares: tuple[FloatArray, ...]
    variances: tuple[FloatArray, ...]
    overlaps: tuple[FloatArray, ...]

    @classmethod
    def of(
        cls,
        design: Design,
        known: Mapping[PairPlace, PairAssociation],
        label: IntArray,
        errors: CountErrors | None = None,
    ) -> Self:
        """Judge all maskings that configurations use together.

        Args:
            known: their published associations with the label.
            label: (labels,) the records of each label value.
            errors: the effect of count errors; None if all counts are exact.

        Raises:
            ContradictoryPairsError: no table has the pair counts.
        """
        ends = np.array(np.triu_indices(len(design.columns), 1)).T
        number = {(first, second): place for place, (first, second) in enumerate(ends.tolist())}
        sizes = [(len(design.columns[first]), len(design.columns[second])) for first, second in ends.tolist()]
        shares, variances, overlaps = ([np.zeros(size) for size in sizes] for _ in range(3))
        records, judge = int(label.sum()), Judge(label[label > 0], len(known))
        additive = _additive(design, list(known), label)
        for (pair, association), (trace, rank) in zip(known.items(), additive, strict=True):
            where, cell = number[pair.first, pair.second], (pair.code, pair.other)
            shares[where][cell] = judge.share(association, design.joint(pair), trace, rank)
            if errors is not None and shares[where][cell] > 0:
                moved = errors.trace_variance([(pair.first, pair.code), (pair.second, pair.other)])
                variances[where][cell] = judge.variance(association, trace, shares[where][cell], moved)
            overlaps[where][cell] = overlap(design, pair, records, len(known))
        return cls(ends, tuple(shares), tuple(variances), tuple(overlaps))

    def explained(self, codes: Codes) -> tuple[FloatArray, FloatArray]:
        """The share of what each configuration leaves unexplained additively that its interactions explain.

        Returns:
            (configurations,) the shares, and (configurations,) their variances due to errors of counts.
        """
        explained = np.zeros((2, len(codes)))
        step = max(1, BLOCK // max(1, len(self.ends)))
        for start in range(0, len(codes), step):
            self._explain(codes[start : start + step], explained[:, start : start + step])
        return explained[0], explained[1]

    def _explain(self, codes: Codes, explained: FloatArray) -> None:
        """Write the share that each configuration's interactions explain, and its variance."""
        tables = self.shares, self.variances, self.overlaps
        shares, variances, overlaps = (self._looked_up(table, codes) for table in tables)
        for row in np.flatnonzero(shares.any(axis=1)).tolist():
            between = np.eye(codes.shape[1])
            between[tuple(self.ends.T)] = overlaps[row]
            explained[:, row] = _by_forest(shares[row], variances[row], self.ends, np.maximum(between, between.T))

    def _looked_up(self, tables: Sequence[FloatArray], codes: Codes) -> FloatArray:
        """(configurations, pairs) the cells at the codes of each configuration."""
        cells = [
            table[codes[:, first], codes[:, second]]
            for table, (first, second) in zip(tables, self.ends.tolist(), strict=True)
        ]
        return np.array(cells).T if cells else np.zeros((len(codes), 0))


def _by_forest(shares: FloatArray, variances: FloatArray, ends: IntArray, overlaps: FloatArray) -> tuple[float, float]:
    """The share that a spanning forest of the pairs explains: at each step the pair with the largest new share.

    Pairs are taken as directions, at angles whose squared cosines are their overlaps, and the root of a share as the
    correlation of the label with a direction. The chosen pairs predict the root share of a further one, and explain a
    part of its direction. Its new share is the square of the residual of its root over the residual of its direction,
    as in a regression on one more variable. A copy has the predicted root, and adds nothing. Two limits prevent an
    excess if directions overlap otherwise than assumed: a pair below its prediction adds nothing, and no pair adds more
    than the part of its share in the residual of its direction.

    The variance is the first-order one of the product of the unexplained parts, with independent errors of the pairs.

    Args:
        shares: (pairs,).
        variances: (pairs,).
        ends: (pairs, 2) their attributes.
        overlaps: (attributes, attributes) the overlap of each two; 1 on the diagonal.
    """
    (first, second), left, variance = ends.T, 1.0, 0.0
    tree, alike, roots = (overlaps >= COPY).argmax(axis=0), np.sqrt(overlaps), np.sqrt(shares)
    predicted, explained, basis = np.zeros(len(shares)), np.zeros(len(shares)), np.zeros((0, len(shares)))
    while True:
        rest = 1 - explained
        anew = np.where(tree[first] == tree[second], 0.0, roots - np.maximum(predicted, explained * roots))
        added = np.divide(np.maximum(anew, 0.0) ** 2, rest, out=np.zeros(len(shares)), where=rest > 1 - COPY)
        best = int(added.argmax()) if added.size else 0
        if not added.any():
            return 1 - left, float(variance)
        one, two = ends[best].tolist()
        moved = variances[best] * (anew[best] / (rest[best] * roots[best])) ** 2
        variance = variance * (1 - added[best]) ** 2 + left**2 * moved
        left *= 1 - added[best]
        tree[tree == tree[two]] = tree[one]
        cosines = np.maximum(alike[first, one] * alike[second, two], alike[first, two] * alike[second, one])
        direction = (cosines - basis[:, best] @ basis) / np.sqrt(rest[best])
        basis = np.vstack([basis, direction])
        explained = explained + direction**2
        predicted = predicted + direction * np.sqrt(added[best])


@dataclass(frozen=True, slots=True)
class Judge:
    """What all pairs of maskings are judged by.

    Attributes:
        label: (labels,) the records of each label value that occurs.
        tried: the number of pairs judged; the more, the likelier a chance gain looks real.
    """

    label: IntArray
    tried: int

    def share(self, known: PairAssociation, joint: IntArray | None, trace: float, rank: int) -> float:
        """The share of what two maskings leave unexplained that their combination explains; 0 if it may be chance.

        Args:
            known: their published associations with the label.
            joint: their pair counts, of any shape; None if they are not known.
            trace: Pillai's trace of the two.
        """
        records, classes = float(self.label.sum()), self.label.size - 1
        combinations, chi_square = self._judged_by(known, joint)
        size, whole = combinations - 1, min(chi_square / records, classes)  # exceeds it by rounding only
        if records - 1 - size < LEAST_LEFT * records or size <= rank or trace >= classes or joint is None:
            return 0.0
        together = classes - whole + trace_bias(whole, size, classes, records)
        alone = classes - trace + trace_bias(trace, rank, classes, records)
        gained = (whole - trace + ERRORS * known.unit(self.label) / records) / (classes - trace)
        if self._may_be_chance(gained, size, rank, joint[joint > 0]):
            return 0.0
        return max(0.0, 1 - together / alone)

    def variance(self, known: PairAssociation, trace: float, share: float, moved: float) -> float:
        """The variance of a share due to errors of counts, which give the trace the variance `moved`."""
        left = max(self.label.size - 1 - trace, LEAST_LEFT)
        own = known.square_variance(self.label) / float(self.label.sum()) ** 2
        return (own + (1 - share) ** 2 * moved) / left**2

    def _judged_by(self, known: PairAssociation, joint: IntArray | None) -> tuple[int, float]:
        """The number of combinations and chi-square to judge by.

        A rounded number of combinations is cut at the number of cells of the pair counts. Noise must never look like an
        interaction. So the largest noise that is plausible (with the probability of a chance finding) is added to the
        combinations, since each may explain something by chance, and subtracted from chi-square.
        """
        combinations = known.combinations
        if known.rounded_to is not None and joint is not None:
            combinations = min(combinations, joint.size)
        if not known.is_noisy or known.noise_scale is None:
            return combinations, known.chi_square
        draws = self.label.size + 1
        most = largest_noise(known.noise_scale, 1, SIGNIFICANCE / (max(self.tried, LEAST_TRIED) * draws))
        lost = most * float(np.sum(self.label.sum() / self.label))
        return combinations + most, max(0.0, known.chi_square - lost)

    def _may_be_chance(self, explained: FloatArray, size: int, rank: int, combinations: IntArray) -> bool:
        """Whether chance explains so large a part of what two maskings leave unexplained too often.

        By chance, the part is `degrees / (N - 1 - rank)` on average. It is modelled as log-normal: rare labels and
        small combinations make it more variable and more skewed than the usual F distribution.

        Args:
            explained: (errors,) the part, with each of `ERRORS` by rounding.
            size: the number of combinations less one.
            rank: the rank of the two alone.
            combinations: (size + 1,) the records of each combination.
        """
        if explained @ CHANCES <= 0:
            return True
        records, classes = float(self.label.sum()), self.label.size - 1
        degrees = size - rank
        variance = 2 * _spread(combinations, self.label) / (classes * degrees)
        sigma, mean = np.sqrt(np.log1p(variance)), degrees / (records - 1 - rank)
        above = np.log(np.maximum(explained, np.finfo(float).tiny) / mean) + sigma**2 / 2
        chance = CHANCES @ scipy.special.ndtr(-above / sigma)
        return bool(chance * max(self.tried, LEAST_TRIED) > SIGNIFICANCE)


def _spread(combinations: IntArray, labels: IntArray) -> float:
    """The variance of chi-square under independence, relative to that of its usual distribution; at least 1.

    Args:
        combinations: (combinations,) the records of each.
        labels: (labels,) the records of each, none of them 0.

    The variance is that over all orders of the labels [@dawson1954].
    """
    records, rows, columns = float(labels.sum()), combinations.size, labels.size
    if records <= 3 or rows < 2 or columns < 2:  # noqa: PLR2004 - the formula needs them
        return 1.0
    usual = [(size - 1) * (records - size) / (records - 1) for size in (rows, columns)]
    uneven = [
        (records * float(np.sum(1 / counts)) - counts.size**2) / (records - 2) for counts in (combinations, labels)
    ]
    variance = 2 * records / (records - 3) * (usual[0] - uneven[0]) * (usual[1] - uneven[1])
    variance += records**2 / (records - 1) * uneven[0] * uneven[1]
    return max(1.0, variance / (2 * (rows - 1) * (columns - 1)))


def overlap(design: Design, pair: PairPlace, records: int, tried: int) -> float:
    """How much of the smaller of two maskings the larger explains, on average over its dimensions: from 0 to 1.

    If one is a function of the other, this is 1. It is adjusted for chance like any explained share, and 0 if it may be
    chance, given the number of pairs tried.
    """
    rows, columns = design.columns[pair.first][pair.code], design.columns[pair.second][pair.other]
    square = float(np.sum(np.square(design.correlations[np.ix_(rows, columns)])))
    small, large = sorted((rows.size, columns.size))
    if scipy.special.chdtrc(small * large, records * square) * max(tried, LEAST_TRIED) > SIGNIFICANCE:
        return 0.0
    return float(np.clip((square - trace_bias(square, large, small, records)) / small, 0.0, 1.0))


def _additive(design: Design, used: Sequence[PairPlace], label: IntArray) -> Iterator[tuple[float, int]]:
    """Yield Pillai's trace and the rank of each two maskings alone."""
    if not used:
        return
    # A further code of each attribute leaves it out.
    nothing = np.zeros(0, dtype=np.int64)
    wider = replace(
        design,
        columns=tuple((*columns, nothing) for columns in design.columns),
        masked=tuple((*masked, None) for masked in design.masked),
    )
    codes = np.tile([len(columns) for columns in design.columns], (len(used), 1)).astype(np.int64)
    for row, pair in enumerate(used):
        codes[row, pair.first], codes[row, pair.second] = pair.code, pair.other
    traced = traces(wider, codes, label)
    if np.isnan(traced.trace).any():
        raise ContradictoryPairsError
    yield from zip(traced.trace.tolist(), traced.rank.tolist(), strict=True)
