from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from aegis_provider.errors import PlanError, TableError
from aegis_provider.synth.generate.methods.marginals import Marginals, mutual_information, outward, spanning_tree
from aegis_provider.synth.generate.methods.method import Knobs, LearningTask
from tests.for_each import for_each
from tests.provider.synth.generate.methods.tasks import assert_drawn_from, only_model, random_columns, shares, task_of

CHAIN = {(0, 1), (1, 2), (2, 3)}


def edges(model):
    return {tuple(sorted((near, far))) for near, far, _ in model.steps}


class TestExactly:
    def test_a_chain_is_found_from_the_label_outward(self):
        model = only_model(Marginals(), task_of(random_columns(2_000)))
        assert edges(model) == CHAIN
        assert [(near, far) for near, far, _ in model.steps] == [(3, 2), (2, 1), (1, 0)]

    def test_the_privacy_knob_links_quasi_identifiers_to_the_label_instead(self):
        task = replace(task_of(random_columns(2_000)), quasi_identifiers=np.array([True, True, True, False]))
        star = {(0, 3), (1, 3), (2, 3)}
        assert edges(only_model(Marginals(), replace(task, knobs=Knobs(privacy=1e6)))) == star
        weights = np.array([1.0, 1.0, 0.0, 0.0])
        of_two = replace(task, knobs=Knobs(privacy=1e6), privacy_weights=weights)
        assert edges(only_model(Marginals(), of_two)) == {(0, 2), (1, 2), (2, 3)}

    def test_the_value_knob_links_what_is_important_to_the_label(self):
        task = replace(task_of(random_columns(2_000)), importance=np.array([1.0, 0.0, 0.0, 0.0]))
        assert edges(only_model(Marginals(), replace(task, knobs=Knobs(value=1e6)))) == {(0, 1), (1, 2), (0, 3)}

    def test_pairs_of_the_tree_have_the_training_shares(self):
        task = task_of(random_columns(2_000))
        model = only_model(Marginals(), task)
        codes = model.sample(3_001, np.random.default_rng(0))
        for near, far, _ in model.steps:
            trained = shares(task.codes, (near, far), task.sizes)
            counts = shares(codes, (near, far), task.sizes) * 3_001
            expected = counts.sum(axis=1, keepdims=True) * trained / trained.sum(axis=1, keepdims=True)
            assert np.abs(counts - expected).max() < 2

    def test_columns_apart_are_independent_given_those_between(self):
        task = task_of(random_columns(2_000))
        codes = only_model(Marginals(), task).sample(5_000, np.random.default_rng(0))
        one, other = (shares(task.codes, pair, task.sizes) for pair in ((1, 2), (2, 3)))
        between = one.T / one.sum(axis=0)[:, np.newaxis]
        expected = np.einsum("ba,bc->ac", between, other)
        assert_drawn_from(shares(codes, (1, 3), task.sizes) * 5_000, expected, 5_000)

    def test_a_seed_determines_the_records(self):
        task = task_of(random_columns(300))
        one, same, other = (
            only_model(Marginals(), task, seed).sample(99, np.random.default_rng(seed)) for seed in (0, 0, 1)
        )
        assert (one == same).all()
        assert (one != other).any()

    @for_each(
        "columns",
        [
            {"label": list("ab") * 10},
            {"label": list("a") * 20},
            {"constant": [7] * 20, "label": list("ab") * 10},
            {"a": [1, 1, 1], "b": ["", "", 3], "label": [2, 2, 2]},
        ],
    )
    @for_each("records", [0, 1, 7])
    def test_degenerate_tables_are_learnt(self, columns, records):
        task = task_of(columns, fewest=1)
        codes = only_model(Marginals(), task).sample(records, np.random.default_rng(0))
        assert codes.shape == (records, len(columns))
        assert {tuple(each) for each in codes} <= {tuple(each) for each in task.codes}

    def test_no_records_are_refused_in_one_line(self):
        task = task_of(random_columns(50))
        empty = LearningTask(task.levels, task.codes[:0], task.quasi_identifiers, task.privacy_weights, task.importance)
        with pytest.raises(TableError, match=r"^there are no records to learn from$"):
            list(Marginals().train(empty, np.random.default_rng(0)))


class TestGuarantee:
    def test_without_epsilon_there_is_none(self):
        assert Marginals().guarantee(Knobs()) is None

    def test_delta_does_not_follow_from_the_records(self):
        assert Marginals().guarantee(Knobs(epsilon=2.0)) == (2.0, 1e-9)
        assert Marginals().guarantee(Knobs(epsilon=2.0, delta=1e-6)) == (2.0, 1e-6)

    @for_each(
        ("knobs", "message"),
        [
            ({"epsilon": 0.0}, "epsilon is 0; choose a number from 1e-06 to 1e+06"),
            ({"epsilon": -1.0}, "epsilon is -1; choose a number from 1e-06 to 1e+06"),
            ({"epsilon": float("nan")}, "epsilon is nan; choose a number from 1e-06 to 1e+06"),
            ({"epsilon": 1.0, "delta": 0.0}, "delta is 0; choose a number between 0 and 1, less than 1 over"),
            (
                {"epsilon": 1.0, "value": 1.0},
                "importance depends on the records, so",
            ),
            ({"epsilon": 1.0, "delta": 1.0}, "delta is 1; choose a number between 0 and 1, less than 1 over"),
        ],
    )
    def test_what_guarantees_nothing_is_refused(self, knobs, message):
        task = task_of(random_columns(50))
        for use in (Marginals().guarantee, lambda knobs: only_model(Marginals(), replace(task, knobs=knobs))):
            with pytest.raises(PlanError) as raised:
                use(Knobs(**knobs))
            assert str(raised.value).startswith(message)
            assert "\n" not in str(raised.value)


class TestTree:
    def test_mutual_information_is_scikit_learns_less_the_bias(self):
        rng = np.random.default_rng(0)
        one, other = rng.integers(0, 5, 400), rng.integers(0, 4, 400)
        expected = mutual_info_score(one, other) - 4 * 3 / 800
        assert mutual_information(one, other) == pytest.approx(expected)

    def test_independent_columns_have_none_on_average(self):
        rng = np.random.default_rng(0)
        found = [mutual_information(*rng.integers(0, 8, (2, 1_000))) for _ in range(200)]
        # Without the correction the mean would be 0.0245.
        assert abs(np.mean(found)) < 3 * np.std(found) / np.sqrt(200) + 0.001

    def test_choices_never_close_a_circle(self):
        seen = []

        def last(candidates):
            seen.append(candidates)
            return candidates[-1]

        assert spanning_tree(4, last) == [(2, 3), (1, 3), (0, 3)]
        assert seen[1] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)]

    def test_a_tree_is_walked_from_its_root(self):
        assert list(outward([(0, 1), (1, 2), (3, 4), (1, 3)], 2)) == [(2, 1), (1, 0), (1, 3), (3, 4)]
