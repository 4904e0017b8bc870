"""`python -m research.generation.frontier`: what each method is worth and gives away, by level of privacy.

Each result is kept as a JSON file in the folder `--results`. A run that was stopped goes on with the same folder.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Final

from research.generation.frontier import page
from research.generation.frontier.runs import (
    LEVELS,
    METHODS,
    SEEDS,
    Result,
    Run,
    made_elsewhere,
    planned,
    result_of,
    two_labels,
)
from research.generation.tables import ADULT, MOST, adult
from research.report import write

STOPPED: Final = 130

HEAD: Final = """\
# Generated tables: worth against what attacks achieve

Each method of `aegis synth generate`, at several levels of privacy and with several seeds.
`python -m research.generation.frontier` writes this page."""


def main() -> None:
    """Read the command line, make and measure all releases, and write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m research.generation.frontier",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--results", type=Path, required=True, help="the folder that keeps the results")
    parser.add_argument("--output", type=Path, help="the page; by default frontier.md in the folder of the results")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, help="by default all")
    parser.add_argument("--privacy", nargs="+", type=float, default=LEVELS, help="levels; by default %(default)s")
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS, help="by default %(default)s")
    parser.add_argument(
        "--elsewhere",
        nargs="+",
        action="append",
        default=[],
        metavar=("NAME", "FILE"),
        help="releases that another program made of the training.csv in the folder, one for each of its seeds",
    )
    parser.add_argument("--adult", type=Path, help="the folder with adult.csv, to measure Adult instead of the example")
    parser.add_argument("--seconds", type=float, default=240.0, help="the limit of each training")
    given = parser.parse_args()
    runs = planned(given.methods, given.privacy, given.seeds, given.seconds)
    for name, *files in given.elsewhere:
        runs += made_elsewhere(name, list(map(Path, files)))
    try:
        folder = given.results if given.adult is None else given.results / ADULT
        evaluate(runs, folder, given.output or folder / "frontier.md", adult_folder=given.adult)
    except KeyboardInterrupt:
        print("stopped; the same command goes on where it was", file=sys.stderr)
        sys.exit(STOPPED)


def evaluate(
    runs: Sequence[Run], folder: Path, output: Path, *, adult_folder: Path | None = None, most: int = MOST
) -> None:
    """Make and measure what the folder does not have yet, and write the page of all runs.

    Args:
        runs: The runs, those of one method and level after each other.
        folder: The folder that keeps the results.
        output: The page.
        adult_folder: The folder with adult.csv, to measure Adult; otherwise, the health example is measured.
        most: At most this many records of the table are used.
    """
    folder.mkdir(parents=True, exist_ok=True)
    table = two_labels(folder, most) if adult_folder is None else adult(adult_folder / "adult.csv", folder, most)
    began, results = monotonic(), []
    for number, run in enumerate(runs, 1):
        result, was_kept = result_of(run, table, folder)
        results.append(result)
        minutes = (monotonic() - began) / 60
        how = "kept" if was_kept else "measured" if result.took is None else f"{result.took:.0f} s to make"
        print(f"{minutes:5.1f} min  {number} of {len(runs)}: {run.name}: {_told(result)} ({how})", file=sys.stderr)
    write(output, HEAD, [page.section(results, table.name)])


def _told(result: Result) -> str:
    return f"AUC {result.auc.value:.3f}, membership {result.membership.value:.3f}"


if __name__ == "__main__":
    main()
