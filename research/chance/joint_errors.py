"""What a standard error of the joint measure would tell, if a provider published one for each configuration.

python -m research.chance.joint_errors     prints a table of research/results/chance (minutes)

Records are drawn again with replacement, and every configuration is measured each time. A number per configuration
gives its standard error. Between two configurations it bounds the error of the difference only by the sum of both,
which holds however they vary together. The true error of the difference needs a number for every two configurations.
"""

import argparse
from collections.abc import Sequence

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from research import real_tables
from research.report import table
from research.study import Study

SEED = 11
DRAWS = 60
CONFIDENCE = 1.96
SMALLEST = 1e-10
"""Dimensions with less of the largest variance depend on others."""


def adjusted_trace(columns: IntArray, classes: IntArray) -> float:
    """Pillai's trace of masked columns (records, attributes) and classes (records,), adjusted as `joint` is."""
    design, label = np.concatenate([_indicators(column) for column in columns.T], axis=1), _indicators(classes)
    lengths, axes = np.linalg.eigh(design.T @ design)
    kept = lengths > SMALLEST * lengths.max(initial=1.0)
    scores = (design.T @ label).T @ (axes[:, kept] / np.sqrt(lengths[kept]))
    within = label.T @ label
    labels, dimensions = int(np.linalg.matrix_rank(within)), int(np.count_nonzero(kept))
    trace = float(np.trace(np.linalg.pinv(within) @ (scores @ scores.T)))
    return labels - (labels - trace) * (classes.size - 1) / max(classes.size - 1 - dimensions, 1)


def _indicators(column: IntArray) -> FloatArray:
    """(records, values) centred indicators of all values that occur."""
    values, place = np.unique(column, return_inverse=True)
    indicators: FloatArray = np.eye(values.size)[place]
    return indicators - indicators.mean(axis=0)


def utilities(study: Study, records: IntArray) -> FloatArray:
    """(configurations,) the adjusted trace of each configuration on some records."""
    chosen = range(len(study.configurations.ids))
    return np.array([adjusted_trace(study.masked(one)[records], study.classes[records]) for one in chosen])


def figures(study: Study, draws: int) -> Sequence[str]:
    """The number of configurations indistinguishable from the best, by the true error and as single errors allow."""
    rng = np.random.default_rng(SEED)
    whole = utilities(study, np.arange(study.classes.size))
    drawn = np.array([utilities(study, rng.integers(0, study.classes.size, study.classes.size)) for _ in range(draws)])
    best = int(whole.argmax())
    gap, single = whole[best] - whole, drawn.std(axis=0)
    paired, summed = (drawn - drawn[:, [best]]).std(axis=0), single + single[best]
    others = np.arange(whole.size) != best
    return (
        study.name,
        f"{whole.size}",
        f"{np.median(single):.4f}",
        f"{np.median(summed[others] / np.maximum(paired[others], 1e-12)):.1f}",
        f"{1 + np.sum(gap[others] <= CONFIDENCE * paired[others])}",
        f"{1 + np.sum(gap[others] <= CONFIDENCE * summed[others])}",
    )


def main() -> None:
    """Print the figures of some tables."""
    parser = argparse.ArgumentParser(prog="python -m research.chance.joint_errors", description=__doc__)
    parser.add_argument("--draws", type=int, default=DRAWS, help="bootstrap samples (default: %(default)s)")
    draws = parser.parse_args().draws
    print("Configurations that cannot be distinguished from the best by the joint measure (95 %)\n")
    columns = ("table", "configurations", "single error", "sum over true", "by the true error", "by single errors")
    studies = [*real_tables.took_part(), *real_tables.held_out()]
    print(table(columns, [figures(study, draws) for study in studies]))


if __name__ == "__main__":
    main()
