"""Whether the trace tells a small count to a reader who tries every table that the rounded counts allow."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from aegis_provider import LastingRandomness, load_plan, prepare_entry
from tests.for_each import for_each

PLAN = """label: y
attributes:
  a: {type: string, maskings: {ga: {mapping: {a0: n, a1: m}}}}
  b: {type: string, maskings: {gb: {mapping: {b0: s, b1: t}}}}
configurations: {c1: {a: ga, b: gb}}
"""


def table(random, rare):
    """Two binary attributes, the first of which nearly is the label, and a rare label value."""
    number, ones, labels = int(random.integers(800, 2400)), int(random.integers(20, 320)), int(random.integers(*rare))
    few = min(int(random.integers(1, 5)), labels)
    inside = min(labels - few, ones - few) if random.random() < 0.5 else min(labels - few, ones)
    a, y, order = np.zeros(number, int), np.zeros(number, int), np.arange(number)
    a[:ones] = 1
    y[(order < inside) | ((order >= ones) & (order < ones + labels - inside))] = 1
    return a, (random.random(number) < 0.5).astype(int), y


def entry_of(a, b, y, plan):
    texts = {name: [f"{name}{value}" for value in values] for name, values in (("a", a), ("b", b), ("y", y))}
    return prepare_entry(pa.table(texts), plan, name="t", pairs=True, chance=LastingRandomness()).entry


def trace(ay, by, ab):
    """The adjusted trace of two binary attributes and a binary label, by counts (..., 2, 2); `ab` is of 1 and 1."""
    number = ay.sum(axis=(-1, -2))
    one, two, label = (part / number for part in (ay[..., 1, :].sum(-1), by[..., 1, :].sum(-1), ay[..., :, 1].sum(-1)))
    first, second = ay[..., 1, 1] / number - one * label, by[..., 1, 1] / number - two * label
    both, v1, v2 = ab / number - one * two, one * (1 - one), two * (1 - two)
    left = v1 * v2 - both**2
    with np.errstate(divide="ignore", invalid="ignore"):
        explained = (first**2 * v2 - 2 * first * second * both + second**2 * v1) / left / (label * (1 - label))
    return 1 - (1 - explained) * (number - 1) / (number - 3)


def chances(published, base):
    """By count that may have been published as this: how likely it was, before anything else is known."""
    return [
        (count, 1 - abs(count - published) / base) for count in range(max(0, published - base + 1), published + base)
    ]


def surest(entry):
    """The probability of the likeliest count of 1 to 4 of the first attribute, to a reader who knows all else."""
    base, told = entry.disclosure_control.rounded_to, entry.joint_trace
    first, second = (np.array(each.maskings[0].joint) for each in entry.attributes)
    both = np.array(entry.pairs[0].joint)
    sure = np.zeros((4, 5))
    total = 0.0
    for cells in product(*(chances(count, base) for count in first.ravel().tolist())):
        ay = np.array([count for count, _ in cells]).reshape(2, 2)
        options = list(product(*(chances(count, base) for count in second[1].tolist())))
        row = np.array([[count for count, _ in each] for each in options])
        by = np.stack([ay.sum(axis=0) - row, row], axis=1)
        likely = np.prod(np.maximum(0, 1 - np.abs(by - second) / base), axis=(1, 2))
        ab = np.arange(max(0, both[1, 1] - base), both[1, 1] + base + 1)[None, :]
        ones, twos = ay[1].sum(), by[:, 1].sum(axis=1)[:, None]
        counted = np.stack(np.broadcast_arrays(ay.sum() - ones - twos + ab, twos - ab, ones - ab, ab), axis=-1)
        paired = np.prod(np.maximum(0, 1 - np.abs(counted - both.ravel()) / base), axis=-1)
        near = np.maximum(0, 1 - np.abs(trace(ay, by[:, None], ab) - told.value) / told.rounded_to)
        weight = np.prod([chance for _, chance in cells]) * np.nansum(likely[:, None] * paired * near)
        total += weight
        for place, (count, _) in enumerate(cells):
            sure[place, count if count < 5 else 0] += weight
    return sure[:, 1:].max() / total


@pytest.mark.long
@for_each(("seed", "rare"), [(seed, rare) for seed in range(8) for rare in ((4, 40), (100, 300))])
def test_it_tells_no_count_where_all_attributes_have_few_values(tmp_path, seed, rare):
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN, encoding="utf-8")
    entry = entry_of(*table(np.random.default_rng(seed), rare), load_plan(path))
    if entry.joint_trace is not None and entry.pairs:
        assert surest(entry) <= 0.9
