"""A check of every combination of maskings in plain Python, slow and independent of the search."""

import math
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product

import numpy as np

AT_LEAST = {"k", "l", "entropy_l"}


def blocks(mapping, values):
    """Return the sets of values with the same masked value, as a set of sets; `mapping` has the masked values."""
    found = defaultdict(set)
    for value in values:
        found[mapping[value]].add(value)
    return frozenset(map(frozenset, found.values()))


def is_finer(one, other):
    """Return whether every block of the one lies in a block of the other."""
    return all(any(block <= wider for wider in other) for block in one)


def is_step(finer, coarser, choices):
    """Return whether the one is finer than the other, with no choice between them."""
    if finer == coarser or not is_finer(finer, coarser):
        return False
    between = (each for each in choices if each not in {finer, coarser})
    return not any(is_finer(finer, each) and is_finer(each, coarser) for each in between)


def minimal(holds, choices):
    """Return the combinations that hold while none that is finer by one step of one attribute does."""
    found = set()
    for node in holds:
        below = (
            (*node[:axis], step, *node[axis + 1 :])
            for axis, here in enumerate(node)
            for step in choices[axis]
            if is_step(step, here, choices[axis])
        )
        if not any(each in holds for each in below):
            found.add(node)
    return found


def every_combination(records, choices, sensitive, require, share):
    """Return the combinations of blocks that hold, with the privacy reached and the number of records suppressed."""
    holds = {}
    for node in product(*choices):
        reached = release(records, node, sensitive, require, share)
        if reached is not None:
            holds[node] = reached
    return holds


def release(records, node, sensitive, require, share):
    """Return the privacy reached without the classes that break a promise; `None` if these have too many records."""
    classes = defaultdict(list)
    for record in records:
        classes[tuple(next(block for block in each if record[at] in block) for at, each in enumerate(node))].append(
            record
        )
    measured = [{name: worst(name, each, records, sensitive) for name in require} for each in classes.values()]
    sizes = list(map(len, classes.values()))
    kept = [at for at, each in enumerate(measured) if all(keeps(name, each[name], require[name]) for name in require)]
    suppressed = len(records) - sum(sizes[at] for at in kept)
    if suppressed > share * len(records):
        return None
    best = {n: (min if n in AT_LEAST else max)(measured[at][n] for at in kept) for n in require}
    return best, suppressed


def keeps(name, value, limit):
    return value >= limit - 1e-9 if name in AT_LEAST else value <= limit + 1e-9


def worst(name, members, records, sensitive):
    """Return the value of a criterion for one class, on the sensitive attribute where it is worst."""
    if name == "k":
        return len(members)
    found = [_criterion(name, Counter(r[s] for r in members), Counter(r[s] for r in records)) for s in sensitive]
    return (min if name in AT_LEAST else max)(found)


def _criterion(name, here, whole):
    q = {value: Fraction(count, here.total()) for value, count in here.items()}
    p = {value: Fraction(count, whole.total()) for value, count in whole.items()}
    if name == "l":
        return len(q)
    if name == "entropy_l":
        return math.exp(-sum(float(each) * math.log(each) for each in q.values()))
    if name == "t":
        return float(sum(abs(q.get(value, 0) - p[value]) for value in p) / 2)
    if name == "beta":
        return float(max((q[value] - p[value]) / p[value] for value in q))
    if name == "alpha":
        return float(max(q.values()))
    assert name == "delta_disclosure"
    return max(abs(math.log(q[value] / p[value])) for value in q)


def joint_utility(records, node, label=3):
    """Return Pillai's trace of the blocks' indicators and the label's, from the records, less what chance adds to it.

    The sum of the squared multiple correlations of orthonormal functions of the label with the indicators, by least
    squares; then Ezekiel's adjustment.
    """
    masked = [[float(record[at] in block) for at, each in enumerate(node) for block in each] for record in records]
    x = np.array(masked) - np.mean(masked, axis=0)
    labels = sorted({record[label] for record in records})
    y = np.array([[float(record[label] == each) for each in labels] for record in records])
    left, singular, _ = np.linalg.svd(y - y.mean(axis=0), full_matrices=False)
    basis, classes, number = left[:, singular > 1e-9], len(labels) - 1, len(records)
    fitted = x @ np.linalg.lstsq(x, basis, rcond=1e-9)[0]
    trace, rank = float(np.sum(fitted * basis)), int(np.linalg.matrix_rank(x, tol=1e-8))
    freedom = number - 1 - rank
    return classes - (classes - trace) * (number - 1) / freedom if freedom >= 1 else 0.0
