"""Views as published by a provider who adds noise, rounds, leaves records out, or masks at random."""

import numpy as np

from aegis_advisor.evidence import Masking, Perturbation
from tests.advisor.cases import mapped


def laplace(rng, scale, shape):
    """Discrete Laplace noise: the difference of two geometric numbers."""
    chance = -np.expm1(-1 / scale)
    return rng.geometric(chance, shape) - rng.geometric(chance, shape)


def noisy(rng, name, mapping, table, scale, **declared):
    """A view whose counts have noise added."""
    exact = mapped(name, mapping, table)
    joint = exact.joint + laplace(rng, scale, exact.joint.shape)
    return Masking(name, exact.groups, exact.mapping, joint, True, Perturbation(noise_scale=scale, **declared))


def rounded(name, mapping, table, base):
    """A view whose counts are rounded to the nearest multiple of a base."""
    exact = mapped(name, mapping, table)
    joint = (exact.joint + base // 2) // base * base
    return Masking(name, exact.groups, exact.mapping, joint, True, Perturbation(rounded_to=base))


def lacking(rng, name, mapping, table, missing):
    """A view that lacks some records, chosen at random."""
    kept = rng.multivariate_hypergeometric(table.ravel(), table.sum() - missing).reshape(table.shape)
    exact = mapped(name, mapping, kept)
    return Masking(name, exact.groups, exact.mapping, exact.joint, True, Perturbation(records=int(kept.sum())))


def randomised_response(values, keep):
    """The transition matrix that keeps a value with probability `keep`, and otherwise draws any value."""
    return keep * np.eye(values) + (1 - keep) / values


def drawn(rng, name, transition, table):
    """A view whose masked values are drawn by a transition matrix (values, groups)."""
    joint = np.zeros((transition.shape[1], table.shape[1]), dtype=np.int64)
    for value, label in np.ndindex(*table.shape):
        joint[:, label] += rng.multinomial(table[value, label], transition[value])
    return Masking(name, transition.shape[1], None, joint, deterministic=False, transition=transition)
