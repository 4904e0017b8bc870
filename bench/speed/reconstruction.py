"""The time of reconstructing references, relative to 20 plain sweeps."""

from dataclasses import dataclass, replace
from statistics import median

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from aegis_advisor.arrays import FloatArray, IntArray, fold
from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.reconstruction import DualNewton, fit
from bench.measuring import MILLISECONDS, heading, run, table, timed, verdict


@dataclass(frozen=True)
class Case:
    """A true table and its masks. `target` is the maximum time, relative to the yardstick.

    `kind` is one of: overlapping intervals of an ordered domain that do not nest, groups drawn at random, a hierarchy,
    or the rows, columns, diagonals and blocks of a square.
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

#: These have no closed form; scaling alone takes hundreds of sweeps or never converges.
CROSSING = {
    "square 20 x 20": Case(400, 5, 4, 0, 30_000, "square", 8),
    "its boundary": Case(400, 5, 4, 0, 600, "square", 8),
    "square 40 x 40": Case(1_600, 5, 4, 0, 100_000, "square", 9),
    "its boundary, 100 x 100": Case(10_000, 5, 4, 0, 15_000, "square", 8),
    "random, tight": Case(300, 5, 10, 20, 30_000, "random", 10),
    "its boundary ": Case(300, 5, 10, 20, 600, "random", 10),
}


def true_table(case: Case) -> tuple[IntArray, list[IntArray]]:
    """Return the true table (values, labels) and the masks, each (values,)."""
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
    return np.arange(case.values) // int(4 ** (level + 1))


def _square(side: int) -> list[IntArray]:
    row, column = np.divmod(np.arange(side * side), side)
    return [row, column, (row + column) // 3, row // 2 * (side // 2) + column // 2]


def evidence_of(table: IntArray, masks: list[IntArray]) -> AttributeEvidence:
    """Return the evidence that is published about the table, with the histogram."""
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
        raise ValueError("a case needs a histogram, mappings and counts")
    return counts


PAIRS = 20
SWEEPS = 20
SOLVER = DualNewton()

MERGED = 3
"""The most that views of merged labels may cost, relative to as many of all labels."""


def main() -> None:
    with threadpool_limits(1):
        heading(
            f"Solver: time to a residual of 1e-9 over that of {SWEEPS} plain sweeps; medians of {PAIRS} pairs, 1 thread"
        )
        table(_COLUMNS, [_row(name, case) for name, case in CASES.items()])
        heading("The same without a helpful order of the values, and without a histogram: ratios")
        columns = ("case", "in random order", "no histogram", "both")
        table(columns, [_harder(name, case) for name, case in CASES.items()])
        heading("Views that cross, without a closed form; medians of 5")
        table(_COLUMNS, [_row(name, case, 5) for name, case in CROSSING.items()])
        heading("Every second view with pairs of labels merged, over the views of all labels; medians of 5")
        merged = ("case", "labels", "method", "with all labels", "ms", "ratio", "")
        table(merged, [_merged(name, case) for name, case in (CASES | CROSSING).items()])


_COLUMNS = ("case", "values", "labels", "atoms", "method", "steps", "residual", "plain, ms", "ms", "ratio", "")


def _row(name: str, case: Case, pairs: int = PAIRS) -> tuple[str, ...]:
    given = evidence_of(*true_table(case))
    plain, ours, ratio = _ratio(given, given, pairs)
    _, problem, solution = fit(given, SOLVER)
    target = "" if case.target is None else verdict(met=ratio <= case.target, target=f"<= {case.target:g}")
    return (
        name,
        str(case.values),
        str(case.labels),
        str(problem.prior.size),
        solution.method,
        str(solution.iterations),
        f"{problem.residual(solution.table):.0e}",
        f"{plain * MILLISECONDS:.1f}",
        f"{ours * MILLISECONDS:.1f}",
        f"{ratio:.3f}",
        target,
    )


def _ratio(plain: AttributeEvidence, ours: AttributeEvidence, pairs: int) -> tuple[float, float, float]:
    """Return the median seconds of both, and the median ratio, measured in turns."""
    taken = []
    for _ in range(pairs):
        first, _ = timed(lambda: plain_sweeps(plain, SWEEPS))
        second, _ = timed(lambda: fit(ours, SOLVER))
        taken.append((first, second))
    return median(p for p, _ in taken), median(o for _, o in taken), median(o / p for p, o in taken)


def _harder(name: str, case: Case) -> tuple[str, ...]:
    counts, masks = true_table(case)
    order = np.random.default_rng(0).permutation(case.values)
    ordered, mixed = (
        evidence_of(counts, masks),
        evidence_of(counts[order], [mask[order] for mask in masks]),
    )
    variants = (mixed, _without_histogram(ordered), _without_histogram(mixed))
    return (name, *(f"{_ratio(ordered, variant, 5)[2]:.3f}" for variant in variants))


def _merged(name: str, case: Case) -> tuple[str, ...]:
    counts, masks = true_table(case)
    given, classes = evidence_of(counts, masks), np.arange(case.labels) // 2
    views = [(one, _known(one.joint)) for one in given.maskings[1::2]]
    blocks = [
        replace(one, joint=fold(joint.T.copy(), classes, int(classes.max()) + 1).T, label_mapping=classes)
        for one, joint in views
    ]
    merged = replace(given, maskings=given.maskings[::2], blocks=tuple(blocks))
    taken = [(timed(lambda: fit(given, SOLVER)), timed(lambda: fit(merged, SOLVER))) for _ in range(5)]
    ratio = median(ours[0] / whole[0] for whole, ours in taken)
    milliseconds = median(ours[0] for _, ours in taken) * MILLISECONDS
    all_labels, by_blocks = (one[1][2].method for one in taken[0])
    # Where only the views of all labels admit a single table, there is nothing to compare iterations with.
    target = verdict(met=ratio <= MERGED, target=f"<= {MERGED}") if by_blocks == all_labels else ""
    return name, str(case.labels), by_blocks, all_labels, f"{milliseconds:.1f}", f"{ratio:.2f}", target


def _without_histogram(given: AttributeEvidence) -> AttributeEvidence:
    return AttributeEvidence(given.name, given.values, given.label_histogram, None, None, given.maskings)


if __name__ == "__main__":
    run(main)
