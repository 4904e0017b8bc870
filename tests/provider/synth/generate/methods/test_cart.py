from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from aegis_provider.errors import TableError
from aegis_provider.synth.generate.methods.method import Knobs, LearningTask
from aegis_provider.synth.generate.methods.sequential import FEWEST, Cart, Grown, _ordered
from tests.for_each import for_each
from tests.provider.synth.generate.methods.tasks import assert_drawn_from, only_model, random_columns, shares, task_of


def drawn(task, records, seed=0):
    return only_model(Cart(), task).sample(records, np.random.default_rng(seed))


@for_each("names", [("a", "b", "f"), ("a", "f", "b"), ("f", "b", "a")])
def test_a_function_of_two_columns_holds_in_every_drawn_record(names):
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, 2_000), np.array(list("rstu"))[rng.integers(0, 4, 2_000)]
    columns = {"a": a, "b": b, "f": [f"{(one * 3 + ord(other)) % 5}th" for one, other in zip(a, b, strict=True)]}
    task = task_of({name: columns[name] for name in names})
    known = {tuple(each) for each in task.codes}
    assert {tuple(each) for each in drawn(task, 5_000)} <= known


def test_records_follow_the_joint_shares_of_the_training_records():
    task = task_of(random_columns(4_000))
    counts = shares(drawn(task, 8_000), range(4), task.sizes) * 8_000
    expected = shares(task.codes, range(4), task.sizes)
    # Cells of few records share leaves, so they are only compared in pairs with other columns, as all pairs are.
    for one, other in product(range(4), repeat=2):
        if one < other:
            rest = tuple(each for each in range(4) if each not in (one, other))
            assert_drawn_from(counts.sum(axis=rest), expected.sum(axis=rest), 8_000)


def test_leaves_have_five_records():
    model = only_model(Cart(), task_of(random_columns(300)))
    for step in model.steps:
        leaves = np.diff(step.leaves.below[step.leaves.first])
        assert leaves[leaves > 0].min() >= FEWEST


@for_each(("privacy", "leaves"), [(0.0, [5, 5, 5, 5]), (9.0, [50, 28, 5, 5]), (1e6, [4_000, 4_000, 5, 5])])
def test_the_privacy_knob_enlarges_the_leaves_of_quasi_identifiers_by_their_weights(monkeypatch, privacy, leaves):
    weights, known = np.array([1.0, 0.5, 1.0, 1.0]), np.array([True, True, False, False])
    task = replace(task_of(random_columns(4_000)), privacy_weights=weights, quasi_identifiers=known)
    fewest, grown = {}, Grown.of

    def growing(task, before, column, least, rng):
        fewest[column] = least
        return grown(task, before, column, least, rng)

    monkeypatch.setattr(Grown, "of", growing)
    model = only_model(Cart(), replace(task, knobs=Knobs(privacy=privacy)))
    assert [fewest[column] for column in range(4)] == leaves
    for step in model.steps:
        sizes = np.diff(step.leaves.below[step.leaves.first])
        assert sizes[sizes > 0].min() >= leaves[step.column]


def test_missing_numbers_are_drawn_as_often_as_there_are():
    rng = np.random.default_rng(0)
    label = rng.random(2_000) < 0.5
    task = task_of({"number": np.where(label & (rng.random(2_000) < 0.5), "", rng.integers(0, 99, 2_000)), "y": label})
    missing = task.levels[0].missing
    counts = [(each[:, 0] == missing).astype(int) for each in (drawn(task, 4_000), task.codes)]
    assert_drawn_from(counts[0].sum(keepdims=True), counts[1].mean(keepdims=True), 4_000)


def test_a_column_of_many_categories_is_learnt():
    category = np.arange(2_000) % 100
    task = task_of({"category": [f"c{each}" for each in category], "label": np.where(category < 50, "low", "high")})
    codes = drawn(task, 4_000)
    low = task.codes[0, 1]
    allowed = np.unique(task.codes[task.codes[:, 1] == low, 0])
    assert set(codes[codes[:, 1] == low, 0]) <= set(allowed)
    assert len(set(codes[:, 0])) == 100


@for_each(
    "columns",
    [
        {"label": list("ab") * 10},
        {"label": list("a") * 20},
        {"constant": [7] * 20, "label": list("ab") * 10},
        {"a": [1, 1, 1], "label": [2, 2, 2]},
    ],
)
@for_each("records", [0, 1, 7])
def test_degenerate_tables_are_learnt(columns, records):
    task = task_of(columns, fewest=1)
    codes = drawn(task, records)
    assert codes.shape == (records, len(columns))
    assert {tuple(each) for each in codes} <= {tuple(each) for each in task.codes}


def test_no_records_are_refused_in_one_line():
    task = task_of(random_columns(50))
    empty = LearningTask(task.levels, task.codes[:0], task.quasi_identifiers, task.privacy_weights, task.importance)
    with pytest.raises(TableError, match=r"^there are no records to learn from$"):
        list(Cart().train(empty, np.random.default_rng(0)))


def test_a_seed_determines_the_records():
    task = task_of(random_columns(300))
    one, same, other = (only_model(Cart(), task, seed) for seed in (0, 0, 1))
    codes = [each.sample(50, np.random.default_rng(seed)) for each, seed in ((one, 1), (same, 1), (other, 2))]
    assert (codes[0] == codes[1]).all()
    assert (codes[0] != codes[2]).any()


def test_it_guarantees_nothing_and_has_no_losses():
    task = task_of(random_columns(50), epsilon=1.0)
    model = only_model(Cart(), task)
    assert (Cart().guarantee(Knobs()), model.losses, model.state()) == (None, {}, {})


def test_categories_are_in_the_order_of_their_first_principal_component():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 8, 3_000)
    columns = np.minimum(rng.poisson(1 + rows % 5), 6)
    profiles = np.stack([np.bincount(columns[rows == row], minlength=7) / (rows == row).sum() for row in range(8)])
    components = np.linalg.svd(profiles - profiles.mean(axis=0))[0]
    assert abs(np.corrcoef(components[:, 0], _ordered(rows, columns, rng))[0, 1]) > 0.999
