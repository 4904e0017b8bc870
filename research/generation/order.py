"""Does the order by declared transfer utilities predict what models learn? On masked and generated releases together.

python -m research.generation.order --adult FOLDER     prints the table of docs/generation.md (ten minutes)

Each of four tables is split by persons into halves. From one half, 20 masked and 20 generated releases are made; on the
other, the transfer utilities and the AUC of boosting trained on each release are measured.
"""

import argparse
import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from scipy.stats import spearmanr

from aegis_provider import Plan
from aegis_provider.check.estimates import weighted_auc
from aegis_provider.synth.fidelity.measuring import Trials
from aegis_provider.synth.fidelity.parts import parts_of
from aegis_provider.synth.generate.generating import generate
from aegis_provider.synth.generate.methods.method import Knobs
from aegis_provider.synth.generate.prepared import Wish
from aegis_provider.synth.offer import RealSides
from aegis_provider.synth.released.opening import Opened
from aegis_provider.synth.released.released import Released
from aegis_provider.synth.transfer import holdout_of, told_by, transfer_of
from aegis_provider.table import open_table
from research import real_tables
from research.drawn_plans import drawn_plan, subset
from research.report import table
from research.study import Table
from tests import example

MEASURES: Final = ("joint", "mutual_information", "chi_square", "g3")
HELD_OUT: Final = 0.5
MASKED: Final = 20
SEED: Final = 1
GENERATED: Final = (
    *(("trees", Knobs(privacy=level), seed) for level in (0.0, 5.0, 20.0, 50.0) for seed in (1, 2)),
    *(("cart", Knobs(privacy=level), 1) for level in (0.0, 5.0, 20.0, 50.0)),
    *(("mbi", Knobs(privacy=level), seed) for level in (0.0, 20.0) for seed in (1, 2)),
    *(("mbi", Knobs(epsilon=epsilon), seed) for epsilon in (3.0, 30.0) for seed in (1, 2)),
)
"""The methods that take seconds, with their knobs and seeds. With less epsilon, no value of small tables stands out."""

_MODEL: Final = "gradient boosting"


@dataclass(frozen=True)
class Judged:
    """A release: what it tells by each measure, and the AUC of a model trained on it."""

    generated: bool
    told: dict[str, float]
    auc: float


def main() -> None:
    """Read the command line, and print a row for each table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adult", type=Path, help="the folder with adult.csv; without it, three tables are judged")
    given = parser.parse_args()
    header = ("table", "held out", *(f"Spearman by {each}" for each in MEASURES), "masked", "generated", "AUC lost")
    rows = []
    for each, plan in tables(given.adult):
        held_out, judged = judged_releases(each, plan)
        rows.append([each.name, f"{held_out:,}", *numbers_of(judged)])
        print(table(header, rows[-1:]), flush=True)
    print(table(header, rows))


def tables(adult: Path | None) -> Iterator[tuple[Table, Plan]]:
    """Yield the tables, each with a plan of 20 configurations."""
    yield real_tables.health_table(), subset(example.plan(), SEED, MASKED)
    others = [real_tables.affairs(), real_tables.vote(), *([] if adult is None else [adult_table(adult)])]
    for each in others:
        plan = drawn_plan(each, SEED, count=MASKED)
        yield each, plan


def adult_table(folder: Path) -> Table:
    """Return 20,000 records of Adult, drawn at random, with the label income."""
    with (folder / "adult.csv").open(encoding="utf-8", newline="") as file:
        header, *records = csv.reader(file)
    chosen = np.random.default_rng(SEED).permutation(len(records))[:20_000]
    columns = dict(zip(header, np.array(records)[np.sort(chosen)].T, strict=True))
    label = columns.pop("income")
    for name in ("fnlwgt", "education"):  # a weight, and what `education_num` says
        columns.pop(name, None)
    return Table("Adult", "census of 1994; label: income", "UCI repository, CC BY 4.0", columns, label)


def judged_releases(source: Table, plan: Plan) -> tuple[int, list[Judged]]:
    """Return the number of held-out records, and the releases of the others."""
    with TemporaryDirectory(prefix="aegis-order-") as folder:
        file = Path(folder) / "table.csv"
        source.write(file, plan.label)
        plan = replace(plan, holdout=HELD_OUT)
        with open_table(file) as opened:
            sides = RealSides.read(opened, plan)
        return len(sides.held_out), [_judged(sides, *each) for each in _releases(file, plan, sides)]


def _releases(file: Path, plan: Plan, sides: RealSides) -> Iterator[tuple[Released, bool]]:
    for each in plan.configurations:
        yield sides.masked.released(each, ~sides.rows), False
    for method, knobs, seed in GENERATED:
        made = generate(file, plan, method=method, knobs=knobs, wish=Wish(holdout=HELD_OUT, seed=seed))
        yield Released.of(sides.masked.records, made.table), True


def _judged(sides: RealSides, released: Released, generated: bool) -> Judged:  # noqa: FBT001 - from a pair
    label, holdout = sides.plan.label, holdout_of(sides.seen, sides.held_out, sides.plan.label)
    transfer = transfer_of(released, sides.seen, sides.held_out, label)
    told = {measure: (told_by(transfer, holdout, measure) or (np.nan,))[0] for measure in MEASURES}
    records, size = sides.masked.records, len(released)
    opened = Opened(
        released, records, sides.seen, sides.held_out, HELD_OUT, label, size, len(records), (), is_masked=not generated
    )
    trial = Trials.of(parts_of(opened, "the release", SEED), label, np.random.default_rng(SEED)).released
    auc = weighted_auc(trial.fitting(_MODEL).probabilities(), trial.tested).interval(0.0, 1.0)
    return Judged(generated, told, auc.value)


def numbers_of(judged: Sequence[Judged]) -> list[str]:
    """Return Spearman's correlation with AUC by each measure, of each kind by `joint`, and what the first one loses."""
    kinds = [[each for each in judged if each.generated == kind] for kind in (False, True)]
    best = max(judged, key=lambda each: each.told["joint"])
    lost = max(each.auc for each in judged) - best.auc
    correlations = [*(_spearman(judged, each) for each in MEASURES), *(_spearman(kind, "joint") for kind in kinds)]
    return [*(f"{each:.2f}" for each in correlations), f"{lost:.4f}"]


def _spearman(judged: Sequence[Judged], measure: str) -> float:
    told: Any = spearmanr([each.told[measure] for each in judged], [each.auc for each in judged])
    return float(told.statistic)


if __name__ == "__main__":
    main()
