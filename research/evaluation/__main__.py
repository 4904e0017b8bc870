"""`python -m research.evaluation`: train, ask, write the page."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from research import real_tables
from research.evaluation import synthetic_tables
from research.evaluation.outcomes import outcomes
from research.evaluation.sections import costs, failures, joint, knowledge, overview, reconstruction, tables, text
from research.report import write
from research.study import Study


def main() -> None:
    """Read the command line and run the evaluation."""
    parser = argparse.ArgumentParser(prog="python -m research.evaluation", description=__doc__)
    parser.add_argument(
        "--output", type=Path, default=Path("research/results/evaluation.md"), help="the page; plots go beside it"
    )
    parser.add_argument("--short", action="store_true", help="two small tables, few configurations, two splits")
    parser.add_argument("--results", type=Path, help="a folder that stores training results between runs")
    given = parser.parse_args()
    evaluate(given.output, short=given.short, kept=given.results)


def evaluate(output: Path, *, short: bool, kept: Path | None = None) -> None:
    """Write the page and its plots."""
    chosen = list(studies(short=short))
    trained = outcomes(chosen, short=short, kept=kept)
    sections = [
        text.method(trained),
        tables.section(trained),
        overview.section(trained),
        joint.section(trained),
        failures.section(trained),
        knowledge.section(trained),
        text.rivals(),
        reconstruction.section(chosen, short=short),
        costs.section(short=short),
        text.limits(trained),
        tables.every_table(trained),
    ]
    write(output, text.head(trained, short=short), sections)


def studies(*, short: bool) -> Iterator[Study]:
    """Yield all studies, real ones first; in the short form, small ones of each kind."""
    if short:
        yield real_tables.wine(configurations=5, attributes=6)
        yield real_tables.iris(configurations=5, attributes=2)
        yield synthetic_tables.redundant(4, records=300, configurations=5)
        return
    yield real_tables.health()
    yield from real_tables.took_part()
    yield from real_tables.held_out()
    yield from synthetic_tables.studies()


if __name__ == "__main__":
    main()
