"""Pair counts that do not add up are refused; those of real records never are."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.advisor.evidence import (
    IDENTITY,
    AttributeEvidence,
    Masking,
    PairCounts,
    Perturbation,
    find_faults,
    find_pair_faults,
)

RECORDS = 60
SEEDS = st.integers(0, 2**32 - 1)


class World:
    """Records of three attributes, the maskings of each, and what is published of them: drawn at random."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.label = self.rng.integers(0, 2, RECORDS)
        self.values = [self._values(int(size)) for size in self.rng.integers(2, 7, 3)]
        self.sizes = [int(values.max()) + 1 for values in self.values]
        self.mappings = [self._mappings(size) for size in self.sizes]
        self.evidence = [self._evidence(place) for place in range(3)]

    def _values(self, size):
        values = self.rng.integers(0, size, RECORDS)
        values[:2] = 0, size - 1  # the last value of the domain occurs; some other may not
        return values

    def _mappings(self, size):
        """A fine masking, a function of it under two names, and one that is none; some groups are empty."""
        fine = self.rng.integers(0, 4, size)
        coarse = self.rng.integers(0, 3, 4)[fine]
        return {"fine": fine, "coarse": coarse, "renamed": 2 - coarse, "odd": np.arange(size) % 2}

    def _evidence(self, place):
        maskings = [self._masking(place, name) for name in self.mappings[place]]
        label = np.bincount(self.label, minlength=2)
        histogram = np.bincount(self.values[place]) if self.rng.random() < 0.5 else None
        return AttributeEvidence(f"a{place}", self.sizes[place], label, histogram, None, tuple(maskings))

    def _masking(self, place, name):
        mapping, groups = self.mappings[place][name], self.groups(place, name)
        joint = np.zeros((groups, 2), dtype=np.int64)
        np.add.at(joint, (mapping[self.values[place]], self.label), 1)
        known, counted = self.rng.choice([(True, True), (True, False), (False, True)])
        return Masking(name, groups, mapping if known else None, joint if counted else None, deterministic=True)

    def groups(self, place, masking):
        return {"fine": 4, "coarse": 3, "renamed": 3, "odd": 2, IDENTITY: self.sizes[place]}[masking]

    def pair(self, attributes, maskings):
        columns = [
            values if masking == IDENTITY else self.mappings[place][masking][values]
            for place, masking in zip(attributes, maskings, strict=True)
            for values in (self.values[place],)
        ]
        joint = np.zeros([self.groups(*which) for which in zip(attributes, maskings, strict=True)], dtype=np.int64)
        np.add.at(joint, tuple(columns), 1)
        return PairCounts(tuple(attributes), tuple(maskings), joint)

    def pairs(self, share=0.4, also=()):
        """Some of all pairs in any order, either attribute first; those `also` chosen among them."""
        names = (IDENTITY, "fine", "coarse", "renamed", "odd")
        every = [
            (attributes, maskings)
            for attributes in combinations(range(3), 2)
            for maskings in product(names, names)
            if (attributes, maskings) in also or self.rng.random() < share
        ]
        self.rng.shuffle(every)
        turned = [(a[::-1], m[::-1]) if self.rng.random() < 0.5 else (a, m) for a, m in every]
        return [self.pair(attributes, maskings) for attributes, maskings in turned]


def changed(pairs, index, joint):
    return [*pairs[:index], replace(pairs[index], joint=joint), *pairs[index + 1 :]]


@given(SEEDS)
def test_the_counts_of_real_records_pass(seed):
    world = World(seed)
    assert not any(find_faults(evidence) for evidence in world.evidence)
    assert find_pair_faults(world.evidence, world.pairs()) == ()


