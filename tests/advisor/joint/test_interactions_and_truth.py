"""What the best configuration by interactions lets one predict, beside that by `joint`, in known populations."""

import numpy as np
import pytest

from aegis_advisor.joint import score_jointly
from tests.advisor.joint.interaction_cases import told
from tests.advisor.joint.joint_cases import Records
from tests.for_each import for_each

MASKINGS = [np.array(each) for each in ([0, 1, 2, 3], [0, 0, 1, 1], [0, 1, 0, 1])]
DROPPED_OR_MASKED = [0.4, 0.25, 0.25, 0.1]


def upper(column):
    return (column >= 2).astype(int)


def copied(rng, column, kept):
    return np.where(rng.random(column.size) < kept, column, rng.integers(0, 4, column.size))


def main_effects(x, _rng):
    return 0.8 * upper(x[0]) + 0.6 * (x[1] == 1) - 0.5 * upper(x[2])


def exclusive(x, _rng):
    return 2.2 * (upper(x[0]) ^ upper(x[1])) + 0.5 * upper(x[2])


def with_copies(x, rng):
    x[3:6] = [copied(rng, x[0], 0.9) for _ in range(3)]
    return 2 * (upper(x[0]) ^ upper(x[1])) + upper(x[2])


def nearly_told(x, rng):
    either = upper(x[0]) ^ upper(x[1])
    x[3] = 2 * (either ^ (rng.random(either.size) < 0.05)) + rng.integers(0, 2, either.size)
    return 2.5 * either + 0.8 * upper(x[2])


def correlated(x, rng):
    common = rng.normal(size=x.shape[1])
    x[:5] = np.clip(np.floor(0.8 * common + 0.6 * rng.normal(size=(5, common.size)) + 2), 0, 3)
    return 0.6 * common + 0.8 * (upper(x[0]) ^ upper(x[5]))


def suppressor(x, rng):
    x[0] = np.clip(x[1] + rng.integers(-1, 2, x.shape[1]), 0, 3)
    return 1.2 * (x[1] - x[0]) + 0.5 * upper(x[2])


def rare(x, _rng):
    return 1.5 * upper(x[0]) + 2.5 * (upper(x[1]) ^ upper(x[2])) - 4.5


def of_three(x, _rng):
    return 2.5 * (upper(x[0]) ^ upper(x[1]) ^ upper(x[2])) + 0.5 * upper(x[3])


def products(x, _rng):
    middle = x - 1.5
    return 0.5 * middle[0] * middle[1] + 0.4 * middle[2] * middle[3] + 0.3 * x[4]


def six_labels(x, _rng):
    """Half of the labels follow from two attributes."""
    return (x[0] + 2 * upper(x[1])) % 6


def drawn(kind, rng, records):
    """Six attributes (6, records) of four values, and the chance (records, labels) of each label."""
    values = rng.integers(0, 4, (6, records))
    told_by = kind(values, rng)
    if kind is six_labels:
        return values, 0.5 / 6 + 0.5 * np.eye(6)[told_by]
    chance = 1 / (1 + np.exp(-(told_by if kind is rare else told_by - told_by.mean())))
    return values, np.stack([1 - chance, chance], axis=1)


def best_auc(masked, chances):
    """The AUC (mean of one against the rest) of who knows the chances given the masked values (attributes, records)."""
    _, cell = np.unique(4 ** np.arange(len(masked)) @ masked, return_inverse=True)
    found = []
    for positive in chances.T:
        of, all_of = np.bincount(cell, positive), np.bincount(cell)
        order = np.argsort(of / all_of)
        right, wrong = of[order] / of.sum(), (all_of - of)[order] / (all_of - of).sum()
        found.append(right @ (np.cumsum(wrong) - wrong / 2))
    return np.mean(found)


def lost(kind, seed, configurations=30, size=4_000):
    """The AUC that the picks of `joint` and of `joint_interactions` lose, and the largest utility by these."""
    rng = np.random.default_rng(seed)
    values, chances = drawn(kind, rng, size)
    label = (rng.random((size, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    records = Records(values.T, label, [MASKINGS] * 6)
    codes = np.unique(rng.choice(4, (configurations, 6), p=DROPPED_OR_MASKED), axis=0)
    codes = codes[codes.any(axis=1)] + 1
    known = records.evidence(), records.options, codes, records.pairs()
    joint, added = (score_jointly(*known, corrected=True, associations=each).utility for each in (None, told(records)))
    values, chances = drawn(kind, rng, 100_000)
    masked = ([MASKINGS[at - 2][x] for at, x in zip(row, values, strict=True) if at > 1] for row in codes)
    reached = np.array([best_auc(np.array(each), chances) for each in masked])
    return reached.max() - reached[[joint.argmax(), added.argmax()]], added.max()


def test_the_best_by_interactions_loses_next_to_nothing_where_two_attributes_tell_only_together():
    (by_joint, by_interactions), most = lost(exclusive, 0)
    assert by_joint > 0.1
    assert by_interactions <= 0.005
    assert most <= 1


KINDS = (
    main_effects,
    exclusive,
    with_copies,
    nearly_told,
    correlated,
    suppressor,
    rare,
    of_three,
    products,
    six_labels,
)


@pytest.mark.long
@for_each("kind", KINDS)
def test_the_best_by_interactions_loses_no_more_than_the_best_by_joint(kind):
    (by_joint, by_interactions), most = lost(kind, 1)
    assert by_interactions <= by_joint + 0.002
    assert most <= (5 if kind is six_labels else 1)
