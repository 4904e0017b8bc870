"""The measures of many tables at once, as an attacker would write them: from the published formulas, in arrays.

`aegis_advisor.measures` takes one table at a time, which is too slow for a walk over millions of tables.
"""

from collections.abc import Mapping

import numpy as np
from scipy.special import rel_entr, xlog1py, xlogy

from aegis_advisor.arrays import FloatArray

#: By name of a measure whether more is better; a name ending in `*` is the measure with its bias corrected.
HIGHER_IS_BETTER: Mapping[str, bool] = {
    "mutual_information": True,
    "mutual_information*": True,
    "chi_square": True,
    "chi_square*": True,
    "g3": False,
    "g1": False,
    "g2": False,
    "goodman_kruskal_tau": True,
    "cramers_v": True,
    "cramers_v_corrected": True,
    "jensen_shannon": True,
    "normalised_mutual_information": True,
    "correlation_ratio": True,
    "correlation_ratio*": True,
}

#: Measures that keep the same share as another one, since they differ by a factor that no masking changes.
SAME_SHARES: Mapping[str, str] = {"theils_u": "mutual_information", "goodman_kruskal_lambda": "g3"}


def utilities(tables: FloatArray) -> dict[str, FloatArray]:
    """Each measure of each table.

    Args:
        tables: (..., rows, labels) counts, each table with the same positive total.

    Returns:
        By measure (...,) its values, in the units of `aegis_advisor.measures`.
    """
    total = tables.sum(axis=(-2, -1))
    rows, labels = tables.sum(axis=-1), tables.sum(axis=-2)
    expected = rows[..., np.newaxis] * labels[..., np.newaxis, :] / total[..., np.newaxis, np.newaxis]
    used_rows, used_labels = np.count_nonzero(rows > 0, axis=-1), np.count_nonzero(labels > 0, axis=-1)
    information_bias, contingency_bias = _biases(tables, labels / total[..., np.newaxis])
    information = _sum(rel_entr(tables, expected)) / total / np.log(2)
    chi_square = _sum(_over((tables - expected) ** 2, expected))
    within = _over(tables**2, rows[..., np.newaxis])
    by_label = np.sum(labels**2, axis=-1) / total
    middle = (tables + expected) / 2
    entropies = _entropy(rows, total) + _entropy(labels, total)
    explained = _correlation_ratio(tables, rows, labels)
    spare = np.maximum(used_rows - 1, 0)
    by_chance = _over(spare * (1 - explained), total - 1 - spare)
    return {
        "mutual_information": information,
        "mutual_information*": information - np.maximum(information_bias, 0.0) / total / np.log(2),
        "chi_square": chi_square,
        "chi_square*": chi_square - np.maximum(contingency_bias, 0.0),
        "g3": 1 - tables.max(axis=-1).sum(axis=-1) / total,
        "g1": (np.sum(rows**2, axis=-1) - _sum(tables**2)) / total**2,
        "g2": np.where(np.count_nonzero(tables > 0, axis=-1) > 1, rows, 0.0).sum(axis=-1) / total,
        "goodman_kruskal_tau": _over(_sum(within) - by_label, total - by_label),
        "cramers_v": np.sqrt(_over(chi_square, total * (np.minimum(used_rows, used_labels) - 1))),
        "cramers_v_corrected": _corrected_v(chi_square / total, used_rows, used_labels, total),
        "jensen_shannon": _sum(rel_entr(tables, middle) + rel_entr(expected, middle)) / (2 * total * np.log(2)),
        "normalised_mutual_information": _over(2 * information, entropies),
        "correlation_ratio": explained,
        "correlation_ratio*": np.where(total - 1 - spare >= 1, explained - by_chance, 0.0),
    }


def _correlation_ratio(tables: FloatArray, rows: FloatArray, labels: FloatArray) -> FloatArray:
    """The share of the variance of the labels' places 0, 1, 2, ... that lies between the rows."""
    places, total = np.arange(tables.shape[-1], dtype=np.float64), rows.sum(axis=-1)
    mean = (labels @ places / total)[..., np.newaxis]
    between = np.sum(_over((tables @ places - rows * mean) ** 2, rows), axis=-1)
    return _over(between, np.sum(labels * (places - mean) ** 2, axis=-1))


def _biases(tables: FloatArray, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What the corrections subtract from N times mutual information in nats, and from chi-square (docs/model.md)."""
    rows, by_label = tables.sum(axis=-1), shares[..., np.newaxis, :]
    few = rows <= np.maximum(1.0, 1.5 * (np.count_nonzero(shares > 0, axis=-1, keepdims=True) - 1))
    logs = _over(tables, rows[..., np.newaxis])
    certain = xlogy(tables, logs).sum(axis=-1) - rows * xlogy(shares, shares).sum(axis=-1, keepdims=True)
    information = np.where(few, certain, _left_out(rows) - _left_out(tables).sum(axis=-1))
    spread = _over(tables * (rows[..., np.newaxis] - tables), by_label).sum(axis=-1)
    squares = _over(tables**2, by_label).sum(axis=-1)
    contingency = np.where(few, _over(squares, rows) - rows, _over(spread, rows * (rows - 1)))
    whole, total = shares * rows.sum(axis=-1, keepdims=True), rows.sum(axis=-1)
    of_label = _left_out(total) - _left_out(whole).sum(axis=-1)
    kinds = np.count_nonzero(shares > 0, axis=-1)
    return information.sum(axis=-1) - of_label, contingency.sum(axis=-1) - (kinds - 1) * _over(total, total - 1)


def _left_out(counts: FloatArray) -> FloatArray:
    several = np.maximum(counts, 1.0)
    return np.where(counts > 1, -xlog1py(several * (several - 1), -1 / several), 0.0)


def _corrected_v(square: FloatArray, rows: FloatArray, labels: FloatArray, total: FloatArray) -> FloatArray:
    """Bergsma 2013: Cramer's V from `phi^2`, corrected for its bias."""
    more = total - 1
    least = np.minimum((rows - 1) * (1 - (rows - 1) / more), (labels - 1) * (1 - (labels - 1) / more))
    root: FloatArray = np.sqrt(_over(np.maximum(square - (rows - 1) * (labels - 1) / more, 0.0), least))
    return np.minimum(root, 1.0)


def _entropy(counts: FloatArray, total: FloatArray) -> FloatArray:
    """In bits, of counts along the last axis."""
    entropy: FloatArray = (np.log(total) - xlogy(counts, counts).sum(axis=-1) / total) / np.log(2)
    return entropy


def _sum(cells: FloatArray) -> FloatArray:
    return np.asarray(cells.sum(axis=(-2, -1)))


def _over(value: FloatArray, divisor: FloatArray) -> FloatArray:
    """`value / divisor`, and 0 where the divisor is not positive."""
    positive = divisor > 0
    return np.asarray(np.where(positive, value / np.where(positive, divisor, 1.0), 0.0))
