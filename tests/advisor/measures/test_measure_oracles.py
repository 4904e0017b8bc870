"""Measures against other implementations: scikit-learn, SciPy, and counting record by record."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import chi2_contingency
from scipy.stats.contingency import association
from sklearn.metrics import homogeneity_score, mutual_info_score, normalized_mutual_info_score

from aegis_advisor.measures import MEASURES
from tests.advisor.cases import random_table
from tests.for_each import for_each

SEEDS = for_each("seed", range(12))


def drawn(seed, **how):
    """A table without empty rows and columns, which some of the other implementations reject."""
    table = random_table(np.random.default_rng(seed), **how)
    return table[table.any(axis=1)][:, table.any(axis=0)]


def columns_of(table):
    """A column of values and one of labels, with an entry for each record."""
    values, labels = np.indices(table.shape)
    return np.repeat(values, table.ravel()), np.repeat(labels, table.ravel())


def value_of(measure, table):
    return MEASURES[measure](table.astype(float))


@SEEDS
def test_information(seed):
    table = drawn(seed)
    values, labels = columns_of(table)
    nats = mutual_info_score(None, None, contingency=table)
    assert value_of("mutual_information", table) == pytest.approx(nats / np.log(2), abs=1e-12)
    normalised = normalized_mutual_info_score(labels, values, average_method="arithmetic")
    assert value_of("normalised_mutual_information", table) == pytest.approx(normalised, abs=1e-12)
    assert value_of("theils_u", table) == pytest.approx(homogeneity_score(labels, values), abs=1e-12)


@SEEDS
def test_jensen_shannon(seed):
    share = drawn(seed) / drawn(seed).sum()
    product_of_margins = np.outer(share.sum(1), share.sum(0))
    distance = jensenshannon(share.ravel(), product_of_margins.ravel(), base=2)
    assert value_of("jensen_shannon", drawn(seed)) == pytest.approx(distance**2, abs=1e-12)


@SEEDS
def test_chi_square_and_cramers_v(seed):
    table = drawn(seed)
    statistic = chi2_contingency(table, correction=False).statistic
    assert value_of("chi_square", table) == pytest.approx(statistic, rel=1e-12)
    assert value_of("cramers_v", table) == pytest.approx(association(table, method="cramer"), rel=1e-12)


@SEEDS
def test_cramers_v_corrected(seed):
    table = drawn(seed)
    n, (rows, columns) = table.sum(), table.shape
    square = chi2_contingency(table, correction=False).statistic / n
    square = max(0, square - (rows - 1) * (columns - 1) / (n - 1))
    rows, columns = (size - (size - 1) ** 2 / (n - 1) for size in (rows, columns))
    expected = np.sqrt(square / min(rows - 1, columns - 1))
    assert value_of("cramers_v_corrected", table) == pytest.approx(expected, rel=1e-12)


def test_cramers_v_corrected_is_nearer_to_0_where_nothing_is_told():
    rng = np.random.default_rng(0)
    shares = np.outer(rng.dirichlet(np.ones(8)), rng.dirichlet(np.ones(5))).ravel()
    tables = [rng.multinomial(300, shares).reshape(8, 5) for _ in range(200)]
    plain, corrected = (np.mean([value_of(m, t) for t in tables]) for m in ("cramers_v", "cramers_v_corrected"))
    assert plain > 0.12
    assert corrected < 0.3 * plain


@SEEDS
def test_lambda_counts_the_errors_of_guessing(seed):
    table = random_table(np.random.default_rng(seed), values=4, labels=3, records=60)
    records = list(zip(*columns_of(table), strict=True))
    blind = min(sum(label != guess for _, label in records) for guess in range(3))
    informed = min(sum(label != guess[value] for value, label in records) for guess in product(range(3), repeat=4))
    assert value_of("goodman_kruskal_lambda", table) == pytest.approx((blind - informed) / blind, abs=1e-12)


@SEEDS
def test_tau_counts_the_errors_of_guessing_at_random(seed):
    """Guesses drawn from the labels of all records, or of those with the same value, as Goodman & Kruskal define it."""
    table = random_table(np.random.default_rng(seed), values=4, labels=3, records=60)
    values, labels = columns_of(table)
    differ = labels[:, None] != labels
    blind = differ.mean()
    informed = np.mean([differ[at, values == value].mean() for at, value in enumerate(values)])
    assert value_of("goodman_kruskal_tau", table) == pytest.approx((blind - informed) / blind, abs=1e-12)


@for_each(("values", "records"), [(10, 1000), (10, 250), (40, 800)])
def test_the_corrections_leave_independent_samples_nothing_on_average(values, records):
    rng = np.random.default_rng(1)
    shares = np.outer(rng.dirichlet(np.full(values, 5)), rng.dirichlet(np.full(5, 5))).ravel()
    tables = [rng.multinomial(records, shares).reshape(values, 5).astype(float) for _ in range(300)]
    for measure in (MEASURES["mutual_information"], MEASURES["chi_square"]):
        plain, corrected = (np.array([one(table) for table in tables]) for one in (measure, measure.corrected()))
        assert abs(corrected.mean()) < 0.1 * plain.mean()  # the next term of the expansion remains
        assert corrected.min() < 0 < corrected.max()


def test_a_bias_that_is_not_known_is_not_corrected():
    assert [measure.id for measure in MEASURES.values() if measure.correction] == [
        "joint",
        "joint_interactions",
        "mutual_information",
        "chi_square",
        "joint_scores",
        "correlation_ratio",
    ]
    with pytest.raises(ValueError, match="g3"):
        MEASURES["g3"].corrected()


def test_a_measure_of_the_support_has_no_gradient():
    assert [measure.id for measure in MEASURES.values() if not measure.has_errors] == ["g2"]
    with pytest.raises(ValueError, match="g2"):
        MEASURES["g2"].gradient(np.ones((2, 2)))


def exactly(table, measure):
    """The value in exact fractions, or to 60 digits if it has logarithms."""
    rows, columns = [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]
    total = sum(rows)
    places = list(product(range(len(rows)), range(len(columns))))
    if measure == "goodman_kruskal_tau":
        saved = sum((table[r][c] - Fraction(rows[r] * columns[c], total)) ** 2 / rows[r] for r, c in places)
        return float(saved / sum(Fraction(column * (total - column), total) for column in columns))
    with localcontext() as context:
        context.prec = 60
        cells = [(Decimal(table[r][c]), Decimal(rows[r] * columns[c]) / total) for r, c in places]
        if measure == "mutual_information":
            return float(sum(o * (o / e).ln() for o, e in cells if o) / total / Decimal(2).ln())
        halves = sum((o * (2 * o / (o + e)).ln() if o else 0) + e * (2 * e / (o + e)).ln() for o, e in cells)
        return float(halves / (2 * total) / Decimal(2).ln())


@for_each("measure", ["mutual_information", "goodman_kruskal_tau", "jensen_shannon"])
@for_each(
    "table",
    [
        [[9297014, 0], [10502934, 1], [27405808, 1], [27328245, 1]],
        [[65959851, 0], [72188449, 1], [35623369, 0]],
        [[590909392018, 1], [47302191725, 2], [209360350152, 1]],
    ],
)
def test_no_digits_are_lost_near_independence(measure, table):
    assert MEASURES[measure](np.array(table, dtype=float)) == pytest.approx(exactly(table, measure), rel=1e-4)


def test_one_row_or_one_class_tells_nothing_at_all():
    for table in ([[0, 222351260894904, 2]], [[3], [800714688095643]]):
        for measure in ("mutual_information", "theils_u", "normalised_mutual_information", "goodman_kruskal_tau"):
            assert MEASURES[measure](np.array(table, dtype=float)) == pytest.approx(0, abs=1e-12)
