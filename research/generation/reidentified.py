"""Figure 2, right: re-identification."""

from collections.abc import Iterator, Sequence
from typing import Final

from matplotlib.axes import Axes

from aegis_provider.check import Interval
from aegis_provider.synth.attacks.attack import Outcome
from research.generation import releases
from research.generation.drawing import STYLES, errors, legend, limits, panels, sentence
from research.generation.measured import PAPER_EPSILON, REIDENTIFIED, Measured
from research.plots import whole_numbers
from research.report import Section, image, table

FIGURE: Final = "generation-reidentification.svg"
PAPER_MOST: Final = 0.1

ABOUT: Final = """\
An attacker knows some quasi-identifiers of 1 % of the persons (at least 100) and predicts the others by a network
fitted on the release. A person is re-identified if the prediction is within epsilon of the truth.

**The paper claims** that less than 10 % are re-identified, with epsilon = 3, and names no unit. Here numbers are scaled
to [0, 1] and a wrong category counts as 1, so two persons are less than 3 apart: **with epsilon = 3, everyone counts as
re-identified**, by any guess (dotted line). The project's epsilon is such that 5 % of random pairs of real persons are
as close. A network fitted on a release with shuffled columns (grey) still hits the frequent combinations."""


def section(results: Sequence[Measured]) -> Section:
    """Return the section, with a panel for each table."""
    figure, grid = panels(results)
    for axes, each in zip(grid, results, strict=True):
        _draw(axes, each)
    legend(figure, grid[0])
    parts = [
        ABOUT,
        image(FIGURE, "Successful re-identifications against the number of known quasi-identifiers"),
        *(f"**{each.table.name}, re-identified persons of {_persons(each)}:**\n\n{_table(each)}" for each in results),
    ]
    findings = [_finding(each) for each in results]
    return Section("Figure 2, right: re-identification", "\n\n".join(parts), {FIGURE: figure}, findings)


def _persons(one: Measured) -> int:
    return max(100, round(0.01 * one.table.learnt_from))


def _known(outcomes: Sequence[Outcome]) -> list[int]:
    return [int(each.details["known"]) for each in outcomes]


def _times(interval: Interval, number: int) -> Interval:
    return Interval(interval.value * number, interval.low * number, interval.high * number)


def _draw(axes: Axes, one: Measured) -> None:
    persons = _persons(one)
    for name in REIDENTIFIED:
        outcomes = one.reidentified[name]
        hits = [_times(each.success, persons) for each in outcomes]
        heights = [each.value for each in hits]
        axes.errorbar(_known(outcomes), heights, errors(hits), label=name, linewidth=1, markersize=4, **STYLES[name])
    aware = one.reidentified[releases.PRIVACY]
    chance = [each.baseline.value * persons for each in aware]
    axes.plot(_known(aware), chance, color="grey", linewidth=2, label="privacy only, columns shuffled")
    paper = [each.success.value * persons for each in one.by_paper]
    axes.plot(_known(one.by_paper), paper, ":", color="black", label=f"privacy only, epsilon = {PAPER_EPSILON:g}")
    axes.set_xlabel("known quasi-identifiers")
    axes.set_ylabel(f"re-identified of {persons} persons")
    axes.set_ylim(0, 1.05 * persons)
    axes.xaxis.set_major_locator(whole_numbers())


def _table(one: Measured) -> str:
    persons = _persons(one)
    columns = (
        "known",
        "epsilon",
        *REIDENTIFIED,
        "privacy only, shuffled",
        f"privacy only, epsilon = {PAPER_EPSILON:g}",
    )
    by_known = zip(one.by_paper, *(one.reidentified[name] for name in REIDENTIFIED), strict=True)
    return table(columns, [list(_row(persons, paper, each)) for paper, *each in by_known])


def _row(persons: int, paper: Outcome, outcomes: Sequence[Outcome]) -> Iterator[str]:
    aware = outcomes[REIDENTIFIED.index(releases.PRIVACY)]
    yield f"{outcomes[0].details['known']:.0f}"
    yield f"{aware.details['epsilon']:.2f}"
    for each in (*(one.success for one in outcomes), aware.baseline, paper.success):
        yield limits(_times(each, persons), 0)


def _finding(one: Measured) -> str:
    aware = one.reidentified[releases.PRIVACY]
    below = sum(each.success.value < PAPER_MOST for each in aware)
    beyond, of_original = (
        sum(each.success.low > each.baseline.high for each in one.reidentified[name])
        for name in (releases.PRIVACY, releases.ORIGINAL)
    )
    paper = min(each.success.value for each in one.by_paper)
    return sentence(f"""\
        **Re-identification** ({one.table.name}): with the paper's epsilon of 3,
        {"all" if paper == 1 else f"at least {paper:.0%} of the"} persons count as re-identified from the privacy-aware
        release. With the project's epsilon, less than 10 % do, as the
        paper claims, for {below} of {len(aware)} numbers of known quasi-identifiers. These are certainly more than from
        shuffled columns for {beyond} of {len(aware)}; from the records themselves, for {of_original}.""")