@given(SEEDS, st.integers(-3, 3).filter(bool))
def test_a_single_cell_that_is_changed_is_refused_at_its_table(seed, difference):
    world = World(seed)
    pairs = world.pairs()
    assume(pairs)
    index = int(world.rng.integers(len(pairs)))
    joint = pairs[index].joint.copy()
    joint[tuple(world.rng.integers(joint.shape))] += difference
    found = find_pair_faults(world.evidence, changed(pairs, index, joint))
    assert {fault.path[0] for fault in found} == {index}


def follows(world, coarser, finer):
    """The counts of a pair, added up from another's; None where a masked value would go two ways, or unknown ones."""
    turn = 1 if coarser.attributes == finer.attributes else -1
    steps = []
    for attribute, here, there in zip(coarser.attributes, coarser.maskings, finer.maskings[::turn], strict=True):
        codes = [
            np.arange(world.sizes[attribute]) if name == IDENTITY else world.mappings[attribute][name]
            for name in (there, here)
        ]
        step = set(zip(*(code.tolist() for code in codes), strict=True))
        published = {m.id for m in world.evidence[attribute].maskings if m.mapping is not None} | {IDENTITY}
        if len({group for group, _ in step}) < len(step) or not (here == there or {here, there} <= published):
            return None
        steps.append(dict(step))
    total = np.zeros_like(coarser.joint)
    for cell, count in np.ndenumerate(finer.joint if turn == 1 else finer.joint.T):
        if count:
            total[steps[0][cell[0]], steps[1][cell[1]]] += count
    return total


@given(SEEDS)
def test_a_change_that_keeps_all_sums_is_refused_exactly_where_a_table_does_not_follow(seed):
    world = World(seed)
    finest = [(attributes, (IDENTITY, IDENTITY)) for attributes in combinations(range(3), 2)]
    pairs = world.pairs(0.2, also=finest)
    index = int(world.rng.integers(len(pairs)))
    joint = pairs[index].joint.copy()
    rows, columns = (world.rng.permutation(size)[:2] for size in joint.shape)
    assume(len(rows) == len(columns) == 2)
    joint[np.ix_(rows, columns)] += [[1, -1], [-1, 1]]
    assume(joint.min() >= 0)
    pairs = changed(pairs, index, joint)
    wrong = any(
        (total := follows(world, one, other)) is not None and not np.array_equal(total, one.joint)
        for one, other in product(pairs, pairs)
        if one is not other and set(one.attributes) == set(other.attributes)
    )
    assert bool(find_pair_faults(world.evidence, pairs)) == wrong


# Ten records; age in two groups, of which the counts are known; zip in two, and nothing is known of its values.
AGE = AttributeEvidence(
    name="age",
    values=3,
    label_histogram=np.array([4, 6]),
    histogram=np.array([3, 3, 4]),
    joint=None,
    maskings=(
        Masking("age-2", 2, np.array([0, 0, 1]), np.array([[2, 4], [2, 2]]), deterministic=True),
        Masking("age-1", 1, np.array([0, 0, 0]), None, deterministic=True),
        Masking("noisy", 2, np.array([0, 0, 1]), np.array([[2, 4], [2, 3]]), True, Perturbation(noise_scale=1.0)),
        Masking("rounded", 2, np.array([0, 0, 1]), np.array([[2, 4], [2, 2]]), True, Perturbation(rounded_to=2)),
        Masking("lacking", 2, np.array([0, 0, 1]), np.array([[2, 4], [2, 1]]), True, Perturbation(records=9)),
        Masking("again", 2, np.array([1, 1, 0]), None, deterministic=True),
    ),
)
ZIP = AttributeEvidence(
    name="zip",
    values=3,
    label_histogram=np.array([4, 6]),
    histogram=None,
    joint=None,
    maskings=(
        Masking("zip-3", 4, np.array([0, 1, 2]), None, deterministic=True),
        Masking("zip-2", 2, np.array([0, 1, 1]), None, deterministic=True),
        Masking("counted", 2, np.array([0, 1, 1]), np.array([[3, 2], [1, 4]]), deterministic=True),
    ),
)


