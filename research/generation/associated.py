"""Figure 3, centre: the associations of all pairs of columns."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from aegis_provider.synth.fidelity import ColumnAssociation, Fidelity
from research.generation import releases
from research.generation.drawing import RELEASES, sentence
from research.generation.measured import Measured
from research.report import Section, image, table

FIGURE: Final = "generation-associations.svg"

ABOUT: Final = """\
Cramér's V of each two columns, corrected for bias (Bergsma 2013). The blue box has the attributes with privacy weights.
**The paper claims** that their associations are "sufficiently different" in the privacy-aware release, while those of
the others are "reasonably preserved". The table has the mean absolute difference from the original, within the box and
outside it, beside that of two sets of real records."""


def section(results: Sequence[Measured]) -> Section:
    """Return the section, with a row of two matrices for each table."""
    figure = Figure(figsize=(9.5, 4.4 * len(results)), layout="constrained")
    grid = figure.subplots(len(results), 2, squeeze=False)
    for line, each in zip(grid, results, strict=True):
        _draw_both(figure, line, each)
    rows = [[each.table.name, *row] for each in results for row in _rows(each)]
    columns = ("table", "release", "within the box", "outside", "largest")
    parts = [ABOUT, image(FIGURE, "Associations of original and privacy-aware release"), table(columns, rows)]
    findings = [_finding(each) for each in results]
    return Section("Figure 3, centre: associations", "\n\n".join(parts), {FIGURE: figure}, findings)


def _draw_both(figure: Figure, line: Sequence[Axes], one: Measured) -> None:
    fidelity = one.fidelity[releases.PRIVACY]
    names = ordered(one, fidelity)
    for axes, title, value in ((line[0], releases.ORIGINAL, _real), (line[1], releases.PRIVACY, _released)):
        shown = axes.imshow(matrix(fidelity.associations, names, value), cmap="viridis", vmin=0, vmax=1)
        boxed = sum(name in one.table.weighted for name in names)
        axes.add_patch(Rectangle((-0.5, -0.5), boxed, boxed, fill=False, edgecolor="#4aa3ff", linewidth=2.5))
        axes.set_xticks(range(len(names)), names, rotation=45, ha="right", fontsize=7)
        axes.set_yticks(range(len(names)), names, fontsize=7)
        axes.set_title(f"{one.table.name}, {title}", fontsize=10)
    figure.colorbar(shown, ax=list(line), shrink=0.8)


def ordered(one: Measured, fidelity: Fidelity) -> list[str]:
    """Return the columns, those with privacy weights first."""
    names = [name for name in one.table.plan.columns if any(name in (a.first, a.second) for a in fidelity.associations)]
    return sorted(names, key=lambda name: name not in one.table.weighted)


def matrix(
    associations: Sequence[ColumnAssociation], names: Sequence[str], value: Callable[[ColumnAssociation], float]
) -> NDArray[np.float64]:
    """(names, names) Return the associations; 1 of each column with itself."""
    shown = np.eye(len(names))
    for each in associations:
        one, other = names.index(each.first), names.index(each.second)
        shown[one, other] = shown[other, one] = value(each)
    return shown


def _real(association: ColumnAssociation) -> float:
    return association.real


def _released(association: ColumnAssociation) -> float:
    return association.released


def _rows(one: Measured) -> list[list[str]]:
    rows = [
        [name, *_differences(one, one.fidelity[name], lambda each: each.difference)]
        for name in RELEASES
        if name in one.fidelity
    ]
    halves = _differences(one, one.fidelity[releases.PRIVACY], lambda each: abs(each.other - each.real))
    return [*rows, ["other real records", *halves]]


def _differences(one: Measured, fidelity: Fidelity, value: Callable[[ColumnAssociation], float]) -> list[str]:
    within, outside = parted(one, fidelity, value)
    means = [f"{np.mean(each):.3f}" if len(each) else "-" for each in (within, outside)]
    return [*means, f"{max([*within, *outside]):.3f}"]


def parted(
    one: Measured, fidelity: Fidelity, value: Callable[[ColumnAssociation], float]
) -> tuple[list[float], list[float]]:
    """Return a number of each pair of columns: of pairs that both have privacy weights, and of the others."""
    both = [each.first in one.table.weighted and each.second in one.table.weighted for each in fidelity.associations]
    values = [value(each) for each in fidelity.associations]
    pairs = list(zip(values, both, strict=True))
    return [number for number, is_within in pairs if is_within], [
        number for number, is_within in pairs if not is_within
    ]


def _finding(one: Measured) -> str:
    means = {
        name: [np.mean(each) for each in parted(one, one.fidelity[name], lambda each: each.difference)]
        for name in (releases.UNCONSTRAINED, releases.PRIVACY)
    }
    within, outside = means[releases.PRIVACY]
    free, others = means[releases.UNCONSTRAINED]
    return sentence(f"""\
        **Associations** ({one.table.name}): in the privacy-aware release, those of attributes with privacy weights
        differ from the original by {within:.3f} on average ({free:.3f} without the knob), all others by {outside:.3f}
        ({others:.3f} without it).""")
