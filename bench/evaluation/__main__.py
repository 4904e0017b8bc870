"""`python -m bench.evaluation`: train, ask, write the page."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.evaluation import cost, reconstruction
from bench.evaluation.effectiveness import outcomes
from bench.evaluation.report import Section, write
from bench.evaluation.rivals import about
from bench.evaluation.sections import data, details, failures, joint, knowledge, overview, text
from bench.evaluation.study import Study
from bench.evaluation.tables import studies

Part = Callable[[Sequence[Study], bool], Section]
"""A part that needs no training: given the studies, and whether it is the short form."""

PARTS: Sequence[Part] = (about.run, reconstruction.run, cost.run)


def main() -> None:
    """Read the command line, and evaluate."""
    parser = argparse.ArgumentParser(prog="python -m bench.evaluation", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("docs/evaluation.md"), help="the page; plots go beside it")
    parser.add_argument("--short", action="store_true", help="two small tables, few configurations, two splits")
    parser.add_argument("--results", type=Path, help="a folder that keeps training results between runs")
    given = parser.parse_args()
    evaluate(given.output, short=given.short, kept=given.results)


def evaluate(output: Path, *, short: bool, kept: Path | None = None) -> None:
    """Write the page and its plots."""
    chosen = list(studies(short=short))
    found = outcomes(chosen, short=short, kept=kept)
    sections = [
        text.method(found),
        data.section(found),
        overview.section(found),
        joint.section(found),
        failures.section(found),
        knowledge.section(found),
        *(part(chosen, short) for part in PARTS),
        text.limits(found),
        details.section(found),
    ]
    write(output, text.head(found, short=short), sections)


if __name__ == "__main__":
    main()
