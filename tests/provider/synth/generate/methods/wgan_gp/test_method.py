"""The method: what it learns, the same for a seed, and on from a state."""

import numpy as np
import pytest

from aegis_provider.synth.fidelity.encoding import pair_total_variation
from aegis_provider.synth.generate.methods.method import DivergedError
from aegis_provider.synth.generate.methods.wgan_gp import WganGp, WganSettings
from aegis_provider.synth.generate.networks import importance_of
from tests.provider.synth.generate.methods.tasks import random_columns, task_of

SMALL = WganSettings(hidden=(32,), noise=16, batch=64, reference=64, rate=2e-3, critic_steps=2)
METHOD = WganGp(SMALL, every=80)


def models(task, seed, count, method=METHOD, state=None):
    training = method.train(task, np.random.default_rng(seed), state)
    return [next(training) for _ in range(count)]


def sample(model, records=400):
    return model.sample(records, np.random.default_rng(5))


@pytest.fixture(scope="module")
def task():
    return task_of(random_columns(1_000))


@pytest.mark.long
def test_it_comes_nearer_to_the_table_than_independent_columns_and_is_the_same_for_a_seed(task):
    first, *_, last = models(task, 1, 8)
    distances = [pair_total_variation(sample(each, 4_000), task.codes, task.sizes) for each in (first, last)]
    rng = np.random.default_rng(0)
    shuffled = np.stack([rng.permutation(each) for each in task.codes.T], axis=1)
    assert distances[1] < distances[0]
    assert distances[1] < pair_total_variation(shuffled, task.codes, task.sizes)
    np.testing.assert_array_equal(sample(models(task, 1, 2)[1]), sample(models(task, 1, 2)[1]))
    assert not np.array_equal(sample(models(task, 2, 1)[0]), sample(first))


@pytest.mark.long
def test_a_training_that_goes_on_ends_as_if_it_had_not_been_stopped(task):
    one, two, three = models(task, 3, 3)
    [again] = models(task, 3, 1, state=two.state())
    np.testing.assert_array_equal(sample(again), sample(three))
    restored = METHOD.restored(task, one.state())
    np.testing.assert_array_equal(sample(restored), sample(one))


@pytest.mark.long
def test_weights_that_are_no_numbers_end_the_training(task):
    wild = WganGp(SMALL._replace(rate=1e30), every=80)
    with pytest.raises(DivergedError, match="the training diverged within 80 iterations"):
        models(task, 1, 1, wild)


@pytest.mark.long
def test_the_column_that_tells_the_label_is_the_most_important():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (2_000, 4))
    codes[:, 3] = codes[:, 1] > 0
    weights = importance_of(codes, (3, 3, 3, 2), np.random.default_rng(1))
    assert sorted(weights[:3].tolist()) == pytest.approx([1 / 3, 2 / 3, 1])
    assert weights[1] == 1
    assert weights[3] == 0
