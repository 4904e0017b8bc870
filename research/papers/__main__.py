"""`python -m research.papers`: measure the figures of the papers on our tables, and judge their claims."""

import argparse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from research.papers import (
    accuracy,
    claims,
    claims_of_aegis,
    claims_of_draft,
    claims_of_others,
    growth,
    growth_page,
    hiding_page,
    page,
    summaries,
    tables,
)
from research.papers.algorithm import Algorithm
from research.report import write

SPLITS, SHORT_SPLITS = 10, 2
GROWTH_SPLITS = 5
ORDERS = 2
SHORT_SIZE = growth.Size(records=300, attributes=3, configurations=4, domain=12)


def main() -> None:
    """Read the command line and write the page."""
    parser = argparse.ArgumentParser(prog="python -m research.papers", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("research/results/papers.md"), help="the page")
    parser.add_argument("--short", action="store_true", help="tiny tables, few configurations, two splits")
    parser.add_argument(
        "--adult", type=Path, help="the folder with adult.csv and its hierarchies; without it, no Adult"
    )
    parser.add_argument("--results", type=Path, help="a folder that keeps what was measured between runs")
    given = parser.parse_args()
    if given.adult is not None and not (given.adult / "adult.csv").is_file():
        parser.error(f"--adult: there is no adult.csv in {given.adult}")
    with TemporaryDirectory(prefix="aegis-papers-") as folder:
        kept = given.results or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        evaluate(given.output, kept, short=given.short, adult=given.adult)


def evaluate(output: Path, kept: Path, *, short: bool, adult: Path | None = None) -> None:
    """Measure, and write the page with its plots and tables.

    Args:
        output: the page.
        kept: the folder of what was measured before; nothing in it is measured again.
        short: whether to use tiny tables, for tests.
        adult: the folder of Adult and its hierarchies.
    """
    splits = SHORT_SPLITS if short else SPLITS
    chosen = list(tables.studies(adult, short=short))
    with ThreadPoolExecutor(1) as pool:  # one process: the times of the last part are those of one core
        trained = [accuracy.Accuracy.of(study, pool, splits, kept) for study in chosen]
    known = [summaries.Summaries.of(one, 1 if short else ORDERS) for one in trained]
    axes, base = (growth.SHORT_AXES, SHORT_SIZE) if short else (growth.AXES, growth.Size())
    points = growth.measured(axes, base, SHORT_SPLITS if short else GROWTH_SPLITS, kept)
    hidden = [hiding_page.Measured.of(case, short=short) for case in hiding_page.cases(adult, short=short)]
    evidence = claims_of_aegis.Evidence(trained, known, [Algorithm.of(one) for one in trained], points)
    judged = {
        **claims_of_aegis.claims(evidence),
        "003, the draft": claims_of_draft.claims(evidence),
        **claims_of_others.of_hiding(hidden),
        **claims_of_others.of_generation(),
    }
    sections = [
        claims.section(judged, adult=adult is not None),
        tables.section(chosen),
        accuracy.section(trained),
        summaries.section(known),
        growth_page.section(points, base),
        hiding_page.section(hidden),
    ]
    write(output, page.head(splits, short=short), sections, page.FOLDER)


if __name__ == "__main__":
    main()
