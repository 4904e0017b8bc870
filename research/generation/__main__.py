"""`python -m research.generation`: make releases, attack them, train on them, draw the figures of the paper."""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from research.generation import (
    associated,
    beside_original,
    converging,
    disclosure,
    embedded,
    knobs,
    page,
    reidentified,
    worth,
)
from research.generation.measured import Budget, measured, positions
from research.generation.tables import MOST, adult, the_example
from research.report import write

FIGURES: Final = (disclosure, reidentified, embedded, associated, converging, worth, beside_original)
ADULT_FILE: Final = "adult.csv"


def main() -> None:
    """Read the command line and draw the figures."""
    parser = argparse.ArgumentParser(prog="python -m research.generation", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("research/results/generation_figures.md"), help="the page")
    parser.add_argument(
        "--adult", type=Path, help=f"the folder with {ADULT_FILE}; without it, only the example is drawn"
    )
    parser.add_argument("--seconds", type=float, default=90.0, help="the limit of each training")
    parser.add_argument("--results", type=Path, help="a folder that keeps releases and results between runs")
    given = parser.parse_args()
    file = None if given.adult is None else given.adult / ADULT_FILE
    if file is not None and not file.is_file():
        parser.error(f"--adult: there is no {file}; give the folder that has it, or leave the option out")
    with TemporaryDirectory(prefix="aegis-figures-") as folder:
        evaluate(given.output, given.results or Path(folder), Budget(given.seconds), adult_file=file)


def evaluate(output: Path, folder: Path, budget: Budget, *, adult_file: Path | None = None, most: int = MOST) -> None:
    """Write the page and its plots.

    Args:
        output: The page.
        folder: Where releases and results are kept.
        budget: How long trainings take.
        adult_file: The file of Adult; without it, only the example is drawn.
        most: At most this many records of each table are used.
    """
    first = the_example(folder, most)
    results = [measured(first, folder, budget, budget.seeds)]
    if adult_file is not None:
        results.append(measured(adult(adult_file, folder, most), folder, budget, 1))
    sections = [
        page.method(results),
        *(each.section(results) for each in FIGURES),
        knobs.section({each.table.name: positions(each, folder, budget) for each in results}, budget),
        page.conflicts(adult_file),
        page.limits_of_page(results, budget),
    ]
    write(output, page.head(results, budget), sections)


if __name__ == "__main__":
    main()
