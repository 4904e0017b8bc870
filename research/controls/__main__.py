"""The cost of each disclosure control: how much worse it makes the advice on the health example.

python -m research.controls --adult ../shared/data/adult       writes research/results/controls.md and its plot
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import spearmanr
from threadpoolctl import threadpool_limits

from aegis_advisor.arrays import IntArray
from aegis_advisor.evidence import evidence_of
from aegis_provider import LastingRandomness, document_of, prepare_entry, summarize
from aegis_provider.control import Control, LaplaceNoise, MinimumCell, RandomRounding
from app.entries.api.uploads import read_publication
from app.entries.model.configurations import unpack_configurations
from app.entries.model.documents import Document, entry_in
from research.controls.default_cost import REPETITIONS, adult_option, default_section
from research.controls.learners import SPLITS, Learners
from research.controls.noise import Entry, utilities
from research.evaluation.outcomes import levels
from research.plots import COLOURS, MARKERS
from research.real_tables import health_table
from research.report import NO_METADATA, REPRODUCIBLE, figure_of, shortened, table
from research.study import Study
from tests import example

OUTPUT = Path(__file__).parents[1] / "results" / "controls.md"
PLOT = Path("evaluation") / "controls.svg"

FAMILIES: Mapping[str, Mapping[str, Control]] = {
    "minimum cell": {f"{cell}": MinimumCell(cell) for cell in (5, 10, 20, 50)},
    "rounded to": {f"{base}": RandomRounding(base) for base in (5, 10, 20, 50, 100)},
    "epsilon, equal": {f"{epsilon:g}": LaplaceNoise(epsilon) for epsilon in (10, 5, 2, 1, 0.5, 0.1)},
    "epsilon, cube root": {f"{epsilon:g}": LaplaceNoise(epsilon, "cube_root") for epsilon in (10, 5, 2, 1, 0.5, 0.1)},
}


PANELS: Mapping[str, Sequence[str]] = {
    "minimum cell, records": ("minimum cell",),
    "rounded to, records": ("rounded to",),
    "epsilon": ("epsilon, equal", "epsilon, cube root"),
}
COLUMNS = ("control", "configurations left", "Spearman lost, mean", "largest", "AUC lost, mean", "largest")

TEXT = """\
# What disclosure control costs

