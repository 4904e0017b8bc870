from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from aegis_provider.synth.generate.methods import marginals as module
from aegis_provider.synth.generate.methods.marginals import Groups, Marginals, estimated, private_tree, simplex
from tests.for_each import for_each
from tests.provider.synth.generate.methods.tasks import only_model, random_columns, shares, task_of

CHAIN = {(0, 1), (1, 2), (2, 3)}


@pytest.mark.long
def test_with_much_epsilon_it_nears_the_exact_tree_and_two_trainings_differ():
    task = task_of(random_columns(2_000), epsilon=20.0)
    one, other = (only_model(Marginals(), task) for _ in range(2))
    assert {tuple(sorted(step[:2])) for step in one.steps} == CHAIN
    codes = [each.sample(20_000, np.random.default_rng(0)) for each in (one, other)]
    for pair in CHAIN:
        trained = shares(task.codes, pair, task.sizes)
        # The noise has a standard deviation of about 1 of 2,000 records.
        assert np.abs(shares(codes[0], pair, task.sizes) - trained).max() < 0.005
    assert (codes[0] != codes[1]).any()


@pytest.mark.long
def test_with_little_epsilon_columns_are_independent():
    one = np.random.default_rng(0).integers(0, 2, 1_000)
    task = task_of({"one": np.where(one, "a", "b"), "label": np.where(one, "yes", "no")}, epsilon=1e-3)
    dependence = []
    for _ in range(4):
        codes = only_model(Marginals(), task).sample(10_000, np.random.default_rng(0))
        joint = shares(codes, (0, 1), task.sizes)
        dependence.append(np.abs(joint - np.outer(joint.sum(axis=1), joint.sum(axis=0))).max())
    # A level stands out from the noise once in 740 times. Only then, a pair is counted at all, and even that is noise.
    assert min(dependence) < 0.001


@pytest.mark.long
def test_with_epsilon_too_the_privacy_knob_links_quasi_identifiers_to_the_label_instead():
    task = task_of(random_columns(4_000), epsilon=1e4, privacy=1e3)
    task = replace(task, quasi_identifiers=np.array([True, True, True, False]))
    assert {(near, far) for near, far, _ in only_model(Marginals(), task).steps} == {(3, 0), (3, 1), (3, 2)}


@for_each("share", [1.0, 1 / 3, 0.1])
@for_each("added", [0, 1_234])
def test_one_record_changes_no_exact_input_of_the_noise_by_more_than_one(monkeypatch, added, share):
    task = task_of(random_columns(2_000))
    answers, changes = [], []

    def let_noise_answer(draw):
        def answer(exact, amount):
            answers.append((np.array(exact), amount, draw(exact, amount)))
            return answers[-1][2]

        return answer

    def replay(distance):
        def answer(exact, amount):
            other, same, answer = answers[len(changes)]
            assert amount == same
            changes.append(distance(np.array(exact) - other))
            return answer

        return answer

    monkeypatch.setattr(module, "estimated", lambda *_: None)
    monkeypatch.setattr(module, "_model", lambda *_: None)
    with monkeypatch.context() as patched:
        patched.setattr(module, "noisy", let_noise_answer(module.noisy))
        patched.setattr(module, "noisy_largest", let_noise_answer(module.noisy_largest))
        private_tree(task.codes, task.levels, 0.01, lambda _pair: share)
    monkeypatch.setattr(module, "noisy", replay(lambda change: np.sqrt((change**2).sum())))
    monkeypatch.setattr(module, "noisy_largest", replay(lambda change: np.abs(change).max()))
    private_tree(np.vstack([task.codes, task.codes[added]]), task.levels, 0.01, lambda _pair: share)
    assert len(changes) == len(answers) == 4 + 3 + 3
    assert max(changes) == 1


@for_each("singles", [([41.0, 63.0], [55.0, 49.0]), ([41.0, 1.0, 4.0], [55.0, 49.0])])
def test_estimates_are_the_least_squares_that_are_counts(singles):
    noisy = np.array([[40.0, -6.0], [11.0, 60.0]])
    groups = [Groups.of(np.array(each), 2.0, ordered=False) for each in singles]
    total = np.mean([sum(each) for each in singles])

    def loss(flat):
        table = flat.reshape(2, 2)
        of_single = (
            (table.sum(axis=1 - axis) - each.counts) ** 2 / (4 * each.levels) for axis, each in enumerate(groups)
        )
        return ((table - noisy) ** 2).sum() / 9 + sum(each.sum() for each in of_single)

    constraint = {"type": "eq", "fun": lambda flat: flat.sum() - total}
    oracle = minimize(loss, np.full(4, total / 4), bounds=[(0, None)] * 4, constraints=constraint, tol=1e-12).x
    fitted = estimated(groups, {(0, 1): noisy}, 3.0)
    assert [each.size for each in groups] == [2, 2]
    assert fitted[0, 1].ravel() == pytest.approx(oracle, abs=0.05)
    assert fitted[1,] == pytest.approx(fitted[0, 1].sum(axis=0))


@pytest.mark.long
@for_each(
    "columns",
    [
        {"label": list("ab") * 10},
        {"constant": [7] * 20, "label": list("a") * 20},
        {"a": [1, 1, 1], "b": ["", "", 3], "label": [2, 2, 2]},
        {"a": [f"c{each % 25}" for each in range(500)], "label": list("ab") * 250},
    ],
)
def test_degenerate_tables_are_learnt(columns):
    task = task_of(columns, fewest=1, epsilon=1.0)
    model = only_model(Marginals(), task)
    for records in (0, 1, 2_000):
        codes = model.sample(records, np.random.default_rng(0))
        assert codes.shape == (records, len(columns))
        assert (codes >= 0).all()
        assert (codes < task.sizes).all()


def test_the_simplex_has_the_nearest_counts():
    rng = np.random.default_rng(0)
    for _ in range(20):
        counts = rng.normal(3, 10, 6)
        near = simplex(counts, 20.0)
        others = rng.dirichlet(np.full(6, 0.5), 2_000) * 20
        assert (near.min() >= 0, near.sum()) == (True, pytest.approx(20))
        assert ((near - counts) ** 2).sum() <= ((others - counts) ** 2).sum(axis=1).min()


class TestGroups:
    def test_rare_categories_share_a_group_and_are_drawn_by_their_noisy_counts(self):
        groups = Groups.of(np.array([90.0, 20.0, 80.0, -5.0, 10.0]), 10.0, ordered=False)
        assert groups.of_level.tolist() == [0, 2, 1, 2, 2]
        assert groups.levels.tolist() == [1, 1, 3]
        assert groups.counts.tolist() == [90, 80, 25]
        drawn = groups.within().drawn(np.repeat([0, 1, 2], 6), np.tile(np.arange(6) / 6, 3))
        assert drawn.tolist() == [0] * 6 + [2] * 6 + [1, 1, 1, 1, 4, 4]

    def test_rare_numbers_join_their_neighbours(self):
        groups = Groups.of(np.array([90.0, 20.0, 30.0, 5.0, 40.0, 8.0]), 10.0, ordered=True)
        assert groups.of_level.tolist() == [0, 1, 1, 2, 2, 2]

    @for_each("ordered", [True, False])
    def test_nothing_but_noise_is_one_group_of_equal_shares(self, ordered):
        groups = Groups.of(np.array([-3.0, -9.0, 0.0, -2.0]), 10.0, ordered=ordered)
        assert (groups.of_level.tolist(), groups.size) == ([0, 0, 0, 0], 1)
        assert groups.within().drawn(np.zeros(4, dtype=int), np.arange(4) / 4).tolist() == [0, 1, 2, 3]
