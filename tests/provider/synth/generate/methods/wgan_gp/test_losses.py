"""The losses against formulas written out in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aegis_provider.synth.generate.methods.wgan_gp import Nearness, critic_loss, generator_loss, nearest_sum
from aegis_provider.synth.generate.networks import Blocks, distance_map, initial_weights, outputs_of
from tests.provider.synth.generate.methods.tasks import assert_drawn_from, random_columns, task_of


@pytest.fixture(scope="module")
def task():
    columns = random_columns(400)
    columns["number"] = np.where(np.arange(400) % 9 == 0, "", columns["number"].astype(str))
    return task_of(columns)


def distance(task, weights, one, other):
    """The distance of two records, by their levels."""
    total = 0.0
    for place, levels in enumerate(task.levels):
        mine, theirs = one[place], other[place]
        if levels.positions is None:
            square = float(mine != theirs)
        elif levels.missing in (mine, theirs) and mine != theirs:
            [known] = {mine, theirs} - {levels.missing}
            square = (levels.positions[known] - 0.5) ** 2 + 0.75
        else:
            square = float(levels.positions[mine] - levels.positions[theirs]) ** 2 if mine != theirs else 0.0
        total += weights[place] * square
    return np.sqrt(total)


def test_features_have_the_distances_of_the_records(task):
    weights = np.array([0.3, 1.0, 0.0, 0.5])
    blocks = Blocks(task.sizes)
    features = np.asarray(blocks.one_hot(jnp.asarray(task.codes[:40]))) @ distance_map(task.levels, weights)
    for one in range(40):
        for other in range(one):
            expected = distance(task, weights, task.codes[one], task.codes[other])
            assert np.linalg.norm(features[one] - features[other]) == pytest.approx(expected, abs=1e-5)


def test_the_vectors_of_records_are_multiplied_without_being_made(task):
    blocks, entries = Blocks(task.sizes), distance_map(task.levels, np.ones(4))
    expected = np.asarray(blocks.one_hot(jnp.asarray(task.codes))) @ entries
    np.testing.assert_allclose(blocks.vectors(task.codes, entries), expected, rtol=1e-5, atol=1e-6)


def test_levels_are_drawn_by_the_probabilities_of_their_logits():
    probabilities = np.array([0.2, 0.8, 0.1, 0.3, 0.6])
    logits = np.tile(np.log(probabilities), (20_000, 1)).astype(np.float32)
    codes = Blocks((2, 3)).hard(logits, np.random.default_rng(0))
    for column, expected in zip(codes.T, (probabilities[:2], probabilities[2:]), strict=True):
        assert_drawn_from(np.bincount(column, minlength=len(expected)), expected, 20_000)


def test_s_is_the_sum_of_the_distances_to_the_nearest():
    rng = np.random.default_rng(0)
    records, reference = rng.normal(size=(12, 3)), rng.normal(size=(30, 3))
    every = np.linalg.norm(records[:, None] - reference, axis=2)
    expected = np.sort(every, axis=1)[:, :4].sum(axis=1)
    found = jax.jit(nearest_sum, static_argnums=2)(jnp.asarray(records), jnp.asarray(reference), 4)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.long
def test_the_derivative_of_s_is_finite_where_a_record_is_equal_to_a_real_one():
    reference = jnp.asarray(np.random.default_rng(0).normal(size=(9, 2)))
    slopes = jax.grad(lambda records: nearest_sum(records, reference, 3).sum())(reference[:4])
    assert np.isfinite(np.asarray(slopes)).all()


def nearness(scale, weight):
    return Nearness(jnp.eye(2), jnp.asarray(scale), jnp.asarray(weight))


@pytest.mark.long
def test_the_loss_of_the_generator_is_that_of_the_decision():
    rng = np.random.default_rng(1)
    generated, reference = rng.normal(size=(6, 2)), rng.normal(size=(20, 2))
    critic = initial_weights((2, 8, 1), np.random.default_rng(0))
    sums = np.sort(np.linalg.norm(generated[:, None] - reference, axis=2), axis=1)[:, :5].sum(axis=1)
    expected = (
        -np.asarray(outputs_of(critic, jnp.asarray(generated))).mean()
        + 3.0 * np.exp(-sums / 2).mean()
        + 0.5 * (1 - np.exp(-sums / 4)).mean()
    )
    loss = generator_loss(
        jnp.asarray(generated), critic, jnp.asarray(reference), nearness(2.0, 3.0), nearness(4.0, 0.5), 5
    )
    assert float(loss) == pytest.approx(expected, rel=1e-4)


def test_a_term_without_weight_is_left_out():
    rng = np.random.default_rng(3)
    generated, reference = (jnp.asarray(rng.normal(size=(size, 2))) for size in (6, 20))
    critic, loss = initial_weights((2, 8, 1), rng), jax.jit(generator_loss, static_argnums=5)
    for privacy, value in ((0.0, 2.0), (2.0, 0.0), (0.0, 0.0)):
        weighed = [nearness(2.0, privacy), nearness(4.0, value)]
        used = [each if each.weight else None for each in weighed]
        expected = loss(generated, critic, reference, *weighed, 5)
        assert float(loss(generated, critic, reference, *used, 5)) == pytest.approx(float(expected))


@pytest.mark.long
def test_privacy_pushes_away_from_real_records_and_value_pulls_near():
    critic = [(jnp.zeros((2, 1)), jnp.zeros(1))]
    reference = jnp.zeros((5, 2))
    record = jnp.asarray([[1.0, 0.0]])

    def slope(privacy, value):
        both = nearness(5.0, privacy), nearness(5.0, value)
        return float(jax.grad(lambda one: generator_loss(one, critic, reference, *both, 5))(record)[0, 0])

    assert slope(1.0, 0.0) < 0  # descending moves the record away
    assert slope(0.0, 1.0) > 0


@pytest.mark.long
def test_the_penalty_is_zero_where_the_critic_has_slope_one():
    rng = np.random.default_rng(2)
    real, generated = (jnp.asarray(rng.normal(size=(7, 2))) for _ in range(2))
    for slope, penalty in ((1.0, 0.0), (3.0, 4.0)):
        critic = [(jnp.asarray([[slope], [0.0]]), jnp.zeros(1))]
        gap = slope * float((generated - real)[:, 0].mean())
        loss = critic_loss(critic, real, generated, jax.random.key(1), 10.0)
        assert float(loss) == pytest.approx(gap + 10 * penalty, abs=1e-3)
