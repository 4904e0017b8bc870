"""The limits of the computation on this machine: many attributes, large domains, many configurations."""

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.ranking import Question, recommend
from aegis_advisor.reconstruction import reconstruct
from bench.measuring import heading, peak_memory, run, table, timed, verdict
from bench.speed.reconstruction import Case, evidence_of, true_table

WORKERS = 2
#: About 300 atoms of 10 views: overlapping bins, or groups drawn at random (which have no closed form).
BINS = Case(1_000, 5, 10, 31, 100_000, "interval", 0)
GROUPS = Case(300, 5, 10, 20, 100_000, "random", 0)


def main() -> None:
    heading(f"1,000 attributes x 10 views x about 300 atoms x 5 labels, {WORKERS} processes of one thread each")
    with _pool() as pool:
        pool.map(_reconstructed, [(BINS, 0)] * WORKERS)
        columns = ("attributes", "overlapping bins, s", "random groups, s", "")
        table(columns, [_attributes(pool, size) for size in (100, 300, 1_000)])
    heading("Domains, 10 views, 5 labels, one process: s, peak memory of the process in MB")
    table(("values", "bins", "MB", "random groups", "MB"), [_domain(size) for size in (10**4, 10**5, 10**6)])
    heading("Ranking with the full answer, from integer codes, 6 options per attribute, one process")
    sizes = [(10**4, 100), (10**5, 100), (10**6, 10), (10**6, 100)]
    table(("configurations", "attributes", "s", "peak MB", ""), [_ranking(*size) for size in sizes])


def _attributes(pool: ProcessPoolExecutor, size: int) -> tuple[str, ...]:
    taken = []
    for case in (BINS, GROUPS):
        seconds, atoms = timed(partial(_all_atoms, pool, case, size))
        taken.append(seconds)
        if not 200 <= np.median(atoms) <= 400:
            raise RuntimeError(f"expected about 300 atoms, got {np.median(atoms)}")
    met = verdict(met=max(taken) < 60, target="< 60 s") if size == 1_000 else ""
    return (str(size), *(f"{seconds:.1f}" for seconds in taken), met)


def _all_atoms(pool: ProcessPoolExecutor, case: Case, size: int) -> list[int]:
    return list(pool.map(_reconstructed, [(case, n) for n in range(size)]))


def _reconstructed(what: tuple[Case, int]) -> int:
    """Reconstruct the reference of one attribute and return its number of atoms."""
    case, seed = what
    certificate = reconstruct(_given(case, seed)).certificate
    if not certificate.converged:
        raise RuntimeError(f"no convergence: residual {certificate.residual:.1e} after {certificate.iterations} steps")
    return certificate.atoms


def _given(case: Case, seed: int) -> AttributeEvidence:
    return evidence_of(*true_table(Case(**{**vars(case), "seed": seed})))


def _domain(values: int) -> tuple[str, ...]:
    shown = [str(values)]
    for kind in ("interval", "random"):
        case = Case(values, 5, 10, 30, 10 * values, kind, 1)
        seconds, peak = _in_own_process(_domain_cost, case)
        shown += [f"{seconds:.2f}", f"{peak:.0f}"]
    return tuple(shown)


def _domain_cost(case: Case) -> tuple[float, float]:
    given = _given(case, case.seed)
    seconds, _ = timed(lambda: reconstruct(given))
    return seconds, peak_memory()


def _ranking(configurations: int, attributes: int) -> tuple[str, ...]:
    seconds, peak = _in_own_process(_ranking_cost, configurations, attributes)
    met = ""
    if (configurations, attributes) == (10**6, 100):
        met = verdict(met=seconds < 2 and peak < 1_000, target="< 2 s, < 1 GB")
    return (str(configurations), str(attributes), f"{seconds:.2f}", f"{peak:.0f}", met)


def _ranking_cost(configurations: int, attributes: int) -> tuple[float, float]:
    case = Case(100, 5, 4, 10, 100_000, "interval", 0)
    evidence = [_given(case, seed) for seed in range(attributes)]
    references = [reconstruct(one) for one in evidence]
    options = [("identity", "drop", *(masking.id for masking in one.maskings)) for one in evidence]
    rng = np.random.default_rng(0)
    # No configuration uses `identity`, so the ranking is exact.
    codes = rng.integers(1, 6, (configurations, attributes), dtype=np.int8)
    question = Question(
        "mutual_information",
        tuple(f"a{place}" for place in range(attributes)),
        np.full(attributes, 1 / attributes),
        limit=20,
    )
    seconds, _ = timed(lambda: recommend(evidence, references, codes, options, question))
    return seconds, peak_memory()


def _in_own_process(cost: Callable[..., tuple[float, float]], *given: object) -> tuple[float, float]:
    """Measure the cost in a separate process, so that its memory is its own."""
    with _pool(1) as pool:
        return pool.submit(cost, *given).result()


def _pool(workers: int = WORKERS) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_one_thread)


def _one_thread() -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    threadpool_limits(1)


if __name__ == "__main__":
    run(main)
