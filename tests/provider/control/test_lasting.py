"""Numbers that last: by name, and so equal entries of equal tables, and few other cells where few records changed."""

import numpy as np
import pytest

from aegis_provider.control import LastingRandomness
from aegis_provider.control.dependent_rounding import rounded_once, rounded_up
from aegis_provider.control.lasting import cell_names
from aegis_provider.counting.counts import Partition


def test_a_number_belongs_to_its_name_and_key():
    chance = LastingRandomness()
    whole = chance.of("age").numbers(["20", "30", "40"], ["n", "y"])
    assert np.array_equal(chance.of("age").numbers(["40", "20"], ["y"]), whole[[2, 0], 1:])
    assert len({*whole.ravel(), *chance.of("sex").numbers(["20"])[0], *LastingRandomness().numbers(["20"])[0]}) == 8
    assert chance.of("a", "b").number("c") not in {chance.of("a").number("bc"), chance.of("ab").number("c")}
    assert len({*cell_names(["a", "a1"], ["1b", "b"])}) == 4


def test_numbers_are_uniform():
    numbers = LastingRandomness(bytes(32)).numbers(map(str, range(2_000)), list("abcde")).ravel()
    histogram = np.histogram(numbers, 20, (0, 1))[0]
    assert np.sum((histogram - 500) ** 2 / 500) < 60  # of chi-square with 19 degrees of freedom: 4e-6
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 0.05


@pytest.fixture
def table():
    """Counts (values, labels), their views, and the names of the values."""
    joint = np.random.default_rng(3).poisson(6, (64, 3))
    fine = np.arange(64) // 4
    return joint, [Partition(fine, 16), Partition(fine // 4, 4)], [f"v{place}" for place in range(64)]


def rounded(chance, table):
    joint, views, names = table
    up = rounded_up(joint.sum(axis=0), 5, chance.of("label"), list("abc"))
    return rounded_once(joint, views, 5, up, chance, names, list("abc"))


def test_one_record_changes_few_cells_and_none_of_another_label(table):
    joint, views, names = table
    chance, changes = LastingRandomness(bytes(32)), []
    before = rounded(chance, table)
    assert np.array_equal(before, rounded(chance, table))
    for value in range(64):
        more = joint.copy()
        more[value, 1] += 1
        differs = before != rounded(chance, (more, views, names))
        assert not differs[:, [0, 2]].any()
        changes.append(int(differs.sum()))
    assert np.mean(changes) < 3
    assert max(changes) <= 12
    assert np.count_nonzero(before != rounded(LastingRandomness(), table)) > 40


def test_a_value_more_changes_few_cells(table):
    joint, _, names = table
    chance = LastingRandomness(bytes(32))
    more = np.insert(joint, 20, [3, 0, 1], axis=0), [], [*names[:20], "new", *names[20:]]
    differs = rounded(chance, (joint, [], names)) != np.delete(rounded(chance, more), 20, axis=0)
    assert differs.sum() <= 12
