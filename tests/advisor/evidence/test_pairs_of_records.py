"""Pair counts of real records are never rejected, and changed ones always are."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from aegis_advisor.evidence import IDENTITY, AttributeEvidence, Masking, PairCounts
from aegis_advisor.evidence.checks import find_faults, find_pair_faults

RECORDS = 60
SEEDS = st.integers(0, 2**32 - 1)


class World:
    """Random records of three attributes, with random maskings of each and what is published about them."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.label = self.rng.integers(0, 2, RECORDS)
        self.values = [self._values(int(size)) for size in self.rng.integers(2, 7, 3)]
        self.sizes = [int(values.max()) + 1 for values in self.values]
        self.mappings = [self._mappings(size) for size in self.sizes]
        self.evidence = [self._evidence(place) for place in range(3)]

    def _values(self, size):
        values = self.rng.integers(0, size, RECORDS)
        values[:2] = 0, size - 1  # the last value of the domain occurs; some others may not
        return values

    def _mappings(self, size):
        """A fine masking, a function of it under two names, and another masking; some groups are empty."""
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
        """Some of all pairs, including those in `also`, in any order and with either attribute first."""
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
    """The counts of a pair, summed from another's; None if a masked value would split, or if that is unknown."""
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
