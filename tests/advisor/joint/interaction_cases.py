"""Records with and without interactions, and what their provider would say about the label."""

import numpy as np

from aegis_advisor.evidence import PairAssociation
from tests.advisor.joint.joint_cases import Records, counts


def bits(*columns, classes):
    """Records whose attributes are shared as they are, in a single masking `v0`."""
    values = np.stack(columns, axis=1)
    sizes = [int(column.max()) + 1 for column in columns]
    return Records(values, np.asarray(classes), [[np.arange(size)] for size in sizes])


def combination_counts(records, first, one, second, other):
    """(combinations, labels) counts of the combinations that occur."""
    both = np.stack([records.masked(first, one), records.masked(second, other)])
    _, place = np.unique(both, axis=1, return_inverse=True)
    place = place.reshape(-1)
    return counts(place, records.classes, (int(place.max()) + 1, int(records.classes.max()) + 1))


def told(records):
    """What every two maskings say about the label together, from the records."""
    found = []
    for pair in records.pairs():
        (first, second), (one, other) = pair.attributes, pair.maskings
        table = combination_counts(records, first, one, second, other).astype(float)
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        held = expected > 0
        chi_square = float(np.sum((table - expected)[held] ** 2 / expected[held]))
        found.append(PairAssociation((first, second), (one, other), chi_square, len(table)))
    return found


def drawn(seed, size=1500):
    """Three attributes of a few values with two maskings each, and a label with an interaction of the first two."""
    rng = np.random.default_rng(seed)
    values = np.stack([rng.integers(0, n, size) for n in (4, 3, 4)], axis=1)
    values[:, 2] = np.where(rng.random(size) < 0.5, values[:, 0], values[:, 2])
    chance = 0.2 + 0.6 * ((values[:, 0] % 2) ^ (values[:, 1] % 2))
    classes = (rng.random(size) < chance).astype(int) + (rng.random(size) < 0.1)
    mappings = [[np.arange(n), rng.permutation(np.arange(n) % 2)] for n in (4, 3, 4)]
    return Records(values, classes, mappings)
