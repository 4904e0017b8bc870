"""The figure that the paper only claims: the privacy knob and the value knob against worth and re-identification."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from aegis_provider.check import Interval
from research.generation.drawing import errors, legend, limits, listed, paragraph, sentence
from research.generation.measured import Budget, Position
from research.generation.tables import ADULT, EXAMPLE
from research.plots import COLOURS, MARKERS
from research.report import Section, image, table

FIGURES: Final = {EXAMPLE: "generation-knobs.svg", ADULT: "generation-knobs-adult.svg"}
"""A file for each table, so that the plot of one does not depend on whether others are drawn."""

COLUMNS: Final = (
    "privacy",
    "value",
    "AUC",
    "re-identified",
    "from shuffled columns",
    "beyond chance",
    "exact copies",
    "copies of held-out records",
)


def section(turned: Mapping[str, Sequence[Position]], budget: Budget) -> Section:
    """Return the section, with a plot and a table of the positions for each table by its name."""
    figures = {FIGURES[name]: _figure(positions) for name, positions in turned.items()}
    parts = [_about(list(turned), budget), *(_part(name, positions) for name, positions in turned.items())]
    findings = [_finding(name, positions) for name, positions in turned.items()]
    return Section("The knobs", "\n\n".join(parts), figures, findings)


def _figure(positions: Sequence[Position]) -> Figure:
    figure = Figure(figsize=(12, 3.9), layout="constrained")
    grid = figure.subplots(1, 3)
    panels = (("AUC", _auc), ("re-identified beyond chance", _beyond), ("share of exact copies", _copies))
    for axes, (title, number) in zip(grid, panels, strict=True):
        _draw(axes, positions, title, number)
    legend(figure, grid[0], 4)
    return figure


def _about(names: Sequence[str], budget: Budget) -> str:
    return paragraph(f"""\
        **The paper claims** that its demonstration shows how its knobs trade worth for privacy, and shows no figure of
        it. Here both knobs are turned on the
        {"table" if len(names) == 1 else "tables"} {listed(names)}, each position with one training of at most
        {budget.seconds:g} seconds. The AUC is that of the model that predicts best from real records. The
        re-identification is that of figure 2, right, knowing about half of the quasi-identifiers, also as a share
        beyond shuffled columns. Exact copies equal a record that the generator saw, beside those that equal a held-out
        one.""")


def _part(name: str, positions: Sequence[Position]) -> str:
    alt = f"AUC, re-identification beyond chance and exact copies by both knobs, {name}"
    rows = table(COLUMNS, [_row(each) for each in positions])
    return f"{image(FIGURES[name], alt)}\n\n**{name}, re-identified {positions[0].reidentified.variant}:**\n\n{rows}"


def _auc(position: Position) -> Interval:
    return position.fidelity.best.auc


def _beyond(position: Position) -> Interval:
    return position.reidentified.beyond_chance


def _copies(position: Position) -> Interval:
    return position.copies.success


def _draw(axes: Axes, positions: Sequence[Position], title: str, number: Callable[[Position], Interval]) -> None:
    values = sorted({each.value for each in positions})
    places = {privacy: place for place, privacy in enumerate(sorted({each.privacy for each in positions}))}
    for line, value in enumerate(values):
        same = [each for each in positions if each.value == value]
        numbers = [number(each) for each in same]
        at = np.array([places[each.privacy] for each in same]) + 0.06 * (line - 1)
        heights = [each.value for each in numbers]
        style: dict[str, Any] = {"color": COLOURS[line], "marker": MARKERS[line], "label": f"value {value:g}"}
        axes.errorbar(at, heights, errors(numbers), linewidth=1, markersize=4, **style)
    axes.set_xticks(list(places.values()), [f"{each:g}" for each in places])
    axes.set_xlabel("privacy knob")
    axes.set_ylabel(title)


def _row(position: Position) -> list[str]:
    attack, copies = position.reidentified, position.copies
    return [
        f"{position.privacy:g}",
        f"{position.value:g}",
        limits(_auc(position)),
        limits(attack.success, 2),
        limits(attack.baseline, 2),
        limits(attack.beyond_chance, 2),
        limits(copies.success),
        "-" if copies.held_out is None else limits(copies.held_out),
    ]


def _finding(table_name: str, positions: Sequence[Position]) -> str:
    ends = [each for each in positions if each.value == positions[0].value]
    free, strict = (choose(ends, key=lambda each: each.privacy) for choose in (min, max))
    worst, best = (choose(positions, key=lambda each: _auc(each).value) for choose in (min, max))
    certain = sum(each.reidentified.beyond_chance.low > 0 for each in positions)
    return sentence(f"""\
        **Knobs** ({table_name}): turning privacy from {free.privacy:g} to {strict.privacy:g} changes exact copies from
        {_copies(free).value:.1%} to {_copies(strict).value:.1%} of the release and the AUC from {limits(_auc(free))} to
        {limits(_auc(strict))}. The AUC is least with {_named(worst)} ({limits(_auc(worst))}) and greatest with
        {_named(best)} ({limits(_auc(best))}). Re-identification is certainly beyond chance at {certain} of
        {len(positions)} positions.""")


def _named(position: Position) -> str:
    return f"privacy {position.privacy:g} and value {position.value:g}"