def pair(maskings, joint, attributes=(0, 1)):
    return PairCounts(attributes, maskings, np.array(joint))


SOUND = pair(("age-2", "counted"), [[4, 2], [1, 3]])
HIDDEN = (
    "are declared inexact (noise, rounded_to or records), and pair counts are exact: "
    "they would give away what the declaration hides"
)

FAULTS = {
    "shape": ([pair(("age-2", "counted"), [[4, 2, 0], [1, 3, 0]])], [((0, "joint"), "has shape (2, 3), not (2, 2)")]),
    "negative": (
        [pair(("age-2", "counted"), [[-4, 2], [1, 3]])],
        [((0, "joint", 0, 0), "-4 is not a count from 0 to 9007199254740991")],
    ),
    "total": (
        [SOUND, pair(("age-1", "counted"), [[5, 6]])],
        [
            ((1, "joint"), "adds up to 11, there are 10 (1 too many)"),
            ((1, "joint", 0), "adds up to 11, the histogram of its values counts 10 (1 too many)"),
            ((1, "joint"), "column 1 adds up to 6, the counts of 'counted' add up to 5 (1 too many)"),
        ],
    ),
    "rows": (
        [pair(("age-2", "counted"), [[4, 1], [1, 4]])],
        [
            ((0, "joint", 0), "adds up to 5, the counts of 'age-2' add up to 6 (1 too few)"),
            ((0, "joint", 1), "adds up to 5, the counts of 'age-2' add up to 4 (1 too many)"),
        ],
    ),
    "columns": (
        [pair(("age-2", "counted"), [[3, 3], [1, 3]])],
        [
            ((0, "joint"), "column 0 adds up to 4, the counts of 'counted' add up to 5 (1 too few)"),
            ((0, "joint"), "column 1 adds up to 6, the counts of 'counted' add up to 5 (1 too many)"),
        ],
    ),
    "rows against the histogram": (
        [pair(("identity", "counted"), [[2, 1], [3, 1], [0, 3]])],
        [
            ((0, "joint", 1), "adds up to 4, the histogram counts 3 (1 too many)"),
            ((0, "joint", 2), "adds up to 3, the histogram counts 4 (1 too few)"),
        ],
    ),
    "a margin that only another pair tells": (
        [
            pair(("age-2", "zip-2"), [[5, 1], [0, 4]]),
            pair(("zip-2", "age-1"), [[4], [6]], attributes=(1, 0)),
        ],
        [
            ((1, "joint", 0), "adds up to 4, pair 0 counts 5 (1 too few)"),
            ((1, "joint", 1), "adds up to 6, pair 0 counts 5 (1 too many)"),
        ],
    ),
    "a margin that a coarser masking tells": (
        [pair(("age-1", "identity"), [[4, 3, 3]])],
        [
            (
                (0, "joint"),
                "masked value 0 of 'counted' adds up to 4, the counts of 'counted' add up to 5 (1 too few)",
            ),
            (
                (0, "joint"),
                "masked value 1 of 'counted' adds up to 6, the counts of 'counted' add up to 5 (1 too many)",
            ),
        ],
    ),
    "a masked value without preimage": (
        [pair(("age-1", "zip-3"), [[5, 3, 1, 1]])],
        [
            ((0, "joint"), "no value is mapped to masked value 3 of 'zip-3', yet it counts 1 records"),
            (
                (0, "joint"),
                "masked value 0 of 'counted' adds up to 6, the counts of 'counted' add up to 5 (1 too many)",
            ),
            (
                (0, "joint"),
                "masked value 1 of 'counted' adds up to 4, the counts of 'counted' add up to 5 (1 too few)",
            ),
        ],
    ),
    "a table that does not follow from a finer one": (
        [pair(("counted", "again"), [[2, 3], [2, 3]], attributes=(1, 0)), SOUND],
        [
            ((1, "joint", 0, 0), "is 4, pair 0, from which it follows, adds up to 3 (1 too many)"),
            ((1, "joint", 0, 1), "is 2, pair 0, from which it follows, adds up to 3 (1 too few)"),
            ((1, "joint", 1, 0), "is 1, pair 0, from which it follows, adds up to 2 (1 too few)"),
            ((1, "joint", 1, 1), "is 3, pair 0, from which it follows, adds up to 2 (1 too many)"),
        ],
    ),
    "a table that does not follow, the other attribute first": (
        [SOUND, pair(("counted", "again"), [[2, 3], [2, 3]], attributes=(1, 0))],
        [
            ((1, "joint", 0, 0), "is 2, pair 0, from which it follows, adds up to 1 (1 too many)"),
            ((1, "joint", 1, 0), "is 2, pair 0, from which it follows, adds up to 3 (1 too few)"),
            ((1, "joint", 0, 1), "is 3, pair 0, from which it follows, adds up to 4 (1 too few)"),
            ((1, "joint", 1, 1), "is 3, pair 0, from which it follows, adds up to 2 (1 too many)"),
        ],
    ),
    "noise": ([pair(("noisy", "zip-2"), [[1, 5], [2, 2]])], [((0, "maskings", 0), f"the counts of 'noisy' {HIDDEN}")]),
    "rounding": (
        [pair(("zip-2", "rounded"), [[1, 5], [2, 2]], attributes=(1, 0))],
        [((0, "maskings", 1), f"the counts of 'rounded' {HIDDEN}")],
    ),
    "records left out": (
        [pair(("lacking", "zip-2"), [[1, 5], [2, 2]])],
        [((0, "maskings", 0), f"the counts of 'lacking' {HIDDEN}")],
    ),
}


