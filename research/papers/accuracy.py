"""Figure 1 of the paper, and the table of its draft's section 7.2: accuracy of the configurations, and of each pick."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from aegis_advisor.arrays import FloatArray
from research.evaluation.rankers import Entrant, entrants
from research.losses import Estimate
from research.papers.page import linked, shown
from research.plots import COLOURS, MARKERS
from research.report import Section, figure_of, table, with_interval
from research.study import Study
from research.training import MODELS, Results, sizes_of, train

PICKS: Mapping[str, str] = {
    "ours (joint)": "joint, counts",
    "MI": "mutual_information, counts",
    "chi-square": "chi_square, counts",
    "g3": "g3, counts",
    "Mascara": "Mascara",
    "sampling": "sampling",
    "as published (MI)": "mutual_information, own",
    "random": "random choice",
}
"""The rankers by their titles here; `as published` is the algorithm of the paper read literally."""

OURS, PUBLISHED, RANDOM, GOLD = "ours (joint)", "as published (MI)", "random", "gold"
MARKED = (GOLD, OURS, "Mascara", "sampling", "g3")
"""What figure 1 marks."""

FIGURE = "accuracy.svg"
EACH = "accuracy-by-configuration.csv"
TASKS = "accuracy-by-task.csv"


def entrant(name: str) -> Entrant:
    """Return the entrant of this id."""
    return next(one for one in entrants() if one.id == name)


def picked(study: Study, asked: Entrant) -> FloatArray:
    """Return (configurations,) the probability that each is picked of all, as a mean over the ranker's draws."""
    every = np.arange(len(study.configurations.ids))
    return np.mean([ranked(study).pick(every) for ranked in (asked.scores, *asked.again)], axis=0)


@dataclass(frozen=True, eq=False)
class Accuracy:
    """A table, its training results, and what each ranker picks.

    Attributes:
        picks: by title (configurations,) the probability that each configuration is picked.
    """

    study: Study
    results: Results
    picks: Mapping[str, FloatArray]

    @classmethod
    def of(cls, study: Study, pool: Executor, splits: int, kept: Path) -> "Accuracy":
        """Train on every configuration, and rank."""
        results = train(study, pool, splits, kept)
        return cls(study, results, {title: picked(study, entrant(name)) for title, name in PICKS.items()})

    def by_split(self, model: str) -> FloatArray:
        """Return (splits, configurations) the accuracy of a model."""
        return self.results.of(model, "accuracy")

    def each(self, model: str) -> FloatArray:
        """Return (configurations,) the mean accuracy of a model over the splits."""
        return self.by_split(model).mean(axis=0)

    def of_pick(self, title: str, model: str) -> FloatArray:
        """Return (splits,) the accuracy of what a ranker picks; gold is the best configuration by the mean."""
        values = self.by_split(model)
        if title == GOLD:
            return values[:, values.mean(axis=0).argmax()]
        reached: FloatArray = values @ self.picks[title]
        return reached

    def estimate(self, values: FloatArray) -> Estimate:
        """Estimate the mean of values (splits,) of this table."""
        trained, tested = sizes_of(self.study.table.records)
        return Estimate.of(values, tested / trained)

    def behind(self, title: str, other: str = GOLD) -> Estimate:
        """Estimate how much accuracy a pick has less than another, as a mean over the models."""
        return self.estimate(
            np.mean([self.of_pick(other, model) - self.of_pick(title, model) for model in MODELS], axis=0)
        )

    def range(self, places: Sequence[int] | None = None) -> float:
        """Return the greatest less the least accuracy of some configurations (all by default), the largest by model."""
        chosen = slice(None) if places is None else list(places)
        return max(float(np.ptp(self.each(model)[chosen])) for model in MODELS)


