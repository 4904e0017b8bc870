"""The page of the frontier: a table with a row for each method and level, and a figure of worth against attacks."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from aegis_provider.check import Interval
from research.generation.drawing import legend, limits, paragraph
from research.generation.frontier.runs import TWO_LABELS, Result
from research.generation.tables import ADULT
from research.losses import Estimate
from research.plots import COLOURS, MARKERS
from research.report import Section, image, link, table

FIGURE: Final = "generation-frontier.svg"
DETAILS: Final = "generation-frontier.csv"
STYLES: Final[list[dict[str, Any]]] = [
    {"color": colour, "marker": marker} for colour, marker in zip(COLOURS, MARKERS, strict=False)
]

COLUMNS: Final = (
    "method",
    "privacy",
    "seeds",
    "AUC",
    "membership AUC",
    "re-identified",
    "by chance",
    "beyond chance",
    "seconds",
)

_TABLES: Final = {
    TWO_LABELS: "the health example with the label excellent or other",
    ADULT: "20,000 records of Adult, drawn at random",
}

Cells = Mapping[tuple[str, float], Sequence[Result]]
"""The results of all seeds, by method and level of privacy."""


def cells_of(results: Sequence[Result]) -> Cells:
    """Return the results by method and level, in the order of the runs."""
    runs = groupby(results, key=lambda each: (each.run.method, each.run.privacy))
    return {cell: list(same) for cell, same in runs}


def section(results: Sequence[Result], of: str) -> Section:
    """Return the section about the table of that name; each run with intervals of its own is in a file."""
    cells = cells_of(results)
    rows = [_real_row(results), *(_row(*cell, same) for cell, same in cells.items())]
    parts = [
        _about(results, of),
        image(FIGURE, "AUC of boosting trained on the release against what attacks achieve"),
        table(COLUMNS, rows),
        f"{link(DETAILS, 'Each run')} has intervals of its own: for other records of the table, and the same release.",
    ]
    details = {DETAILS: [_DETAILED, *map(_detailed, results)]}
    findings = [_finding(method, cells) for method in dict.fromkeys(method for method, _ in cells)]
    return Section("Worth against attacks", "\n\n".join(parts), {FIGURE: _figure(cells)}, findings, details=details)


def over_seeds(results: Sequence[Result], number: Callable[[Result], float]) -> Interval:
    """Return the mean over the seeds with its 95 % interval by Student's t; the mean alone if there is one seed."""
    estimate = Estimate.of(np.array([number(each) for each in results]), 0.0)
    return Interval(estimate.mean, estimate.lower, estimate.upper)


def _about(results: Sequence[Result], of: str) -> str:
    first, seeds = results[0], len({each.run.seed for each in results})
    means = "that of one seed" if seeds == 1 else f"the mean over {seeds} seeds, with its 95 % interval for other seeds"
    return paragraph(f"""\
        Of {_TABLES[of]}, half of the persons are held out with all their records.
        Records with equal attributes count as one person. The releases are made of {first.not_held_out:,} records.
        **AUC** is that of gradient boosting, trained on the release and tested on the held-out records.
        **Membership** ranks {first.persons:,} persons of both sides by their nearest released record; 0.5 is chance.
        **Re-identified** are persons of whom someone knows about half of the attributes, beside what a release with
        shuffled columns gives; *beyond chance* is the difference as a share of what is possible. A training takes
        {first.run.seconds:g} seconds at most. Each number is {means}.""")


def _shown(interval: Interval) -> str:
    return f"{interval.value:.3f}" if np.isnan(interval.low) else limits(interval)


def _real_row(results: Sequence[Result]) -> list[str]:
    cell = next(iter(cells_of(results).values()))
    auc = _shown(over_seeds(cell, lambda each: each.real_auc.value))
    return ["real records", "-", str(len(cell)), auc, *["-"] * 5]


def _row(method: str, privacy: float, same: Sequence[Result]) -> list[str]:
    numbers = (_auc, _membership, _reidentified, _by_chance, _beyond_chance)
    shown = [_shown(over_seeds(same, number)) for number in numbers]
    took = [each.took for each in same if each.took is not None]
    level, seconds = (f"{privacy:g}", f"{np.mean(took):.0f}") if took else ("-", "-")
    return [f"`{method}`", level, str(len(same)), *shown, seconds]


def _auc(result: Result) -> float:
    return result.auc.value


def _membership(result: Result) -> float:
    return result.membership.value


def _reidentified(result: Result) -> float:
    return result.reidentified.value


def _by_chance(result: Result) -> float:
    return result.by_chance.value


def _beyond_chance(result: Result) -> float:
    return result.beyond_chance.value


_DETAILED: Final = ("run", "AUC", "trained on real records", "membership AUC", "re-identified", "by chance", "seconds")


def _detailed(result: Result) -> list[str]:
    numbers = (result.auc, result.real_auc, result.membership, result.reidentified, result.by_chance)
    return [result.run.name, *map(limits, numbers), "-" if result.took is None else f"{result.took:.1f}"]


def _finding(method: str, cells: Cells) -> str:
    mine = [(privacy, same) for (name, privacy), same in cells.items() if name == method]
    told = [
        f"at privacy {privacy:g} an AUC of {_shown(over_seeds(same, _auc))} and a membership AUC of "
        f"{_shown(over_seeds(same, _membership))}"
        for privacy, same in (mine[:1] if len(mine) == 1 else (mine[0], mine[-1]))
    ]
    return f"**`{method}`** has {', and '.join(told)}."


def _figure(cells: Cells) -> Figure:
    figure = Figure(figsize=(9.6, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, title, attack, chance in (
        (left, "membership AUC", _membership, 0.5),
        (right, "re-identified beyond chance", _beyond_chance, 0.0),
    ):
        _draw(axes, cells, attack)
        axes.axvline(chance, color="black", linewidth=0.6)
        axes.set_xlabel(f"{title} (line: chance)")
    real = np.mean([each.real_auc.value for same in cells.values() for each in same])
    for axes in (left, right):
        axes.axhline(real, color="grey", linestyle="--", linewidth=0.9, label="real records")
    left.set_ylabel("AUC of boosting trained on the release")
    legend(figure, left, 5)
    return figure


def _draw(axes: Axes, cells: Cells, attack: Callable[[Result], float]) -> None:
    """Draw a line for each method through its levels, whose numbers stand beside the points."""
    for style, method in zip(STYLES, dict.fromkeys(name for name, _ in cells), strict=False):
        mine = [(level, same) for (name, level), same in sorted(cells.items()) if name == method]
        x, y = ([over_seeds(same, number) for _, same in mine] for number in (attack, _auc))
        places = [each.value for each in x], [each.value for each in y]
        axes.errorbar(*places, _half(y), _half(x), label=method, linewidth=1, elinewidth=0.5, **style)
        for (level, _), *place in zip(mine, *places, strict=True):
            if len(mine) > 1:
                axes.annotate(f"{level:g}", (place[0], place[1]), (3, 3), textcoords="offset points", fontsize=7)


def _half(intervals: Sequence[Interval]) -> list[float]:
    """Return half the widths of intervals; 0 of one that is not known."""
    return [0.0 if np.isnan(each.high) else each.high - each.value for each in intervals]
