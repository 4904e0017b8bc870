"""Independence masking with few stars: three solvers on 100,000 records of five attributes in four clusters."""

import time
from dataclasses import dataclass

import numpy as np

from aegis_provider.independence.clusters import balanced_clusters, quantile_clusters
from aegis_provider.independence.grouping import SOLVERS, Solver, group
from aegis_provider.independence.vectors import MASKED, FloatArray, IntArray, Vectors, is_independent, starred
from bench.measuring import heading, in_own_process, peak_memory, run, table, timed, verdict

RECORDS, CLUSTERS = 100_000, 4
SECONDS = 60
#: The number of values of each attribute, and their skew: the share of the k-th most frequent is proportional to 1 /
#: k^skew.
TABLES = {
    "few values": ((2, 4, 6, 8, 10), 1.0),
    "more values": ((5, 8, 12, 20, 50), 1.0),
    "nearly all distinct": ((50, 100, 200, 500, 1000), 0.3),
}


@dataclass(frozen=True)
class Run:
    """One solver on one table, in its own process; `processor` is CPU seconds, `peak` memory in MB."""

    seconds: float
    processor: float
    peak: float
    stars: int
    lower_bound: int


def main() -> None:
    heading(f"Attributes made independent: {RECORDS:,} records, 5 attributes, {CLUSTERS} clusters")
    columns = (
        "table",
        "distinct",
        "solver",
        "stars",
        "of all values",
        "bound",
        "stars to it",
        "peak, MB",
        "CPU, s",
        "s",
        "",
    )
    table(columns, [row for name in TABLES for row in figures(name)])
    heading(f"Balanced clusters of {RECORDS:,} records by two numeric attributes and one without order")
    seconds, clusters = timed(balanced)
    table(("clusters", "sizes", "s"), [[str(CLUSTERS), str(np.bincount(clusters)), f"{seconds:.1f}"]])


def figures(name: str) -> list[list[str]]:
    """Return a row for each solver with its largest lower bound; `identical` has no bound from matchings."""
    distinct = len(Vectors.of(*made(name)).values)
    return [row(name, distinct, solver, in_own_process(solved, name, solver)) for solver in SOLVERS]


def row(name: str, distinct: int, solver: str, solution: Run) -> list[str]:
    counts = (f"{solution.stars:,}", f"{solution.stars / (RECORDS * 5):.1%}", f"{solution.lower_bound:,}")
    times = (f"{solution.peak:.0f}", f"{solution.processor:.1f}", f"{solution.seconds:.1f}")
    met = verdict(met=solution.seconds < SECONDS, target=f"< {SECONDS} s")
    return [name, f"{distinct:,}", solver, *counts, f"{solution.stars / solution.lower_bound:.3f}", *times, met]


def solved(name: str, solver: Solver) -> Run:
    codes, clusters = made(name)
    before = time.process_time()
    seconds, grouping = timed(lambda: group(codes, clusters, solver, np.random.default_rng(0)))
    processor, peak = time.process_time() - before, peak_memory()
    stars = starred(codes, grouping.group_of_record)
    if int(stars.sum()) != grouping.stars or not is_independent(np.where(stars, MASKED, codes), clusters):
        raise RuntimeError("the masked attributes are not independent of the clusters")
    return Run(seconds, processor, peak, grouping.stars, grouping.lower_bound)


def made(name: str) -> tuple[IntArray, IntArray]:
    """Make codes of attributes, and clusters (intervals of a number), which all depend on one common variable."""
    values, skew = TABLES[name]
    random = np.random.default_rng(0)
    common = random.normal(size=RECORDS)
    columns = [skewed(np.sqrt(0.3) * common + np.sqrt(0.7) * random.normal(size=RECORDS), n, skew) for n in values]
    return np.column_stack(columns), quantile_clusters(common + random.normal(size=RECORDS) / 2, CLUSTERS, random)


def skewed(numbers: FloatArray, values: int, skew: float) -> IntArray:
    """Return (n,) values in the order of the numbers; the share of the k-th value is proportional to 1 / k^skew."""
    shares = np.arange(1, values + 1) ** -skew
    ends = np.cumsum(shares / shares.sum())[:-1]
    return np.searchsorted(ends, np.argsort(np.argsort(numbers)) / len(numbers), side="right")


def balanced() -> IntArray:
    random = np.random.default_rng(0)
    numbers, others = random.normal(size=RECORDS), random.lognormal(size=RECORDS)
    return balanced_clusters([numbers, others, random.integers(0, 7, RECORDS)], CLUSTERS, random)


if __name__ == "__main__":
    run(main)
