"""How fast references are reconstructed, in the time of 20 plain sweeps, and the two-margin problem beside packages."""

from statistics import median
from warnings import catch_warnings, simplefilter

import numpy as np
from threadpoolctl import threadpool_limits

from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.reconstruction import DualNewton, fit
from aegis_advisor.reconstruction.ipf import fit_two_margins
from bench import solver_cases
from bench.figures import MILLISECONDS, heading, run, table, timed, verdict
from bench.solver_cases import CASES, CROSSING, Case

PAIRS = 20
SWEEPS = 20
SOLVER = DualNewton()


def main() -> None:
    with threadpool_limits(1):
        heading(
            f"Solver: time to a residual of 1e-9, by that of {SWEEPS} plain sweeps; medians of {PAIRS} pairs, 1 thread"
        )
        table(_COLUMNS, [_row(name, case) for name, case in CASES.items()])
        heading("The same without an order of the values that could help, and without a histogram: ratios")
        columns = ("case", "in random order", "no histogram", "both")
        table(columns, [_harder(name, case) for name, case in CASES.items()])
        heading("Views that cross, so that nothing has a closed form; medians of 5")
        table(_COLUMNS, [_row(name, case, 5) for name, case in CROSSING.items()])
        two_margins()


_COLUMNS = ("case", "values", "labels", "atoms", "method", "steps", "residual", "plain, ms", "ms", "ratio", "")


def _row(name: str, case: Case, pairs: int = PAIRS) -> tuple[str, ...]:
    given = solver_cases.evidence(*solver_cases.made(case))
    plain, ours, ratio = _ratio(given, given, pairs)
    _, problem, found = fit(given, SOLVER)
    target = "" if case.target is None else verdict(met=ratio <= case.target, target=f"<= {case.target:g}")
    return (
        name,
        str(case.values),
        str(case.labels),
        str(problem.prior.size),
        found.method,
        str(found.iterations),
        f"{problem.residual(found.table):.0e}",
        f"{plain * MILLISECONDS:.1f}",
        f"{ours * MILLISECONDS:.1f}",
        f"{ratio:.3f}",
        target,
    )


def _ratio(plain: AttributeEvidence, ours: AttributeEvidence, pairs: int) -> tuple[float, float, float]:
    """Median seconds of both, and the median of the ratios, of pairs that take turns."""
    taken = []
    for _ in range(pairs):
        first, _ = timed(lambda: solver_cases.plain_sweeps(plain, SWEEPS))
        second, _ = timed(lambda: fit(ours, SOLVER))
        taken.append((first, second))
    return median(p for p, _ in taken), median(o for _, o in taken), median(o / p for p, o in taken)


def _harder(name: str, case: Case) -> tuple[str, ...]:
    counts, masks = solver_cases.made(case)
    order = np.random.default_rng(0).permutation(case.values)
    ordered, mixed = (
        solver_cases.evidence(counts, masks),
        solver_cases.evidence(counts[order], [mask[order] for mask in masks]),
    )
    variants = (mixed, _without_histogram(ordered), _without_histogram(mixed))
    return (name, *(f"{_ratio(ordered, variant, 5)[2]:.3f}" for variant in variants))


def _without_histogram(given: AttributeEvidence) -> AttributeEvidence:
    return AttributeEvidence(given.name, given.values, given.label_histogram, None, None, given.maskings)


def two_margins() -> None:
    """A random seed of 20,000 x 10 and random margins, by three programs to one tolerance."""
    heading("Two margins, 20,000 x 10, tolerance 1e-9; medians of 5, taking turns")
    # Heavy to import, and not of the service.
    import ot  # noqa: PLC0415
    from ipfn.ipfn import ipfn  # noqa: PLC0415

    rng = np.random.default_rng(0)
    seed, rows, columns = rng.random((20_000, 10)), rng.random(20_000), rng.random(10)
    rows, columns = rows / rows.sum(), columns / columns.sum()
    programs = {
        "ours": lambda: fit_two_margins(seed, rows, columns).table,
        "POT (ot.sinkhorn)": lambda: ot.sinkhorn(rows, columns, -np.log(seed), 1.0, stopThr=1e-9),
        "ipfn": lambda: ipfn(seed.copy(), [rows, columns], [[0], [1]], convergence_rate=1e-9).iteration(),
    }
    taken: dict[str, list[float]] = {name: [] for name in programs}
    tables = {}
    with catch_warnings():
        simplefilter("ignore")
        for _ in range(5):
            for name, program in programs.items():
                seconds, tables[name] = timed(program)
                taken[name].append(seconds)
    ours = median(taken["ours"])
    shown = []
    for name, found in tables.items():
        gap = max(np.abs(found.sum(axis=1) - rows).max(), np.abs(found.sum(axis=0) - columns).max())
        time = median(taken[name])
        shown.append((name, f"{time * MILLISECONDS:.1f}", f"{time / ours:.1f}", f"{gap:.0e}"))
    table(("program", "ms", "times ours", "residual"), shown)


if __name__ == "__main__":
    run(main)
