"""Figure 4, centre: what models are worth that are trained on a release."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from aegis_provider.check import Interval
from aegis_provider.synth.fidelity import ModelValue
from research.generation import releases
from research.generation.drawing import STYLES, errors, legend, limits, sentence
from research.generation.measured import Measured
from research.report import Section, image, table

FIGURE: Final = "generation-worth.svg"
SHOWN: Final = (releases.ORIGINAL, releases.PRIVACY, releases.BOTH)
METRICS: Final = ("accuracy", "AUC")
WIDTH: Final = 0.26

ABOUT: Final = """\
Three models are trained on the release and tested on held-out real records. *Original* is a training on as many of the
real records that the releases were made of. **The paper claims** that accuracy drops from the original to the release
with the privacy knob alone, and rises again with the value knob. The line is always guessing the most frequent
value."""


def section(results: Sequence[Measured]) -> Section:
    """Return the section, with a row of two panels for each table."""
    figure = Figure(figsize=(9.2, 3.6 * len(results) + 0.4), layout="constrained")
    grid = figure.subplots(len(results), 2, squeeze=False)
    for line, each in zip(grid, results, strict=True):
        for axes, metric in zip(line, METRICS, strict=True):
            _draw(axes, each, metric)
    legend(figure, grid[0][1], 4)
    columns = ("table", "model", "metric", *SHOWN)
    rows = [[each.table.name, *row] for each in results for row in _rows(each)]
    parts = [ABOUT, image(FIGURE, "AUC and accuracy of three models by what they are trained on"), table(columns, rows)]
    findings = [_finding(each) for each in results]
    return Section("Figure 4, centre: models trained on releases", "\n\n".join(parts), {FIGURE: figure}, findings)


def models(one: Measured, name: str) -> Sequence[ModelValue]:
    """Return the models of a release; those of the original come with the privacy-aware one."""
    return one.fidelity[releases.PRIVACY if name == releases.ORIGINAL else name].models


def metric_of(model: ModelValue, name: str, metric: str) -> Interval:
    """Return the AUC or the accuracy of a model trained on a release."""
    if name == releases.ORIGINAL:
        return model.real_auc if metric == "AUC" else model.real_accuracy
    return model.auc if metric == "AUC" else model.accuracy


def _draw(axes: Axes, one: Measured, metric: str) -> None:
    names = [each.model for each in models(one, releases.ORIGINAL)]
    for place, name in enumerate(SHOWN):
        values = [metric_of(each, name, metric) for each in models(one, name)]
        middles = np.arange(len(names)) + (place - 1) * WIDTH
        heights = [each.value for each in values]
        axes.bar(middles, heights, WIDTH, yerr=errors(values), color=STYLES[name]["color"], label=name)
    guess = 0.5 if metric == "AUC" else one.fidelity[releases.PRIVACY].guessed
    axes.axhline(guess, color="black", linewidth=0.9, linestyle="--", label="without attributes")
    axes.set_xticks(range(len(names)), [each.replace(" ", "\n") for each in names], fontsize=8)
    axes.set_ylim(0.4, 1)
    axes.set_ylabel(metric)
    axes.set_title(one.table.name, fontsize=10)


def _rows(one: Measured) -> Iterator[list[str]]:
    for metric in METRICS:
        for same in zip(*(models(one, name) for name in SHOWN), strict=True):
            cells = [limits(metric_of(each, name, metric)) for each, name in zip(same, SHOWN, strict=True)]
            yield [same[0].model, metric, *cells]


def _finding(one: Measured) -> str:
    aware, both = (models(one, name) for name in (releases.PRIVACY, releases.BOTH))
    drops = [sum(change(each).high < 0 for each in aware) for change in (_of_accuracy, _of_auc)]
    rises = [_how_many(one, _is_more, metric) for metric in METRICS]
    surely = [_how_many(one, _is_surely_more, metric) for metric in METRICS]
    return sentence(f"""\
        **Worth** ({one.table.name}): from the original to the privacy-aware release, accuracy certainly drops for
        {drops[0]} of {len(aware)} models, and AUC for {drops[1]}. With the value knob too, accuracy is higher than
        with privacy only for {rises[0]} of {len(both)}, and AUC for {rises[1]}; the intervals are apart for {surely[0]}
        and {surely[1]}.""")


def _how_many(one: Measured, is_more: Callable[[Interval, Interval], bool], metric: str) -> int:
    """Return for how many models the release with both knobs is worth more than the one with privacy only."""
    pairs = zip(*(models(one, name) for name in (releases.BOTH, releases.PRIVACY)), strict=True)
    return sum(
        is_more(metric_of(both, releases.BOTH, metric), metric_of(aware, releases.PRIVACY, metric))
        for both, aware in pairs
    )


def _of_accuracy(model: ModelValue) -> Interval:
    return model.accuracy_difference


def _of_auc(model: ModelValue) -> Interval:
    return model.auc_difference


def _is_more(one: Interval, other: Interval) -> bool:
    return one.value > other.value


def _is_surely_more(one: Interval, other: Interval) -> bool:
    return one.low > other.high
