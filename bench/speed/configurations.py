"""The search for configurations of the example and of a made-up table, compared with checking every combination."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from aegis_provider import Plan, Requirement, find_configurations, load_plan
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.search.evaluation import Evaluation
from aegis_provider.search.lattice import search
from aegis_provider.search.problem import evaluation_of
from aegis_provider.table import open_table
from bench.measuring import heading, in_own_process, peak_memory, run, table, timed, verdict
from tests import example

REQUIRED = Requirement({"k": 5, "l": 2}, suppress_at_most=0.01)
MOST = 1_000
SECONDS = 60
RECORDS, ATTRIBUTES, VALUES, LABELS = 30_000, 10, 60, 4
#: With `identity` and `drop`, five levels, each a function of the one before.
WIDTHS = (2, 6, 30)
SMALL = 7


@dataclass(frozen=True)
class Run:
    """One search from the file to the configurations, in its own process; `peak` is its memory in MB."""

    seconds: float
    peak: float
    nodes: int
    evaluated: int
    minimal: int | None
    kept: int


def main() -> None:
    with TemporaryDirectory() as place:
        whole, small = made(Path(place), ATTRIBUTES), made(Path(place), SMALL)
        heading(f"Configurations that meet {REQUIRED.described()}; at most {MOST:,} kept; reading the file included")
        columns: tuple[str, ...] = ("table", "combinations", "evaluated", "minimal", "kept", "peak, MB", "s", "")
        table(columns, [figures("the example", example.TABLE, example.PLAN), figures("synthetic", *whole)])
        heading("The same by the number of attributes of the synthetic table, 5 levels each")
        table(columns[1:], [figures("", *made(Path(place), size))[1:] for size in (4, 6, 8)])
        heading("Checking every combination instead, with the same result")
        columns = ("table", "combinations", "evaluated", "share", "search, s", "every one, s", "ratio")
        rows = [("the example", example.TABLE, example.PLAN), (f"{SMALL} attributes of the synthetic one", *small)]
        table(columns, [compared(*row) for row in rows])


def figures(name: str, source: Path, plan: Path) -> list[str]:
    search_run = in_own_process(searched, source, plan)
    counts = (search_run.nodes, search_run.evaluated, search_run.minimal, search_run.kept)
    met = verdict(met=search_run.seconds < SECONDS, target=f"< {SECONDS} s")
    return [
        name,
        *("-" if count is None else f"{count:,}" for count in counts),
        f"{search_run.peak:.0f}",
        f"{search_run.seconds:.1f}",
        met,
    ]


def searched(source: Path, plan: Path) -> Run:
    seconds, chosen = timed(lambda: find_configurations(source, load(plan), REQUIRED, most=MOST, seconds=SECONDS))
    minimal = chosen.frontier[0].minimal
    return Run(seconds, peak_memory(), chosen.nodes, chosen.evaluated, minimal, len(chosen.configurations))


def compared(name: str, source: Path, plan: Path) -> list[str]:
    """Compare search and exhaustive check on one lattice, without reading the table."""
    evaluation = evaluated(source, load(plan))
    seconds, pruned = timed(lambda: search(evaluation.lattice, evaluation.holds))
    exhaustive, holds = timed(lambda: [evaluation.holds(node) for node in np.ndindex(evaluation.lattice.shape)])
    if not np.array_equal(pruned.holds.ravel(), holds):
        raise RuntimeError("the search and the check of every combination disagree")
    nodes = evaluation.lattice.nodes
    counts = (f"{nodes:,}", f"{pruned.evaluated:,}", f"{pruned.evaluated / nodes:.1%}")
    return [name, *counts, f"{seconds:.2f}", f"{exhaustive:.1f}", f"{exhaustive / seconds:.0f}"]


def evaluated(source: Path, plan: Plan) -> Evaluation:
    with open_table(source) as opened:
        return evaluation_of(CountedTable.of(opened, plan), plan, REQUIRED)


def load(plan: Path) -> Plan:
    return load_plan(plan, configurations_needed=False)


def made(place: Path, attributes: int) -> tuple[Path, Path]:
    """Write a table and its plan. Attributes and label all depend on one common variable."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=RECORDS)
    noise = rng.normal(size=(RECORDS, ATTRIBUTES))
    values = np.clip((np.sqrt(0.25) * common[:, None] + np.sqrt(0.75) * noise + 3) * VALUES / 6, 0, VALUES - 1)
    labels = np.clip(common + rng.normal(size=RECORDS) + 2, 0, LABELS - 1)
    names = [f"a{at}" for at in range(attributes)]
    source, plan = place / f"{attributes}.csv", place / f"{attributes}.yaml"
    columns = np.column_stack([values[:, :attributes], labels]).astype(np.int64)
    np.savetxt(source, columns, fmt="%d", delimiter=",", header=",".join([*names, "y"]), comments="")
    plan.write_text("\n".join(["label: y", "attributes:", *map(masked, names)]) + "\n", encoding="utf-8")
    return source, plan


def masked(name: str) -> str:
    """Return the attribute's line in the plan."""
    maskings = ", ".join(f"{name}-{width}: {{bucketize: {{width: {width}}}}}" for width in WIDTHS)
    return f"  {name}: {{type: integer, maskings: {{{maskings}}}}}"


if __name__ == "__main__":
    run(main)
