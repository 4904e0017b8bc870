"""Measures based on squared deviations from independence, and Cramer's V, also corrected for bias.

Tables, `atoms` and gradients are as in `information`. Every measure of an empty table is 0.
"""

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.atoms import AtomStatistics
from aegis_advisor.measures.bias import (
    contingency_jackknife,
    contingency_scores,
    gini_jackknife,
    gini_scores,
    scores_bias,
)
from aegis_advisor.measures.partial_table import (
    GroupLimits,
    PartialTable,
    RowLimits,
    freedom,
    independent,
    inverse,
    largest_sum,
    most_by_chords,
    occupied,
    ratio,
    squares,
)


def chi_square(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """Pearson's statistic: `sum (O - E)^2 / E` where `E = row * column / N > 0`. Atoms change nothing.

    Pearson 1900, "On the criterion that a given system of deviations from the probable ...".
    """
    expected = independent(table)
    return float(ratio((table - expected) ** 2, expected).sum())


def chi_square_gradient(table: FloatArray, atoms: AtomStatistics | None = None) -> FloatArray:
    """The gradient of `N (sum F^2 / (row * column) - 1)`, through cell, row and column."""
    total = table.sum()
    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    density = ratio(table, rows * columns)
    squares = density * table
    by_row, by_column = ratio(squares.sum(axis=1, keepdims=True), rows), ratio(squares.sum(axis=0), columns)
    slopes: FloatArray = squares.sum() - 1 + total * (2 * density - by_row - by_column)
    return slopes


def centred_gradient(table: FloatArray) -> FloatArray:
    """The gradient of `N phi2` with N fixed, since V does not grow with the number of records."""
    centred: FloatArray = chi_square_gradient(table) - chi_square(table) / table.sum()
    return centred


def chi_square_bias(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """How much a sample exceeds its population on average (`measures.bias`).

    For R independent values and C labels it is about `(R - 1)(C - 1)`, and 0 or less where values determine the label.
    """
    return scores_bias(table, contingency_scores, contingency_jackknife)


def chi_square_scale(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The scale is 1, since the statistic is chi-square distributed near independence."""
    return 1.0


def mean_square_contingency(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """`chi_square / N`: for a single attribute, Pillai's trace of the indicators of its values and of the labels.

    Pillai 1955, "Some new test criteria in multivariate analysis". Atoms change nothing.
    """
    total = float(table.sum())
    return chi_square(table) / total if total > 0 else 0.0


def mean_square_gradient(table: FloatArray, atoms: AtomStatistics | None = None) -> FloatArray:
    """The gradient, by the quotient rule."""
    slopes: FloatArray = centred_gradient(table) / table.sum()
    return slopes


def mean_square_scale(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The derivative with respect to chi-square."""
    return 1 / float(table.sum())


def mean_square_bias(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The bias of chi-square, over the number of records."""
    total = float(table.sum())
    return chi_square_bias(table) / total if total > 0 else 0.0


def mean_square_adjustment(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The adjustment for the number of values (`trace_bias`)."""
    rows, columns = occupied(table, atoms)
    return trace_bias(mean_square_contingency(table), rows - 1, columns - 1, float(table.sum()))


def trace_bias(trace: float, dimensions: int, classes: int, records: float) -> float:
    """How much a trace exceeds its adjusted value, by the adjustment of Ezekiel for `R^2`.

    `V - (q - (q - V)(N - 1)/(N - 1 - p)) = (q - V) p / (N - 1 - p)`: a regression on `p` irrelevant dimensions explains
    `p/(N - 1)` of each of `q` dimensions of the label. With as many dimensions as records (`N - 1 - p < 1`) the bias is
    the whole trace, since such a regression explains everything, whatever its data.

    Ezekiel 1930, "Methods of correlation analysis"; for several responses at once, Peres-Neto, Legendre, Dray &
    Borcard 2006, "Variation partitioning of species data matrices", equation 4.

    Args:
        trace: `V`, at most `q`.
        dimensions: `p`, for all attributes together: the masked values with records, minus one for each attribute.
        classes: `q`, the number of labels with records, minus one.
        records: `N`.
    """
    left = records - 1 - dimensions
    return (classes - trace) * dimensions / left if left >= 1 else trace


def goodman_kruskal_tau(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The share by which the value lowers the label's Gini impurity: `(sum P^2/P_a - sum P_y^2) / (1 - sum P_y^2)`.

    Goodman & Kruskal 1954, "Measures of association for cross classifications", section 9. 0 for a label with
    one class. Atoms change nothing.
    """
    impurity = _impurity(table)
    return min(1.0, _saved(table) / impurity) if impurity > 0 else 0.0


def goodman_kruskal_tau_gradient(table: FloatArray, atoms: AtomStatistics | None = None) -> FloatArray:
    """The gradient, by the quotient rule on `tau = (Q - C) / (N - C)`: `Q = sum F^2 / row`, `C = sum column^2 / N`."""
    total, impurity = table.sum(), _impurity(table)
    if impurity <= 0:
        return np.zeros(table.shape)
    shares = ratio(table, table.sum(axis=1, keepdims=True))
    columns = table.sum(axis=0) / total
    by_within = 2 * shares - np.sum(shares**2, axis=1, keepdims=True)
    by_between = 2 * columns - np.sum(columns**2)
    tau = _saved(table) / impurity
    slopes: FloatArray = (by_within - by_between - tau * (1 - by_between)) / impurity
    return slopes


def goodman_kruskal_tau_scale(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The scale of its variation near independence, relative to a chi-square variable with the same degrees of freedom.

    There `(N - C) tau` is a quadratic form with the label's covariance `S` for each degree of freedom of the rows. Its
    variance is `2 (R - 1) tr(S^2)` (Light & Margolin 1971, "An analysis of variance for categorical data").
    """
    impurity = _impurity(table)
    labels = int(np.count_nonzero(table.any(axis=0)))
    if impurity <= 0 or labels < 2:  # noqa: PLR2004 - a label of one class does not vary
        return 0.0
    share = table.sum(axis=0) / table.sum()
    # The trace of (diag p - p p')^2, computed without cancellation for a rare class.
    between = np.outer(share, share) ** 2
    np.fill_diagonal(between, 0.0)
    covariance = np.sum((share * (1 - share)) ** 2) + np.sum(between)
    return float(np.sqrt(covariance / (labels - 1)) / impurity)


def goodman_kruskal_tau_bias(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """How much a sample exceeds its population on average (`measures.bias`)."""
    impurity = _impurity(table)
    return scores_bias(table, gini_scores, gini_jackknife) / impurity if impurity > 0 else 0.0


def tau_rate(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The derivative with respect to the sum of `gini_scores`: one over the impurity; 0 for a label with one class."""
    impurity = _impurity(table)
    return 1 / impurity if impurity > 0 else 0.0


def _impurity(table: FloatArray) -> float:
    """The Gini impurity of the label times N: `sum column (N - column) / N`."""
    total, columns = float(table.sum()), table.sum(axis=0)
    return float(np.sum(columns * ((total - columns) / total))) if total > 0 else 0.0


def _saved(table: FloatArray) -> float:
    """How much the values lower `_impurity`: `sum (O - E)^2 / row`, which loses no digits near independence."""
    return float(np.sum(ratio((table - independent(table)) ** 2, table.sum(axis=1, keepdims=True))))


def contingency_by_row(rows: RowLimits, known: PartialTable) -> FloatArray:
    """`sum F^2 / (f c)`, where `c` are the label's counts."""

    def cell(counts: FloatArray) -> FloatArray:
        score: FloatArray = counts**2 * inverse(known.label) / rows.records[:, np.newaxis]
        return score

    return most_by_chords(rows, cell)


def contingency_by_group(groups: GroupLimits, known: PartialTable) -> FloatArray:
    """`sum_a F^2 / f = F_g s`, where s is at most 1 for each label, and at most the number of values in total."""
    return largest_sum(groups.counts * inverse(known.label), groups.values)


def gini_by_row(rows: RowLimits, known: PartialTable) -> FloatArray:
    """`sum F^2 / f`. For a group it is at most the sum of the largest counts (`modes_by_group`)."""
    return squares(rows.majorant) / rows.records


def chi_square_at(score: float, known: PartialTable) -> float:
    """Chi-square at a score `sum F^2 / (f c)`."""
    return max(0.0, known.records * (score - 1.0))


def mean_square_at(score: float, known: PartialTable) -> float:
    """Chi-square over the number of records."""
    return max(0.0, score - 1.0)


def tau_at(score: float, known: PartialTable) -> float:
    """The share of the impurity saved, at a score `sum F^2 / f`."""
    base = float(squares(known.label)) / known.records
    left = known.records - base
    return min(1.0, max(0.0, score - base) / left) if left > 0 else 0.0


TWO_SIDED = 1.96
"""95 % of a normal distribution lie within this many standard deviations."""

ROUNDING = 1e-14
"""The relative accuracy of a score; the square root magnifies its rounding error near 0."""


def cramers_v(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """Cramer's V: `sqrt(chi_square / (N min(R - 1, C - 1)))` of R values and C labels with records; 0 if R or C is 1.

    Cramer 1946, "Mathematical methods of statistics", section 21.9. Atoms supply the number of values.
    """
    return min(1.0, float(np.sqrt(_contingency(table, atoms))))


def cramers_v_gradient(table: FloatArray, atoms: AtomStatistics | None = None) -> FloatArray:
    """The gradient of the square over twice V.

    Where V^2 is below its mean under independence, V is replaced by the root of that mean. The root has no derivative
    at 0; with this replacement the standard error is that of the root of a chi-square variable.
    """
    scale = cramers_v_scale(table, atoms)
    slopes: FloatArray = scale * centred_gradient(table) if scale > 0 else np.zeros(table.shape)
    return slopes


def cramers_v_scale(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The derivative of V with respect to chi-square, as in `cramers_v_gradient`."""
    least = min(occupied(table, atoms)) - 1
    if least < 1:
        return 0.0
    cells = float(table.sum()) * least
    square = max(_contingency(table, atoms), freedom(table, None) / cells)
    return float(1 / (2 * cells * np.sqrt(square))) if square > 0 else 0.0


def cramers_v_bias(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """How much V exceeds the V of `_beyond_chance`."""
    least = min(occupied(table, atoms)) - 1
    if least < 1:
        return 0.0
    cells = float(table.sum()) * least
    return float(np.sqrt(chi_square(table) / cells) - np.sqrt(_beyond_chance(table) / cells))


def square_rate(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The derivative of the square with respect to chi-square."""
    least = min(occupied(table, atoms)) - 1
    return 1 / (float(table.sum()) * least) if least >= 1 else 0.0


def cramers_v_corrected(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """Cramer's V corrected for bias: `sqrt(max(0, phi2 - (R-1)(C-1)/(N-1)) / min(R' - 1, C' - 1))`.

    `phi2 = chi_square / N`, `R' = R - (R-1)^2/(N-1)` and C' likewise. Bergsma 2013, "A bias-correction for Cramer's V
    and Tschuprow's T". Atoms supply the number of values. 0 where the denominator is 0, as for a single value, or for
    values with one record each.
    """
    square, least = _corrected(table, atoms)
    return min(1.0, float(np.sqrt(max(0.0, square) / least))) if least > 0 else 0.0


def cramers_v_corrected_gradient(table: FloatArray, atoms: AtomStatistics | None = None) -> FloatArray:
    """The gradient of the square over twice V.

    Near 0 the corrected phi2 is replaced by the standard deviation of phi2 under independence.
    """
    scale = cramers_v_corrected_scale(table, atoms)
    slopes: FloatArray = scale * centred_gradient(table) if scale > 0 else np.zeros(table.shape)
    return slopes


def cramers_v_corrected_scale(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The derivative of the corrected V with respect to chi-square, as in `cramers_v_corrected_gradient`."""
    square, least = _corrected(table, atoms)
    if least <= 0:
        return 0.0
    total = float(table.sum())
    square = max(square, float(np.sqrt(2 * freedom(table, None))) / total)
    return float(1 / (2 * total * np.sqrt(square * least))) if square > 0 else 0.0


def cramers_v_corrected_bias(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """How much it exceeds its value without the bias of chi-square.

    A coarse masking may be the best by it. So fine values must not look worse than they are: unlike in V, they count
    where they may be independent of the labels, and so do rows with few records.
    """
    square, least = _corrected(table, atoms)
    if least <= 0:
        return 0.0
    bias = scores_bias(table, contingency_scores, contingency_jackknife, fewest=0.0)
    left = max(0.0, chi_square(table) - bias) / float(table.sum())
    return float((np.sqrt(max(0.0, square)) - np.sqrt(left)) / np.sqrt(least))


def corrected_rate(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The derivative of the square with respect to chi-square."""
    least = _corrected(table, atoms)[1]
    return 1 / (float(table.sum()) * least) if least > 0 else 0.0


def _contingency(table: FloatArray, atoms: AtomStatistics | None) -> float:
    """The square of V."""
    least = min(occupied(table, atoms)) - 1
    return chi_square(table) / (float(table.sum()) * least) if least >= 1 else 0.0


def _beyond_chance(table: FloatArray) -> float:
    """Chi-square less its bias, or 0 if values and labels may be independent (in a test at 95 %).

    Near independence the root of chi-square has no expansion by which its bias would be known.
    """
    left = chi_square(table) - chi_square_bias(table)
    return left if left > TWO_SIDED * np.sqrt(2 * freedom(table, None)) else 0.0


def _corrected(table: FloatArray, atoms: AtomStatistics | None) -> tuple[float, float]:
    """Bergsma's corrected phi2, before it is cut at 0, and its divisor (0 where V is undefined)."""
    rows, columns = occupied(table, atoms)
    total = float(table.sum())
    if total <= 1 or min(rows, columns) <= 1:
        return 0.0, 0.0
    least = min((size - 1) * (1 - (size - 1) / (total - 1)) for size in (rows, columns))
    return chi_square(table) / total - freedom(table, atoms) / (total - 1), max(0.0, least)


def cramers_v_at(score: float, known: PartialTable) -> float:
    """Cramer's V; the numbers of values and labels with records are known."""
    least = min(known.freedom) - 1
    return min(1.0, float(np.sqrt(max(0.0, score - 1.0) / least))) if least > 0 else 0.0


def cramers_v_corrected_at(score: float, known: PartialTable) -> float:
    """Bergsma 2013, "A bias-correction for Cramer's V and Tschuprow's T"."""
    more = known.records - 1
    values, labels = (size - 1 for size in known.freedom)
    if more <= 0 or min(values, labels) <= 0:
        return 0.0
    least = min(size * (1 - size / more) for size in (values, labels))
    # The root magnifies rounding near 0.
    square = max(0.0, score - 1.0 - values * labels / more + ROUNDING * score)
    return min(1.0, float(np.sqrt(square / least))) if least > 0 else 0.0
