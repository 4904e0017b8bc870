"""Evidence and pair counts as an entry has them whose counts were rounded once, for tests of the advisor alone."""

from dataclasses import replace

import numpy as np

from aegis_advisor.arrays import fold
from aegis_advisor.evidence import Perturbation


def at_random(rng, counts, base):
    """Counts rounded up with probability remainder / base, each by itself."""
    remainder = counts % base
    return counts - remainder + base * (rng.random(counts.shape) * base < remainder)


def with_same_sums(rng, joint, base, up):
    """Joint counts (values, labels) rounded down or up at random, with the sums over all values that `up` says."""
    down = joint - joint % base
    total = joint.sum(axis=0)
    missing = (total - total % base + base * up - down.sum(axis=0)) // base
    for label, more in enumerate(missing):
        chosen = rng.choice(len(joint), int(more), replace=False, p=chances(joint[:, label] % base, int(more)))
        down[chosen, label] += base
    return down


def chances(remainders, more):
    """The chance of each count to be rounded up; all alike if too few have a remainder."""
    if np.count_nonzero(remainders) < more or not remainders.sum():
        return None
    return remainders / remainders.sum()


def rounded_once(rng, evidence, base):
    """All attributes with counts that add up rounded ones; unmasked counts must be known."""
    label = evidence[0].label_histogram
    up = rng.random(label.size) * base < label % base
    return [_rounded(rng, one, base, up) for one in evidence]


def _rounded(rng, one, base, up):
    joint = with_same_sums(rng, one.joint, base, up)
    maskings = tuple(replace(each, joint=fold(joint, each.mapping, each.groups)) for each in one.maskings)
    return replace(
        one,
        label_histogram=joint.sum(axis=0),
        histogram=joint.sum(axis=1),
        joint=joint,
        maskings=maskings,
        rounded_once=base,
    )


def rounded_pairs(rng, pairs, base):
    """Pair counts that were rounded one by one."""
    declared = Perturbation(rounded_to=base)
    return [replace(pair, joint=at_random(rng, pair.joint, base), perturbation=declared) for pair in pairs]
