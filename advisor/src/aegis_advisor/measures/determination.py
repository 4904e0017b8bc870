"""Measures of how far the value determines the label: errors and pairs.

Tables, `atoms` and gradients are as in `information`. Every measure of an empty table is 0. g2, g3 and lambda have
a gradient almost everywhere: not where two labels of a row tie for the largest count, nor where a count leaves 0.

Sources: g1, g2, g3: Kivinen & Mannila 1995, "Approximate inference of functional dependencies from relations";
lambda: Goodman & Kruskal 1954, "Measures of association for cross classifications", section 5.
"""

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.atoms import AtomStatistics
from aegis_advisor.measures.margins import ratio
from aegis_advisor.measures.partial_table import GroupLimits, PartialTable, RowLimits, largest_sum, squares


def g3(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The least share of records to delete so that the value determines the label. Atoms change nothing."""
    total = table.sum()
    return max(0.0, 1.0 - float(table.max(axis=1).sum() / total)) if total > 0 else 0.0


def g3_gradient(table: FloatArray, atoms: AtomStatistics | None = None) -> FloatArray:
    """A record of its row's largest label is one more to keep."""
    total = table.sum()
    slopes: FloatArray = (table.max(axis=1).sum() / total - _largest(table)) / total
    return slopes


def g1(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """Ordered pairs of records that agree on the value and differ on the label, over N^2.

    A value with `f` records and distribution `q` over the labels has `f^2 * sum q (1 - q)` of them, so that
    an atom needs the sum of `f^2` over its values.
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
    """A record makes two ordered pairs with each that differs. The values of an atom are taken to have equal counts."""
    total = table.sum()
    rows = table.sum(axis=1)
    records = rows if atoms is None else ratio(atoms.squares, rows)
    others = (1.0 - ratio(table, rows[:, np.newaxis])) * (records / total)[:, np.newaxis]
    slopes: FloatArray = 2 * (others - g1(table, atoms)) / total
    return slopes


def g2(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """Records whose value occurs with another label too, over N. Atoms change nothing; the support does."""
    total = table.sum()
    return float(table[_mixed(table)].sum() / total) if total > 0 else 0.0


def g2_gradient(table: FloatArray, atoms: AtomStatistics | None = None) -> FloatArray:
    """What goes with a record: itself, if its row has another label; the whole row, if it is all there is of the other.

    The second is no derivative but the jackknife's difference: without it chance would not seem to move the support.
    """
    labels = np.count_nonzero(table, axis=1)[:, np.newaxis]
    only_other = (labels == 2) & (table <= 1)  # noqa: PLR2004 - the fewest labels that mix
    moved = np.where(only_other, table.sum(axis=1, keepdims=True), labels > 1)
    slopes: FloatArray = (moved - g2(table)) / table.sum()
    return slopes


def goodman_kruskal_lambda(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """By what share the value lowers the errors of guessing the most frequent label. Atoms change nothing.

    `(sum_a max_y F - max_y F_y) / (N - max_y F_y)`; 0 for a label of one class.
    """
    total, most = float(table.sum()), float(table.sum(axis=0).max(initial=0.0))
    return max(0.0, float(table.max(axis=1).sum()) - most) / (total - most) if total > most else 0.0


def goodman_kruskal_lambda_gradient(table: FloatArray, atoms: AtomStatistics | None = None) -> FloatArray:
    """The quotient rule, with the first of labels that tie."""
    columns = table.sum(axis=0, keepdims=True)
    errors = float(table.sum() - columns.max())
    if errors <= 0:
        return np.zeros(table.shape)
    often = _largest(columns)
    slopes: FloatArray = (_largest(table) - often - goodman_kruskal_lambda(table) * (1 - often)) / errors
    return slopes


def _largest(table: FloatArray) -> FloatArray:
    """1 at the first largest count of each row (rows, labels), 0 elsewhere."""
    first: FloatArray = np.equal(np.arange(table.shape[1]), table.argmax(axis=1)[:, np.newaxis]).astype(np.float64)
    return first


def _mixed(table: FloatArray) -> FloatArray:
    """1 for each row (rows,) that has several labels, else 0."""
    mixed: FloatArray = np.count_nonzero(table, axis=1) > 1
    return mixed


def agreement_by_row(rows: RowLimits, known: PartialTable) -> FloatArray:
    """`sum F^2 - f^2`: minus the ordered pairs of records that differ."""
    return squares(rows.majorant()) - rows.records**2


def agreement_by_group(groups: GroupLimits, known: PartialTable) -> FloatArray:
    """No more than the squares of the most uneven coupling of its rows and labels."""
    coupled = groups.majorant()
    if coupled is None or groups.largest is None:
        return np.zeros(groups.values.size)
    return np.minimum(squares(coupled) - squares(groups.largest), 0.0)


def modes_by_row(rows: RowLimits, known: PartialTable) -> FloatArray:
    """The largest count."""
    return rows.majorant()[:, 0]


def modes_by_group(groups: GroupLimits, known: PartialTable) -> FloatArray:
    """That many values have largest counts in that many columns at most."""
    return largest_sum(groups.counts, groups.values)


def pure_by_row(rows: RowLimits, known: PartialTable) -> FloatArray:
    """The records, if they can be of one label."""
    return np.where(rows.majorant()[:, 0] >= rows.records, rows.records, 0.0)


def pure_by_group(groups: GroupLimits, known: PartialTable) -> FloatArray:
    """Where labels outnumber values, some value is mixed, and each other one has one label."""
    outnumbered = groups.values < np.count_nonzero(groups.counts, axis=1)
    return largest_sum(groups.counts, groups.values - outnumbered)


def lambda_at(score: float, known: PartialTable) -> float:
    """The errors saved, of the records that are guessed."""
    most = float(known.label.max())
    errors = known.records - most
    return min(1.0, max(0.0, score - most) / errors) if errors > 0 else 0.0


def rest_at(score: float, known: PartialTable) -> float:
    """The share of records that do not score: of g2 those that are mixed, of g3 those to delete."""
    return max(0.0, 1.0 - score / known.records)


def g1_at(score: float, known: PartialTable) -> float:
    """Ordered pairs over N^2, of minus their number."""
    return max(0.0, -score / known.records / known.records)
