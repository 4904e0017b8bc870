"""Cramer's V: the root of chi-square over the largest value that it can have, by itself and corrected for bias.

Tables, `atoms` and gradients are as in `information`. Every measure of an empty table is 0.
"""

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.atoms import AtomStatistics
from aegis_advisor.measures.association import centred_gradient, chi_square, chi_square_bias
from aegis_advisor.measures.bias import contingency_jackknife, contingency_scores, scores_bias
from aegis_advisor.measures.margins import freedom, occupied
from aegis_advisor.measures.partial_table import PartialTable

TWO_SIDED = 1.96
"""95 % of a normal distribution lie within so many standard deviations."""

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
