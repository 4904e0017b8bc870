"""Measures of how far the value determines the label, from errors and from pairs of records.

Tables, `atoms` and gradients are as in `information`. Every measure of an empty table is 0. g3 and lambda
have a gradient except where two labels of a row tie for the largest count. g2 has none.

Sources: g1, g2, g3: Kivinen & Mannila 1995, "Approximate inference of functional dependencies from relations";
lambda: Goodman & Kruskal 1954, "Measures of association for cross classifications", section 5.
"""

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.atoms import AtomStatistics
from aegis_advisor.measures.bias import largest_bias
from aegis_advisor.measures.partial_table import GroupLimits, PartialTable, RowLimits, largest_sum, ratio, squares


def g3(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The smallest share of records to delete so that the value determines the label. Atoms change nothing."""
    total = table.sum()
    return max(0.0, 1.0 - float(table.max(axis=1).sum() / total)) if total > 0 else 0.0


def g3_gradient(table: FloatArray, atoms: AtomStatistics | None = None) -> FloatArray:
    """The gradient: a record with the most frequent label of its row is one more record to keep."""
    total = table.sum()
    slopes: FloatArray = (table.max(axis=1).sum() / total - _largest(table)) / total
    return slopes


def g3_bias(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """How much chance lowers g3 on average (`measures.bias`): a negative number."""
    total = float(table.sum())
    return -largest_bias(table) / total if total > 0 else 0.0


def rest_rate(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The derivative of g3 with respect to the sum of the largest counts of the rows: `-1 / N`."""
    return -1 / float(table.sum())


def g1(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The number of ordered pairs of records that agree on the value and differ on the label, over N^2.

    A value with `f` records and distribution `q` over the labels has `f^2 * sum q (1 - q)` such pairs, so an atom needs
    the sum of `f^2` over its values.
    """
    total = table.sum()
    if total <= 0:
        return 0.0
    rows = table.sum(axis=1)
    squares = rows**2 if atoms is None else atoms.squares
    shares = ratio(table, rows[:, np.newaxis])
    differing = np.sum(shares * (1.0 - shares), axis=1)
    return float(np.sum(squares / total / total * differing))


def g1_gradient(table: FloatArray, atoms: AtomStatistics | None = None) -> FloatArray:
    """The gradient: a record forms two ordered pairs with each record of its value that has another label.

    The values of an atom are taken to have equal counts.
    """
    total = table.sum()
    rows = table.sum(axis=1)
    records = rows if atoms is None else ratio(atoms.squares, rows)
    others = (1.0 - ratio(table, rows[:, np.newaxis])) * (records / total)[:, np.newaxis]
    slopes: FloatArray = 2 * (others - g1(table, atoms)) / total
    return slopes


def g1_bias(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """0: the factor `(N - 1) / N` of the number of pairs is the same for all maskings."""
    return 0.0


def g2(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The share of records whose value also occurs with another label. It depends on the support, but not on atoms."""
    total = table.sum()
    return float(table[_mixed(table)].sum() / total) if total > 0 else 0.0


def goodman_kruskal_lambda(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The share by which the value lowers the errors of guessing the most frequent label. Atoms change nothing.

    `(sum_a max_y F - max_y F_y) / (N - max_y F_y)`; 0 for a label with one class.
    """
    total, most = float(table.sum()), float(table.sum(axis=0).max(initial=0.0))
    return max(0.0, float(table.max(axis=1).sum()) - most) / (total - most) if total > most else 0.0


def goodman_kruskal_lambda_gradient(table: FloatArray, atoms: AtomStatistics | None = None) -> FloatArray:
    """The gradient, by the quotient rule; the first of tied labels is used."""
    columns = table.sum(axis=0, keepdims=True)
    errors = float(table.sum() - columns.max())
    if errors <= 0:
        return np.zeros(table.shape)
    often = _largest(columns)
    slopes: FloatArray = (_largest(table) - often - goodman_kruskal_lambda(table) * (1 - often)) / errors
    return slopes


def goodman_kruskal_lambda_bias(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """How much chance raises the sum of the largest counts on average (`measures.bias`), over the errors to save."""
    label = table.sum(axis=0, keepdims=True)
    errors = float(label.sum() - label.max(initial=0.0))
    return (largest_bias(table) - largest_bias(label)) / errors if errors > 0 else 0.0


def lambda_rate(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The derivative with respect to the sum of the largest counts of the rows: one over the errors to save."""
    errors = float(table.sum() - table.sum(axis=0).max(initial=0.0))
    return 1 / errors if errors > 0 else 0.0


def _largest(table: FloatArray) -> FloatArray:
    """1 at the first largest count of each row (rows, labels), 0 elsewhere."""
    first: FloatArray = np.equal(np.arange(table.shape[1]), table.argmax(axis=1)[:, np.newaxis]).astype(np.float64)
    return first


def _mixed(table: FloatArray) -> FloatArray:
    """1 for each row (rows,) that has several labels, else 0."""
    mixed: FloatArray = np.count_nonzero(table, axis=1) > 1
    return mixed


def agreement_by_row(rows: RowLimits, known: PartialTable) -> FloatArray:
    """`sum F^2 - f^2`: minus the number of ordered pairs of records that differ on the label."""
    return squares(rows.majorant) - rows.records**2


def agreement_by_group(groups: GroupLimits, known: PartialTable) -> FloatArray:
    """The score of the most uneven coupling of the group's rows and labels, an upper bound."""
    coupled = groups.majorant
    if coupled is None or groups.largest is None:
        return np.zeros(groups.values.size)
    return np.minimum(squares(coupled) - squares(groups.largest), 0.0)


def modes_by_row(rows: RowLimits, known: PartialTable) -> FloatArray:
    """The largest count of the row."""
    return rows.majorant[:, 0]


def modes_by_group(groups: GroupLimits, known: PartialTable) -> FloatArray:
    """The largest counts of n values are in at most n columns."""
    return largest_sum(groups.counts, groups.values)


def pure_by_row(rows: RowLimits, known: PartialTable) -> FloatArray:
    """The records of the row if all of them can have one label, else 0."""
    return np.where(rows.majorant[:, 0] >= rows.records, rows.records, 0.0)


def pure_by_group(groups: GroupLimits, known: PartialTable) -> FloatArray:
    """Where labels outnumber values, at least one value is mixed, and each of the others has one label."""
    outnumbered = groups.values < np.count_nonzero(groups.counts, axis=1)
    return largest_sum(groups.counts, groups.values - outnumbered)


def lambda_at(score: float, known: PartialTable) -> float:
    """The share of errors saved, of those made by guessing the most frequent label."""
    most = float(known.label.max())
    errors = known.records - most
    return min(1.0, max(0.0, score - most) / errors) if errors > 0 else 0.0


def rest_at(score: float, known: PartialTable) -> float:
    """The share of records that do not score: for g2 the mixed ones, for g3 those to delete."""
    return max(0.0, 1.0 - score / known.records)


def g1_at(score: float, known: PartialTable) -> float:
    """The number of ordered pairs, which is minus the score, over N^2."""
    return max(0.0, -score / known.records / known.records)
