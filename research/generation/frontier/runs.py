"""The runs of the frontier: a release by a method, at a level of privacy, with a seed; and what was measured on it."""

import csv
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Final

import numpy as np
import pyarrow as pa
from pydantic import TypeAdapter, ValidationError

from aegis_provider.check import Interval
from aegis_provider.check.estimates import weighted_auc
from aegis_provider.files import written_whole
from aegis_provider.synth.attacks.attack import open_case
from aegis_provider.synth.attacks.membership import nearest_membership
from aegis_provider.synth.fidelity.measuring import Trial, Trials
from aegis_provider.synth.fidelity.parts import parts_of
from aegis_provider.synth.generate.generating import generate
from aegis_provider.synth.generate.methods.method import Knobs
from aegis_provider.synth.generate.prepared import Wish
from aegis_provider.synth.generate.training import STOPPED
from aegis_provider.synth.released.opening import open_release
from research.generation.measured import knowing_half
from research.generation.tables import HELD_OUT, MOST, SplitTable, split
from research.suppression import HEALTH
from tests import example

METHODS: Final = ("trees", "cart", "mbi", "wgan-gp")
"""The quick ones first."""

LEVELS: Final = (0.0, 1.0, 5.0, 20.0, 50.0)
SEEDS: Final = (1, 2, 3)

TWO_LABELS: Final = "two labels"

_MODEL: Final = "gradient boosting"
_EXCELLENT: Final = "excellent"


@dataclass(frozen=True)
class Run:
    """A release to make and to measure.

    Attributes:
        method: The method.
        privacy: The level of privacy, lambda_p.
        seed: The seed of the release, and of what is drawn to measure it.
        seconds: The limit of the training.
        release: The release, if another program made it of the same records.
    """

    method: str
    privacy: float
    seed: int
    seconds: float
    release: Path | None = None

    @property
    def name(self) -> str:
        """All that the result depends on but the code."""
        if self.release is not None:
            return f"{self.method}, seed {self.seed}, {sha256(self.release.read_bytes()).hexdigest()[:16]}"
        return f"{self.method}, privacy {self.privacy:g}, seed {self.seed}, {self.seconds:g} s"


@dataclass(frozen=True)
class Result:
    """What was measured on a release, with 95 % intervals for other records of the same release.

    Attributes:
        run: How it was made.
        not_held_out: How many real records it was made of; a tenth of them chose the best model.
        persons: How many persons the attack on membership ranks.
        auc: The AUC of boosting trained on the release and tested on held-out records.
        real_auc: The same, trained on as many real records that the release was made of.
        membership: The AUC of membership inference by nearest record.
        reidentified: The share of persons who are re-identified by someone who knows half of the quasi-identifiers.
        by_chance: The same from a release whose columns are shuffled.
        beyond_chance: What the first achieves beyond the second, as a share of what is possible.
        took: The seconds that it took to make the release; `None` if another program made it.
    """

    run: Run
    not_held_out: int
    persons: int
    auc: Interval
    real_auc: Interval
    membership: Interval
    reidentified: Interval
    by_chance: Interval
    beyond_chance: Interval
    took: float | None


_RESULT: Final = TypeAdapter(Result)


def planned(methods: Sequence[str], levels: Sequence[float], seeds: Sequence[int], seconds: float) -> list[Run]:
    """Return the runs, those of one method and level after each other."""
    return [Run(method, level, seed, seconds) for method in methods for level in levels for seed in seeds]


def made_elsewhere(name: str, files: Sequence[Path]) -> list[Run]:
    """Return the runs that measure releases of another program, one for each seed of its own."""
    return [Run(name, 0.0, seed, 0.0, file) for seed, file in enumerate(files, 1)]


def two_labels(folder: Path, most: int = MOST) -> SplitTable:
    """Write the health example with the label excellent or other into the folder, and hold out half of its persons."""
    folder.mkdir(parents=True, exist_ok=True)
    with example.TABLE.open(encoding="utf-8", newline="") as opened:
        header, *rows = csv.reader(opened)
    file = folder / "health.csv"
    with file.open("w", encoding="utf-8", newline="") as opened:
        labelled = ([*values, label if label == _EXCELLENT else "other"] for *values, label in rows)
        csv.writer(opened, lineterminator="\n").writerows([header, *labelled])
    return split(TWO_LABELS, file, HEALTH, folder, most)


def result_of(run: Run, table: SplitTable, folder: Path) -> tuple[Result, bool]:
    """Return the result that the folder keeps, or make and measure the release and keep it; and whether it was kept.

    Raises:
        KeyboardInterrupt: The run was stopped. Nothing is kept, not even if there is a model.
    """
    file = folder / f"{run.name}.json"
    with suppress(FileNotFoundError, ValidationError):
        return _RESULT.validate_json(file.read_bytes()), True
    result = measured(run, table)
    with written_whole(file) as part:
        part.write_bytes(_RESULT.dump_json(result, indent=1) + b"\n")
    return result, False


def measured(run: Run, table: SplitTable) -> Result:
    """Make a release, unless there is one, and measure it."""
    release, took = (run.release, None) if run.release else _made(run, table)
    case = open_case(release, table.table, plan=table.plan, holdout=HELD_OUT, seed=run.seed).case
    [membership] = nearest_membership(case, most=table.records)
    reidentified = knowing_half(case)
    auc, real_auc = _aucs(release, table, run.seed)
    return Result(
        run,
        table.learnt_from,
        membership.attacked,
        auc,
        real_auc,
        membership.success,
        reidentified.success,
        reidentified.baseline,
        reidentified.beyond_chance,
        took,
    )


def _made(run: Run, table: SplitTable) -> tuple[pa.Table, float]:
    """Return a release, and the seconds that it took.

    Raises:
        KeyboardInterrupt: The training was stopped.
    """
    began = monotonic()
    knobs, wish = Knobs(privacy=run.privacy), Wish(holdout=HELD_OUT, seed=run.seed, seconds=run.seconds)
    made = generate(table.table, table.plan, method=run.method, knobs=knobs, wish=wish)
    if made.training.ended == STOPPED:
        raise KeyboardInterrupt
    return made.table, monotonic() - began


def _aucs(release: pa.Table | Path, table: SplitTable, seed: int) -> Iterator[Interval]:
    """Yield the AUC of boosting on held-out records, trained on the release and on as many real records."""
    opened = open_release(release, table.table, plan=table.plan, holdout=HELD_OUT, seed=seed)
    trials = Trials.of(parts_of(opened, "the release", seed), table.plan.label, np.random.default_rng(seed))
    return map(_auc, (trials.released, trials.real))


def _auc(trial: Trial) -> Interval:
    return weighted_auc(trial.fitting(_MODEL).probabilities(), trial.tested).interval(0.0, 1.0)
