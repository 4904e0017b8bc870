"""Measures based on entropies, in bits or as a share of an entropy.

A table is (rows, labels) float64 counts, N its total. A row is a value, or an atom whose values all have its
distribution over the labels; `atoms` are then the sums over these values. Every measure of an empty table is 0. Each
measure has its gradient (rows, labels): the derivative with respect to each count, for cells with records.
"""

import numpy as np
import scipy

from aegis_advisor.arrays import FloatArray
from aegis_advisor.atoms import AtomStatistics
from aegis_advisor.measures.bias import (
    certainty_jackknife,
    certainty_scores,
    divergence_jackknife,
    divergence_scores,
    scores_bias,
)
from aegis_advisor.measures.partial_table import (
    GroupLimits,
    PartialTable,
    RowLimits,
    entropy,
    entropy_gradient,
    independent,
    log_ratio,
    logs,
    most_by_chords,
    ratio,
    value_entropy,
)


def mutual_information(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """Mutual information in bits: `sum P log2(P / (P_a P_y))`, empty cells left out. Atoms change nothing.

    Cover & Thomas 2006, "Elements of information theory", equation 2.28.
    """
    total = float(table.sum())
    if total <= 0:
        return 0.0
    expected = independent(table)
    excess = ratio(table - expected, expected)
    # `O ln(O / E) - O + E` has the same sum, and loses no digits where O is nearly E.
    return max(
        0.0, float(np.sum(expected * (scipy.special.xlog1py(1 + excess, excess) - excess)) / (total * np.log(2)))
    )


def mutual_information_gradient(table: FloatArray, atoms: AtomStatistics | None = None) -> FloatArray:
    """`(log2(P / (P_a P_y)) - I) / N`: the influence of a record, over N."""
    total, logs = table.sum(), log_ratio(table, independent(table))
    slopes: FloatArray = (logs - np.sum(table * logs) / total) / total
    return slopes


def mutual_information_bias(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """How much a sample exceeds its population on average (`measures.bias`), in bits.

    For R independent values and C labels it is about `(R - 1)(C - 1) / (2 N ln 2)` (Miller 1955, "Note on the bias of
    information estimates").
    """
    total = float(table.sum())
    return scores_bias(table, certainty_scores, certainty_jackknife) / (total * float(np.log(2))) if total > 0 else 0.0


def mutual_information_scale(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """`2 N ln 2 I` is the statistic G, which is chi-square distributed near independence."""
    return float(1 / (2 * table.sum() * np.log(2)))


def mutual_information_rate(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The derivative with respect to the sum of `certainty_scores`: `1 / (N ln 2)`."""
    return 2 * mutual_information_scale(table)


def theils_u(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """Theil's uncertainty coefficient of the label given the value: `I(A; Y) / H(Y)`. Atoms change nothing.

    Theil 1970, "On the estimation of relationships involving qualitative variables". 0 for a label without entropy.
    """
    whole = entropy(table.sum(axis=0))
    return min(1.0, mutual_information(table) / whole) if whole > 0 else 0.0


def theils_u_gradient(table: FloatArray, atoms: AtomStatistics | None = None) -> FloatArray:
    """The gradient, by the quotient rule; 0 for a label without entropy."""
    labels = table.sum(axis=0)
    whole = entropy(labels)
    if whole <= 0:
        return np.zeros(table.shape)
    slopes: FloatArray = (mutual_information_gradient(table) - theils_u(table) * entropy_gradient(labels)) / whole
    return slopes


def theils_u_of(information: float, values: float, label: float) -> float:
    """Theil's U at a mutual information, given the entropies of the values and of the label, all in bits."""
    return information / label if label > 0 else 0.0


def theils_u_bias(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The bias of mutual information, over the label's entropy."""
    return theils_u_of(mutual_information_bias(table), *_entropies(table, atoms))


def theils_u_scale(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The scale of mutual information, over the label's entropy."""
    return theils_u_of(mutual_information_scale(table), *_entropies(table, atoms))


def theils_u_rate(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The rate of mutual information, over the label's entropy."""
    return 2 * theils_u_scale(table, atoms)


def normalised_mutual_information(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """Mutual information over the arithmetic mean of the entropies: `2 I(A; Y) / (H(A) + H(Y))`; 0 if both are 0.

    Also called symmetric uncertainty. In Vinh, Epps & Bailey 2010, "Information theoretic measures for clusterings
    comparison", table 2, it is the normalisation called sum. Atoms supply `sum f ln f` for H(A).
    """
    return min(1.0, normalised_of(mutual_information(table), *_entropies(table, atoms)))


def normalised_mutual_information_gradient(table: FloatArray, atoms: AtomStatistics | None = None) -> FloatArray:
    """The gradient, by the quotient rule. The values of an atom are taken to have equal counts."""
    entropies = sum(_entropies(table, atoms))
    if entropies <= 0:
        return np.zeros(table.shape)
    share = normalised_mutual_information(table, atoms)
    by_margins = _value_entropy_gradient(table, atoms)[:, np.newaxis] + entropy_gradient(table.sum(axis=0))
    slopes: FloatArray = (2 * mutual_information_gradient(table) - share * by_margins) / entropies
    return slopes


def normalised_of(information: float, values: float, label: float) -> float:
    """Normalise a mutual information, given the entropies of the values and of the label, all in bits."""
    return 2 * information / (values + label) if values + label > 0 else 0.0


def normalised_bias(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The bias of mutual information, over the mean entropy."""
    return normalised_of(mutual_information_bias(table), *_entropies(table, atoms))


def normalised_scale(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The scale of mutual information, over the mean entropy."""
    return normalised_of(mutual_information_scale(table), *_entropies(table, atoms))


def normalised_rate(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The rate of mutual information, over the mean entropy, which rounding changes far less."""
    return 2 * normalised_scale(table, atoms)


def jensen_shannon(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """Jensen-Shannon divergence, in bits, between the joint distribution and the product of its margins.

    `(KL(P || M) + KL(Q || M)) / 2` with `Q = P_a P_y` and `M = (P + Q) / 2`, an f-divergence between 0 and 1.
    Lin 1991, "Divergence measures based on the Shannon entropy", equation 4.1. Atoms change nothing.
    """
    total = float(table.sum())
    if total <= 0:
        return 0.0
    expected = independent(table)
    excess = ratio(table - expected, expected)
    # `O log(O / M) + E log(E / M)`, written in the excess of O over E, which loses no digits where both nearly agree.
    halves = scipy.special.xlog1py(1 + excess, excess) - scipy.special.xlog1py(2 + excess, excess / 2)
    return max(0.0, float(np.sum(expected * halves) / (2 * total * np.log(2))))


def jensen_shannon_gradient(table: FloatArray, atoms: AtomStatistics | None = None) -> FloatArray:
    """The gradient, through the joint distribution and, by the margins, through their product."""
    total = table.sum()
    expected = independent(table)
    middle = (table + expected) / 2
    direct, through = log_ratio(table, middle) / 2, log_ratio(expected, middle) / 2
    by_row = through @ (table.sum(axis=0) / total)
    by_label = (table.sum(axis=1) / total) @ through
    moved = direct + by_row[:, np.newaxis] + by_label - np.sum(through * expected) / total
    slopes: FloatArray = (moved - jensen_shannon(table)) / total
    return slopes


def jensen_shannon_bias(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """How much a sample exceeds its population on average (`measures.bias`), in bits."""
    total = float(table.sum())
    bias = scores_bias(table, divergence_scores, divergence_jackknife)
    return bias / (2 * total * float(np.log(2))) if total > 0 else 0.0


def jensen_shannon_scale(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """`1 / (8 N ln 2)`: near independence the second-order expansion is chi-square over `8 N ln 2`."""
    return float(1 / (8 * table.sum() * np.log(2)))


def jensen_shannon_rate(table: FloatArray, atoms: AtomStatistics | None = None) -> float:
    """The derivative with respect to the sum of `divergence_scores`: `1 / (2 N ln 2)`."""
    return 4 * jensen_shannon_scale(table)


def _entropies(table: FloatArray, atoms: AtomStatistics | None) -> tuple[float, float]:
    """The entropies of the values and of the label, in bits."""
    return value_entropy(table, atoms), entropy(table.sum(axis=0))


def _value_entropy_gradient(table: FloatArray, atoms: AtomStatistics | None) -> FloatArray:
    """The derivative (rows,) of H(A) with respect to a count of each row."""
    rows = table.sum(axis=1)
    if atoms is None:
        return entropy_gradient(rows)
    total = float(rows.sum())
    log_share = (ratio(atoms.logs, rows) - np.log(total)) / np.log(2)
    slopes: FloatArray = np.where(rows > 0, (-log_share - value_entropy(table, atoms)) / total, 0.0)
    return slopes


def certainty_by_row(rows: RowLimits, known: PartialTable) -> FloatArray:
    """`sum F log2 F - f log2 f`, which is convex, so that it is greatest at the majorant."""
    return logs(rows.majorant) - logs(rows.records[:, np.newaxis])


def certainty_by_group(groups: GroupLimits, known: PartialTable) -> FloatArray:
    """The lesser of two bounds: by the label merged into one class per value, and by the most uneven coupling."""
    most = logs(groups.counts) - logs(groups.merged)
    coupled = groups.majorant
    if coupled is not None and groups.largest is not None:
        most = np.minimum(most, logs(coupled) - logs(groups.largest))
    return np.minimum(most, 0.0)


def divergence_by_row(rows: RowLimits, known: PartialTable) -> FloatArray:
    """`(KL(F || M) + KL(E || M)) / 2`, where `E = f c / N` is the expected count and M the mean of both."""
    return most_by_chords(
        rows, lambda counts: _halves(counts, rows.records[:, np.newaxis] * known.label / known.records)
    )


def divergence_by_group(groups: GroupLimits, known: PartialTable) -> FloatArray:
    """The score if every record were in a row of only its label; by convexity no table scores more."""
    share = known.label / known.records
    each = _halves(np.eye(share.size), share).sum(axis=1)
    most: FloatArray = groups.counts @ each
    return most


def _halves(counts: FloatArray, expected: FloatArray) -> FloatArray:
    middle = (counts + expected) / 2
    held = np.where(middle > 0, middle, 1.0)
    both: FloatArray = (scipy.special.xlogy(counts, counts / held) + scipy.special.xlogy(expected, expected / held)) / (
        2 * np.log(2)
    )
    return both


def information_at(score: float, known: PartialTable) -> float:
    """Mutual information in bits: the label's entropy minus its conditional entropy, which is -score / N."""
    uncertain = known.records * np.log2(known.records) - float(logs(known.label))
    return max(0.0, float(score + uncertain) / known.records)


def theils_u_at(score: float, known: PartialTable) -> float:
    """Theil's U: mutual information as a share of the label's entropy."""
    whole = _label_entropy(known)
    return min(1.0, information_at(score, known) / whole) if whole > 0 else 0.0


def normalised_at(score: float, known: PartialTable) -> float:
    """Normalised mutual information.

    Raises:
        ValueError: the rows, and so the entropy of the values, are not known.
    """
    if known.rows is None:
        raise ValueError("the entropy of the values is not known without a histogram")
    certainty = float(known.rows.values @ logs(known.rows.records[:, np.newaxis]))
    both = np.log2(known.records) - certainty / known.records + _label_entropy(known)
    return float(min(1.0, 2 * information_at(score, known) / both)) if both > 0 else 0.0


def jensen_shannon_at(score: float, known: PartialTable) -> float:
    """The score over the number of records."""
    return max(0.0, score / known.records)


def _label_entropy(known: PartialTable) -> float:
    return information_at(0.0, known)