@pytest.mark.parametrize(("pairs", "expected"), FAULTS.values(), ids=FAULTS.keys())
def test_every_kind_of_fault_is_named_with_its_place_and_difference(pairs, expected):
    found = find_pair_faults([AGE, ZIP], pairs)
    assert [(fault.path, fault.detail) for fault in found] == expected


def test_a_table_that_is_wrong_by_itself_is_not_compared_with_others():
    wrong = pair(("again", "counted"), [[0, 0], [0, 0]])
    assert {fault.path[0] for fault in find_pair_faults([AGE, ZIP], [wrong, SOUND])} == {0}


def test_a_margin_that_a_pair_of_a_finer_masking_tells():
    bare = replace(ZIP, maskings=ZIP.maskings[:2])
    pairs = [pair(("age-2", "zip-3"), [[4, 1, 1, 0], [1, 1, 2, 0]]), pair(("age-1", "zip-2"), [[6, 4]])]
    found = find_pair_faults([AGE, bare], pairs)
    assert [(fault.path, fault.detail) for fault in found] == [
        ((1, "joint"), "masked value 0 of 'zip-2' adds up to 6, pair 0 counts 5 (1 too many)"),
        ((1, "joint"), "masked value 1 of 'zip-2' adds up to 4, pair 0 counts 5 (1 too few)"),
    ]


def test_of_a_total_beyond_64_bits_only_the_total_is_named():
    wide = AttributeEvidence("wide", 40, np.array([4, 6]), np.array([10] + [0] * 39), None, ())
    [fault] = find_pair_faults([wide, wide], [pair((IDENTITY, IDENTITY), np.full((40, 40), 2**53 - 1))])
    assert fault.path == (0, "joint")
    assert f"adds up to {1600 * (2**53 - 1)}, there are 10" in fault.detail


def test_the_first_hundred_faults_are_named():
    found = find_pair_faults([AGE, ZIP], [pair(("age-2", "counted"), [[0, 0], [0, 0]])] * 1000)
    assert len(found) == 100
    assert found[-1].path[0] < 100


def test_no_pairs_are_sound():
    assert find_pair_faults([AGE, ZIP], []) == ()
