"""What generated tables are worth and what attacks on them achieve, on the health example.

python -m research.generation.methods     prints the table of docs/generation.md (12 minutes)
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

from aegis_provider import load_plan
from aegis_provider.check import Interval
from aegis_provider.draft import start
from aegis_provider.synth.attacks.attack import open_case
from aegis_provider.synth.attacks.judging import judge
from aegis_provider.synth.attacks.membership import COPIES, NEAREST
from aegis_provider.synth.generate.generating import generate
from aegis_provider.synth.generate.methods.method import Knobs
from aegis_provider.synth.generate.prepared import Wish
from research.report import table
from tests import example

COLUMNS = ("method", "pair total variation", "AUC", "membership", "exact copies", "among held-out", "seconds", "MB")
HALF: Final = 0.5

RUNS: Final = {
    "`trees`": ("trees", Knobs(privacy=5.0)),
    "`trees`, privacy 0": ("trees", Knobs()),
    "`cart`": ("cart", Knobs()),
    "`mbi`": ("mbi", Knobs()),
    "`mbi`, epsilon 8": ("mbi", Knobs(epsilon=8.0)),
    "`mbi`, epsilon 1": ("mbi", Knobs(epsilon=1.0)),
    "`wgan-gp`": ("wgan-gp", Knobs()),
    "`wgan-gp`, privacy 5": ("wgan-gp", Knobs(privacy=5.0)),
}


def main() -> None:
    """Generate by every method, attack what comes out, and print a row for each."""
    with TemporaryDirectory(prefix="aegis-generated-") as folder:
        plan = Path(folder) / "plan.yaml"
        start(example.TABLE, example.plan().label, plan)
        # A process for each, whose peak memory is its own.
        with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
            rows = list(pool.map(partial(row, plan_file=plan), RUNS))
    print(table(COLUMNS, rows))


def row(name: str, plan_file: Path) -> list[str]:
    """Return the row of a method; those with half of the combinations of attributes are held out."""
    (method, knobs), plan = RUNS[name], load_plan(plan_file, configurations_needed=False)
    start = perf_counter()
    generated = generate(example.TABLE, plan, method=method, knobs=knobs, wish=Wish(holdout=HALF, seed=1))
    seconds, memory = perf_counter() - start, getrusage(RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    opened = open_case(generated.table, example.TABLE, plan=plan, holdout=HALF)
    outcomes = {each.name: each for each in judge(opened.case).outcomes if each.name in (COPIES, NEAREST)}
    quality, copies, nearest = generated.training.quality, outcomes[COPIES], outcomes[NEAREST]
    return [
        name,
        f"{quality.pair_total_variation:.3f}",
        "-" if quality.auc is None else f"{quality.auc:.3f}",
        _with_limits(nearest.success),
        f"{copies.success.value:.1%}",
        "-" if copies.held_out is None else f"{copies.held_out.value:.1%}",
        f"{seconds:.0f}",
        f"{memory:.0f}",
    ]


def _with_limits(interval: Interval) -> str:
    return f"{interval.value:.3f} ({interval.low:.3f} to {interval.high:.3f})"


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