The less is published, the worse the advice. By default `aegis summarize` rounds counts, which
[costs little on large tables](#the-default-on-every-real-table). The cost of other controls was measured on the health
example, {records:,} records, with its 70 configurations, by `python -m research.controls --adult FOLDER` (after
`make research`), which writes this page. Noise and rounding are drawn anew in each run.

Every entry passed through all steps: it was summarised, put through the control, and checked as the service checks it,
and the unmasked joint counts were reconstructed as its declarations allow.

* **Spearman lost** is 1 minus Spearman's correlation between two orders of the configurations by mutual information:
  the order with the control, and the order without any, which is the true one.
* **AUC lost** is the AUC (three models, {splits} random halves, as in [the evaluation](evaluation.md#how-it-was-done))
  of the table masked by the configuration picked without any control, minus that of the one picked with the control. It
  is a mean over three questions: about all configurations, about the more private two thirds, and about the most
  private third. Where it is below 0, the pick with control happens to be better.
* Noise and rounding were drawn {repetitions} times; the table has the mean and the largest loss.
* A minimum cell count makes configurations coarser; their order is exact.

{table}

![Spearman and AUC lost by each control, from the smallest to the largest](evaluation/controls.svg)

{default}
"""


@dataclass(frozen=True)
class Cost:
    """The cost of one control: its figures in every repetition.

    Attributes:
        left: the number of configurations still offered.
        spearman: the correlation between their order with the control and the true one, by utility.
        lost: the AUC of the pick without control minus that of the pick with it, as a mean over the questions.
    """

    left: Sequence[int]
    spearman: Sequence[float]
    lost: Sequence[float]


def main() -> None:
    """Measure every control and write the page."""
    threadpool_limits(1)  # as workers do
    adult = adult_option(__doc__)
    exact = _read(example.entry("health"))
    learners = Learners(Study.of(health_table(), example.plan()))
    costs = {
        family: {name: _cost(control, exact, learners) for name, control in members.items()}
        for family, members in FAMILIES.items()
    }
    with rc_context(REPRODUCIBLE):
        _plot(costs).savefig(OUTPUT.parent / PLOT, format="svg", metadata=NO_METADATA)
    page = _page(costs, learners.study.table.records, default_section(adult))
    OUTPUT.write_text(shortened(OUTPUT, page), encoding="utf-8")
    print(f"wrote {OUTPUT.name} and {PLOT.name}")


def _cost(control: Control, exact: Entry, learners: Learners) -> Cost:
    repetitions = 1 if isinstance(control, MinimumCell) else REPETITIONS
    figures = [_once(control, exact, learners) for _ in range(repetitions)]
    return Cost(*zip(*figures, strict=True))


def _once(control: Control, exact: Entry, learners: Learners) -> tuple[int, float, float]:
    """Return the number of configurations left, the correlation with the true order, and the AUC lost."""
    prepared = prepare_entry(example.TABLE, example.plan(), [control], name="health", chance=LastingRandomness())
    published = _read(document_of(prepared.entry))
    released = _read(document_of(summarize(example.TABLE, prepared.plan, name="health")))
    places = np.array([exact.configurations.ids.index(each) for each in published.configurations.ids])
    spearman = float(spearmanr(exact.utilities[places], published.utilities).statistic)
    questions = levels(exact.utilities.size)
    return (
        places.size,
        spearman,
        float(np.mean([_lost(each, places, exact, published, released, learners) for each in questions])),
    )


def _read(document: Document) -> Entry:
    """Read an entry as the service does; a refused entry ends the benchmark."""
    content = read_publication(orjson.dumps(document)).content
    evidence = evidence_of(entry_in(document))
    configurations = unpack_configurations(content.configuration_table, content.outline)
    return Entry(evidence, configurations, utilities(evidence, configurations)[0])


def _lost(
    question: IntArray, places: IntArray, exact: Entry, published: Entry, released: Entry, learners: Learners
) -> float:
    """Return the AUC that the pick loses on a question.

    Args:
        question: the configurations asked about, by their indices without control.
        places: the indices without control of the configurations left.
        exact: the entry without control.
        published: the entry with the control.
        released: the entry that counts every value of what is released then.
        learners: the models.
    """
    best = int(question[exact.utilities[question].argmax()])
    offered = np.flatnonzero(np.isin(places, question))
    pick = int(offered[published.utilities[offered].argmax()])
    return learners.auc(exact, best) - learners.auc(released, pick)


def _page(costs: Mapping[str, Mapping[str, Cost]], records: int, default: str) -> str:
    rows = [_row(family, name, cost) for family, members in costs.items() for name, cost in members.items()]
    return TEXT.format(
        table=table(COLUMNS, rows),
        records=records,
        repetitions=REPETITIONS,
        splits=SPLITS,
        default=default,
    )


def _row(family: str, name: str, cost: Cost) -> list[str]:
    lost = [1 - each for each in cost.spearman]
    figures = (np.mean(lost), max(lost), np.mean(cost.lost), max(cost.lost))
    return [f"{family} {name}", str(min(cost.left)), *(figure_of(float(each)) for each in figures)]


def _plot(costs: Mapping[str, Mapping[str, Cost]]) -> Figure:
    """Plot a column for each kind of control, with the order above and the pick below."""
    figure = Figure(figsize=(8, 4.6), layout="constrained")
    grid = figure.subplots(2, len(PANELS), sharey="row")
    for column, (axis, families) in enumerate(PANELS.items()):
        for place, family in enumerate(families):
            order = [[1 - each for each in cost.spearman] for cost in costs[family].values()]
            picks = [list(cost.lost) for cost in costs[family].values()]
            for axes, values in zip(grid[:, column], (order, picks), strict=True):
                _series(axes, list(costs[family]), values, family, place)
        grid[1, column].set_xlabel(axis)
    grid[0, 0].set_ylabel("Spearman lost")
    grid[1, 0].set_ylabel("AUC lost")
    grid[0, -1].legend(loc="upper left", fontsize="small", frameon=False)
    return figure


def _series(axes: Axes, names: Sequence[str], values: Sequence[Sequence[float]], label: str, place: int) -> None:
    """Draw the mean of each control, and a line from its smallest to its largest value."""
    means = [float(np.mean(each)) for each in values]
    reach = [[mean - min(each) for mean, each in zip(means, values, strict=True)]]
    reach += [[max(each) - mean for mean, each in zip(means, values, strict=True)]]
    spots = np.arange(len(names)) + 0.12 * place
    axes.errorbar(spots, means, yerr=reach, label=label, color=COLOURS[place], marker=MARKERS[place], linewidth=1)
    axes.set_xticks(range(len(names)), names)
    axes.axhline(0, color="black", linewidth=0.6)


if __name__ == "__main__":
    main()
