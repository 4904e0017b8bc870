"""How much all tables of an attribute determine together, and the time to compute it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import median

import numpy as np
from scipy.optimize import linprog
from threadpoolctl import threadpool_limits

from aegis_advisor.arrays import IntArray
from aegis_advisor.cell_bounds import CellBounds, bound_cells
from aegis_advisor.cell_bounds.certain_sums import CertainSums, LinearSystem
from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.evidence import evidence_of as advisor_evidence
from app.entries.model.documents import entry_in
from bench.measuring import MILLISECONDS, heading, run, table, timed
from tests import example

SECONDS = 60.0
WITHIN = 5
ONE_BY_ONE = 3


@dataclass(frozen=True, kw_only=True)
class Case:
    """Views of an attribute with `groups` masked values each: bins if `ordered`, otherwise values drawn at random."""

    values: int
    labels: int
    views: int
    groups: int
    histogram: bool = True
    ordered: bool = False
    records: int = 20_000


CASES = {
    "overlapping bins": Case(values=1_000, labels=5, views=10, groups=60, ordered=True),
    "small": Case(values=30, labels=3, views=4, groups=6),
    "small, no histogram": Case(values=30, labels=3, views=4, groups=6, histogram=False),
    "middling": Case(values=100, labels=4, views=5, groups=8),
    "middling, no histogram": Case(values=100, labels=4, views=5, groups=8, histogram=False),
    "only one table fits": Case(values=100, labels=4, views=8, groups=30, histogram=False),
    "large": Case(values=300, labels=5, views=10, groups=12),
    "large, no histogram": Case(values=300, labels=5, views=10, groups=12, histogram=False),
}


def main() -> None:
    with threadpool_limits(1):
        heading(f"Bounds of every cell of an attribute, {SECONDS:g} s at most, 1 thread")
        print(f"'cold': one program for the whole table by scipy's linprog, median of {ONE_BY_ONE}.")
        columns = ("case", "cells", "method", "programs", "complete", "s", "ms each", "cold, ms", *_FOLLOWS)
        table(columns, [_row(name, evidence_of(case)) for name, case in CASES.items()])
        heading("The attributes of the example")
        of_example = ("attribute", "cells", "method", "s", "smallest count", "smallest determined", *_FOLLOWS)
        table(of_example, [_example_row(one) for one in advisor_evidence(entry_in(example.entry("health")))])


_FOLLOWS = ("exact", f"within {WITHIN}")


def evidence_of(case: Case) -> AttributeEvidence:
    """Make the evidence on a made-up table. Equal cases give equal evidence."""
    rng = np.random.default_rng(17)
    weights = rng.gamma(2.0, size=(case.values, 1)) * rng.gamma(1.0, size=(case.values, case.labels))
    joint = rng.multinomial(case.records, (weights / weights.sum()).ravel()).reshape(weights.shape)
    mappings = [_mapping(rng, case) for _ in range(case.views)]
    maskings = tuple(_masking(f"view-{at}", mapping, joint, case.groups) for at, mapping in enumerate(mappings))
    histogram = joint.sum(axis=1) if case.histogram else None
    return AttributeEvidence("made-up", case.values, joint.sum(axis=0), histogram, None, maskings)


def _mapping(rng: np.random.Generator, case: Case) -> IntArray:
    if case.ordered:
        cuts = rng.choice(np.arange(1, case.values), case.groups - 1, replace=False)
        return np.searchsorted(np.sort(cuts), np.arange(case.values), side="right").astype(np.int64)
    return rng.integers(0, case.groups, case.values)


def _masking(name: str, mapping: IntArray, joint: IntArray, groups: int) -> Masking:
    masked = np.zeros((groups, joint.shape[1]), dtype=np.int64)
    np.add.at(masked, mapping, joint)
    return Masking(name, groups, mapping, masked, deterministic=True)


def _row(name: str, evidence: AttributeEvidence) -> tuple[str, ...]:
    seconds, bounds = timed(lambda: bound_cells(evidence, stop=_after(SECONDS)))
    programs = bounds.programs
    return (
        name,
        str(bounds.lower.size),
        bounds.method,
        str(programs),
        "yes" if bounds.complete else "no",
        f"{seconds:.2f}",
        f"{seconds * MILLISECONDS / programs:.1f}" if programs else "",
        f"{_cold(evidence, bounds) * MILLISECONDS:.1f}" if programs else "",
        *_shares(bounds),
    )


def _example_row(evidence: AttributeEvidence) -> tuple[str, ...]:
    seconds, bounds = timed(lambda: bound_cells(evidence))
    shown = [masking.joint[masking.joint > 0].min() for masking in evidence.maskings if masking.joint is not None]
    follows = bounds.lower[(bounds.lower == bounds.upper) & (bounds.lower > 0)]
    smallest = [str(min(counts)) if len(counts) else "" for counts in (shown, follows)]
    return evidence.name, str(bounds.lower.size), bounds.method, f"{seconds:.3f}", *smallest, *_shares(bounds)


def _shares(bounds: CellBounds) -> tuple[str, str]:
    """Return the share of cells determined exactly, and of those known to within a few records."""
    width = bounds.upper - bounds.lower
    return f"{np.mean(width == 0):.1%}", f"{np.mean(width <= 2 * WITHIN):.1%}"


def _after(seconds: float) -> Callable[[], bool]:
    end = time.perf_counter() + seconds
    return lambda: time.perf_counter() > end


def _cold(evidence: AttributeEvidence, bounds: CellBounds) -> float:
    """Return the seconds to solve one program from scratch: the upper bound of a cell."""
    atoms, labels = bounds.lower.shape
    known = CertainSums.of(evidence, bounds.atom_of_value, atoms)
    sums = LinearSystem.of(list(known.sums), known.exact.rows, atoms, labels)
    if sums is None:
        raise ValueError("the made-up counts contradict each other")
    costs = -np.eye(sums.cells.size)[:ONE_BY_ONE]
    return median(timed(partial(linprog, cost, A_eq=sums.matrix, b_eq=sums.most))[0] for cost in costs)


if __name__ == "__main__":
    run(main)
