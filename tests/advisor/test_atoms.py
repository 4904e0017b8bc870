import numpy as np

from aegis_advisor.atoms import AtomStatistics, common_refinement, per_atom
from tests.for_each import for_each


@for_each("seed", range(10))
def test_two_values_share_an_atom_where_no_mapping_tells_them_apart(seed):
    rng = np.random.default_rng(seed)
    mappings = [rng.integers(0, 3, 25) for _ in range(3)]
    atoms = common_refinement(mappings, 25)
    signature = list(zip(*mappings, strict=True))
    for one in range(25):
        for other in range(25):
            assert (atoms[one] == atoms[other]) == (signature[one] == signature[other])
    assert set(atoms) == set(range(atoms.max() + 1))


def test_many_groups_are_numbered_without_gaps_too():
    rng = np.random.default_rng(0)
    mappings = [rng.permutation(500)[:40], rng.integers(0, 3, 40)]
    assert sorted(common_refinement(mappings, 40)) == list(range(40))


def test_without_a_mapping_there_is_one_atom():
    assert common_refinement([], 3).tolist() == [0, 0, 0]


def test_a_mapping_reaches_the_atoms():
    mapping = np.array([2, 2, 0, 1, 0])
    atoms = common_refinement([mapping], 5)
    assert per_atom(mapping, atoms, 3)[atoms].tolist() == mapping.tolist()


def test_statistics_are_sums_over_values():
    atoms, counts = np.array([0, 1, 0, 1, 1], dtype=np.int32), np.array([3, 0, 5, 2, 2])
    found = AtomStatistics.counted(atoms, 2, counts)
    assert found.values.tolist() == [2, 3]
    assert found.occupied.tolist() == [2, 2]
    assert found.squares.tolist() == [34, 8]
    np.testing.assert_allclose(found.logs, [3 * np.log(3) + 5 * np.log(5), 4 * np.log(2)])


def test_uniform_statistics_are_those_of_equal_values():
    atoms = np.array([0, 1, 0, 1, 1, 2], dtype=np.int32)
    even = AtomStatistics.uniform(atoms, np.array([8.0, 6.0, 0.0]))
    counted = AtomStatistics.counted(atoms, 3, np.array([4, 2, 4, 2, 2, 0]))
    for name in ("values", "occupied", "squares", "logs"):
        np.testing.assert_allclose(getattr(even, name), getattr(counted, name))
