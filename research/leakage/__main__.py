"""How much of an entry's counts the coarse view of answers gives away: an attack on many entries.

python -m research.leakage --adult FILE     prints the table of docs/security.md and research/results/chance (hours)
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from aegis_provider.control import Control, LaplaceNoise, RandomRounding
from research.leakage import entries
from research.leakage.attack import Outcome, attack
from research.leakage.target import Target
from research.report import table

CONTROLS: Mapping[str, Sequence[Control]] = {
    "none": (),
    "rounded to 5": (RandomRounding(5),),
    "noise, epsilon 1": (LaplaceNoise(1.0),),
}
ENOUGH = 0.8
COLUMNS = (
    "entries",
    "control",
    "known",
    "cells",
    f"ratio >= {ENOUGH}",
    "fewest of an entry",
    "median ratio",
    "tables",
    "recovered",
    "labels recovered",
)

#: Steps of a walk on a small entry and on a large one, which takes longer to forget where it began.
STEPS, LONG = 1_500, 24_000

Maker = Callable[[Sequence[Control]], Target]


def main() -> None:
    """Read the command line, attack, and print the outcomes of each kind of entry."""
    parser = argparse.ArgumentParser(prog="python -m research.leakage", description=__doc__)
    parser.add_argument("--entries", type=int, default=100, help="number of random entries; 0 attacks only the tables")
    parser.add_argument("--adult", type=Path, help="the file adult.csv of the UCI repository, with a header line")
    parser.add_argument("--no-health", action="store_true", help="leave the repository's example out")
    given = parser.parse_args()
    print("What all answers in the coarse view tell about the counts of an entry\n")
    makers: dict[str, tuple[Sequence[Maker], int]] = {}
    if given.entries:
        makers[f"{given.entries} random"] = [partial(entries.drawn, seed) for seed in range(given.entries)], STEPS
    if not given.no_health:
        makers["health"] = [entries.health], LONG
    if given.adult is not None:
        makers["Adult"] = [partial(entries.adult, given.adult)], LONG
    for name, (chosen, steps) in makers.items():
        for control_name, control in CONTROLS.items():
            _report(name, control_name, [make(control) for make in chosen], steps)


def _report(entries_name: str, control: str, targets: Sequence[Target], steps: int) -> None:
    """Attack all of them and print one row for the values alone, and one for the order besides."""
    outcomes = []
    for seed, target in enumerate(targets):
        outcomes.append(attack(target, steps, seed))
        print(f"{entries_name}, {control}: {seed + 1} of {len(targets)} attacked", file=sys.stderr, flush=True)
    rows = [_row(entries_name, control, known, [one[known] for one in outcomes]) for known in outcomes[0]]
    print(table(COLUMNS, rows), end="\n\n", flush=True)


def _row(entries_name: str, control: str, known: str, outcomes: Sequence[Outcome]) -> Sequence[str]:
    ratios = np.concatenate([one.ratios for one in outcomes])
    return (
        entries_name,
        control,
        known,
        f"{ratios.size:,}",
        f"{np.mean(ratios >= ENOUGH):.0%}",
        f"{min(np.mean(one.ratios >= ENOUGH) for one in outcomes):.0%}",
        f"{np.median(ratios):.2f}",
        f"{sum(one.tables.size for one in outcomes):,}",
        f"{sum(int(one.tables.sum()) for one in outcomes):,}",
        f"{sum(one.labels for one in outcomes):,}",
    )


if __name__ == "__main__":
    main()