def section(measured: Sequence[Accuracy]) -> Section:
    """Make the section on accuracy."""
    text = f"""\
Each histogram shows the accuracy of one model on {measured[0].results.values.shape[0]} configurations of a table.
**Gold** is the best of them, which only training on all finds. Asked about all configurations, most rankers pick the
least masked one; [the evaluation](evaluation.md#what-the-picks-lose) asks about private ones, too.
{linked(EACH, "Every configuration")}.

{shown(FIGURE, "Accuracy of three models over the configurations, with gold, ours, Mascara, sampling and g3 marked")}

Section 7.2 of the draft leaves this table empty. Means over the three models; {linked(TASKS, "each task alone")}.
*As published* is the algorithm as its text says, each masking against a reconstruction of its own.

{table(["table", "worst", GOLD, *PICKS, f"{GOLD} - {OURS}"], [_row(one) for one in measured])}"""
    return Section(
        "000, figure 1, and 003, section 7.2: accuracy",
        text,
        {FIGURE: plot(measured)},
        [_finding(measured)],
        details={EACH: _each(measured), TASKS: _tasks(measured)},
    )


def _finding(measured: Sequence[Accuracy]) -> str:
    behind = {title: [one.behind(title).mean for one in measured] for title in PICKS}
    listed = ", ".join(f"{title} {np.mean(behind[title]):.3f}" for title in (*MARKED[1:], PUBLISHED, RANDOM))
    return f"**Accuracy** that a pick is behind the best of all configurations, mean over the tables: {listed}."


def _row(one: Accuracy) -> list[str]:
    reached = [np.mean([one.of_pick(title, model).mean() for model in MODELS]) for title in (GOLD, *PICKS)]
    worst = np.mean([one.each(model).min() for model in MODELS])
    return [
        one.study.name,
        *(figure_of(value, 3) for value in (worst, *reached)),
        with_interval(one.behind(OURS), 3),
    ]


def _each(measured: Sequence[Accuracy]) -> list[list[str]]:
    rows = [["table", "model", "configuration", "accuracy", *(f"picked by {title}" for title in PICKS)]]
    for one in measured:
        for model in MODELS:
            for place, (name, reached) in enumerate(zip(one.study.configurations.ids, one.each(model), strict=True)):
                shares = [f"{pick[place]:.3g}" for pick in one.picks.values()]
                rows.append([one.study.name, model, name, figure_of(reached), *shares])
    return rows


def _tasks(measured: Sequence[Accuracy]) -> list[list[str]]:
    rows = [["table", "ML task", GOLD, *PICKS]]
    for one in measured:
        for model in MODELS:
            reached = [with_interval(one.estimate(one.of_pick(title, model))) for title in (GOLD, *PICKS)]
            rows.append([one.study.name, model, *reached])
    return rows


def plot(measured: Sequence[Accuracy]) -> Figure:
    """Plot a histogram for each table and model, with the picks as marks."""
    figure = Figure(figsize=(8.4, 1.55 * len(measured) + 0.7), layout="constrained")
    grid = figure.subplots(len(measured), len(MODELS), squeeze=False)
    for one, line in zip(measured, grid, strict=True):
        for model, axes in zip(MODELS, line, strict=True):
            axes.hist(one.each(model), bins=16, color="#cccccc")
            heights = axes.get_xaxis_transform()  # marks below each other, since many picks are the same
            for place, title in enumerate(MARKED):
                at, style = float(one.of_pick(title, model).mean()), {"color": COLOURS[place], "marker": MARKERS[place]}
                axes.plot([at], [0.9 - 0.19 * place], transform=heights, linestyle="none", label=title, **style)
            axes.axvline(float(one.of_pick(GOLD, model).mean()), color=COLOURS[0], linewidth=0.8)
            axes.tick_params(labelsize=7)
            axes.locator_params(axis="x", nbins=5)
        line[0].set_ylabel(f"{one.study.name}\nconfigurations", fontsize=8)
    for model, axes in zip(MODELS, grid[0], strict=True):
        axes.set_title(model, fontsize=9)
    handles, names = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(MARKED), fontsize="small", frameon=False)
    figure.supxlabel("accuracy", fontsize=9)
    return figure
