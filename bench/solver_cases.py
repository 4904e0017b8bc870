"""Tables to reconstruct, and the yardstick: plain iterative proportional fitting on the full domain."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.arrays import FloatArray, IntArray, fold
from aegis_advisor.evidence import AttributeEvidence, Masking


@dataclass(frozen=True)
class Case:
    """A true table and its masks. `target`: the most time it may take, in those of the yardstick.

    `kind`: intervals of an ordered domain that overlap without nesting, groups drawn at random, a hierarchy, or the
    rows, columns, diagonals and blocks of a square.
    """

    values: int
    labels: int
    masks: int
    groups: int
    records: int
    kind: str
    seed: int
    target: float | None = None


CASES = {
    "small": Case(200, 3, 6, 8, 30_000, "interval", 5, 3),
    "medium": Case(1_000, 5, 4, 10, 100_000, "interval", 1, 1),
    "large": Case(10_000, 10, 8, 20, 1_000_000, "interval", 2, 0.6),
    "wide": Case(100_000, 20, 8, 50, 10_000_000, "interval", 4, 0.4),
    "sparse": Case(2_000, 40, 5, 30, 5_000, "interval", 6, 6),
    "shuffled": Case(10_000, 10, 8, 20, 1_000_000, "random", 3, 0.3),
    "nested": Case(5_000, 8, 5, 0, 500_000, "nested", 7, 0.1),
}

#: Nothing of these has a closed form, and scaling alone takes hundreds of sweeps or never ends.
CROSSING = {
    "square 20 x 20": Case(400, 5, 4, 0, 30_000, "square", 8),
    "its boundary": Case(400, 5, 4, 0, 600, "square", 8),
    "square 40 x 40": Case(1_600, 5, 4, 0, 100_000, "square", 9),
    "random, tight": Case(300, 5, 10, 20, 30_000, "random", 10),
    "its boundary ": Case(300, 5, 10, 20, 600, "random", 10),
}


def made(case: Case) -> tuple[IntArray, list[IntArray]]:
    """The true table (values, labels) and the masks, each (values,)."""
    rng = np.random.default_rng(case.seed)
    walk = np.cumsum(rng.normal(size=(case.values, case.labels)), axis=0) * 3 / np.sqrt(case.values)
    shape = np.exp(walk) * rng.gamma(1.0, size=(case.values, 1))
    table = rng.multinomial(case.records, (shape / shape.sum()).ravel()).reshape(shape.shape)
    if case.kind == "square":
        return table, _square(int(np.sqrt(case.values)))
    return table, [_mask(rng, case, level) for level in range(case.masks)]


def _mask(rng: np.random.Generator, case: Case, level: int) -> IntArray:
    if case.kind == "interval":
        cuts = np.sort(rng.choice(np.arange(1, case.values), case.groups - 1, replace=False))
        return np.searchsorted(cuts, np.arange(case.values), side="right")
    if case.kind == "random":
        return rng.integers(0, case.groups, case.values)
    return np.arange(case.values) // 4 ** (level + 1)


def _square(side: int) -> list[IntArray]:
    row, column = np.divmod(np.arange(side * side), side)
    return [row, column, (row + column) // 3, row // 2 * (side // 2) + column // 2]


def evidence(table: IntArray, masks: list[IntArray]) -> AttributeEvidence:
    """What is published of it, with the histogram."""
    joints = [fold(table, mask, int(mask.max()) + 1) for mask in masks]
    maskings = tuple(
        Masking(f"m{at}", len(joint), mask, joint, deterministic=True)
        for at, (mask, joint) in enumerate(zip(masks, joints, strict=True))
    )
    return AttributeEvidence("a", len(table), table.sum(axis=0), table.sum(axis=1), None, maskings)


def plain_sweeps(given: AttributeEvidence, sweeps: int) -> FloatArray:
    """Iterative proportional fitting as it is usually written: value by value, margin by margin."""
    histogram = _known(given.histogram).astype(np.float64)
    table = np.repeat(histogram[:, None] / given.labels, given.labels, axis=1)
    margins = [(_known(one.mapping), _known(one.joint)) for one in given.maskings]
    for _ in range(sweeps):
        for mapping, joint in margins:
            held = np.zeros(joint.shape)
            np.add.at(held, mapping, table)
            table *= np.divide(joint, held, out=np.zeros(joint.shape), where=held > 0)[mapping]
        rows = table.sum(axis=1)
        table *= np.divide(histogram, rows, out=np.zeros(rows.shape), where=rows > 0)[:, None]
    return table


def _known(counts: IntArray | None) -> NDArray[np.int64]:
    if counts is None:
        raise ValueError("a case has a histogram, mappings and counts")
    return counts
