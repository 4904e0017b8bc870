"""Which configurations tie, against exact fractions, for any weights and any number of records."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aegis_advisor.ranking import Question, recommend
from aegis_advisor.reconstruction import reconstruct
from tests.advisor.cases import evidence_of, mapped

OF_INDEPENDENCE = [
    "mutual_information",
    "chi_square",
    "joint",
    "g3",
    "theils_u",
    "goodman_kruskal_lambda",
    "goodman_kruskal_tau",
    "cramers_v",
    "jensen_shannon",
    "normalised_mutual_information",
]
"""The measures that are the same for all maskings of an attribute that says nothing about the label."""


def known_of(tables):
    """The evidence of attributes with these tables, each with one masking per mapping, and their references."""
    evidence = [
        evidence_of(table, [mapped(f"m{at}", one, table) for at, one in enumerate(mappings)], name=f"a{place}")
        for place, (table, mappings) in enumerate(tables)
    ]
    return evidence, [reconstruct(one) for one in evidence]


def recommended(known, configurations, measure, weights):
    """Ask about attributes; `drop` is the last option of each."""
    evidence, references = known
    options = [(*(view.id for view in one.maskings), "drop") for one in evidence]
    question = Question(measure, tuple(one.name for one in evidence), weights)
    return recommend(evidence, references, configurations, options, question)


def chi_square(table, mapping):
    """Chi-square of the folded table, without rounding."""
    joint = np.zeros((max(mapping) + 1, table.shape[1]), dtype=object)
    np.add.at(joint, mapping, table.astype(object))
    rows, columns, total = joint.sum(axis=1), joint.sum(axis=0), int(joint.sum())
    held = [(int(joint[at]), int(rows[at[0]] * columns[at[1]])) for at in map(tuple, np.argwhere(joint > 0).tolist())]
    return total * (sum(Fraction(count**2, product) for count, product in held) - 1)


@given(seed=st.integers(0, 2**32), classes=st.integers(1, 4), attributes=st.integers(1, 3))
def test_all_maskings_tie_if_the_label_depends_on_nothing(seed, classes, attributes):
    rng = np.random.default_rng(seed)
    label = rng.integers(1, 30, classes)
    tables = []
    for _ in range(attributes):
        rows = rng.integers(1, 30, int(rng.integers(2, 6)))
        table = np.outer(rows, label)
        times = int((2**53 - 1) ** rng.random()) // int(table.sum())
        tables.append((table * max(times, 1), [np.arange(rows.size), np.minimum(np.arange(rows.size), 1)]))
    weights = 10.0 ** rng.uniform(-9, 0, len(tables))
    codes = rng.integers(0, 3, (6, len(tables)))
    evidence, references = known_of(tables)
    outcomes = {}
    for measure in OF_INDEPENDENCE:
        many = 1 if measure == "joint" else attributes  # of several it needs pair counts
        known, shares = (evidence[:many], references[:many]), weights[:many] / weights[:many].sum()
        found = recommended(known, codes[:, :many], measure, shares)
        outcomes[measure] = found.tied, tuple(found.ranking.index.tolist())
    assert outcomes == dict.fromkeys(OF_INDEPENDENCE, ((0, 1, 2, 3, 4, 5),) * 2)


@given(seed=st.integers(0, 2**32), exponent=st.integers(-12, 0))
def test_ties_are_those_of_fractions_whatever_the_weights(seed, exponent):
    rng = np.random.default_rng(seed)
    tables = []
    for _ in range(2):
        table = rng.integers(0, 5, (4, 3)) + 1
        tables.append((table * int(10 ** rng.uniform(0, 13)), [rng.permutation([0, 0, 1, 1]) for _ in range(3)]))
    weights = np.array([10.0**exponent, 1.0])
    weights /= weights.sum()
    codes = rng.integers(0, 3, (8, 2))
    found = recommended(known_of(tables), codes, "chi_square", weights)
    scored = [[chi_square(table, mapping) for mapping in mappings] for table, mappings in tables]
    exact = [Fraction(weight) for weight in weights.tolist()]
    kept = [exact[0] * scored[0][one] + exact[1] * scored[1][other] for one, other in codes.tolist()]
    short = np.array([float(max(kept) - one) for one in kept])
    references = np.array([one.reference_utility for one in found.attributes])
    tied = np.isin(np.arange(8), found.tied)
    assert tied[short <= 0.9e-9 * float(weights @ references)].all()
    assert not tied[short >= 1.1e-9 * float(weights @ references)].any()


def test_an_attribute_with_hardly_any_weight_ties_nothing():
    # The utilities of `a` are 10^9, those of `b` 4.05 and 5. Mutual information would decide a tie the same way.
    certain = np.diag([500_000_000, 500_000_000])
    half, wide, narrow = 250_000_000, 17_677, 15_909
    both, other = (wide + narrow) // 2, (wide - narrow) // 2
    rows = [half // 2 + both, half // 2 + other, half // 2 - other, half // 2 - both]
    faint = np.array([rows, rows[::-1]]).T
    tables = [(certain, [np.arange(2)]), (faint, [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])])]
    weights = np.array([1e-9, 1.0]) / (1 + 1e-9)
    for codes, best in (([[0, 0], [0, 1]], 0), ([[0, 1], [0, 0]], 1)):
        found = recommended(known_of(tables), np.array(codes), "chi_square", weights)
        assert (found.best, found.tied) == (best, (best,))
