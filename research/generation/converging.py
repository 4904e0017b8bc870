"""Figure 3, right: the Fréchet distance in the course of the training."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from aegis_provider.synth.generate.methods.wgan_gp import WganGp
from aegis_provider.synth.generate.training import TrainingLook
from research.generation import releases
from research.generation.drawing import STYLES, legend, listed, panels, sentence
from research.generation.measured import Measured
from research.report import Section, image, table

FIGURE: Final = "generation-frechet.svg"
PAPER_ITERATIONS: Final = 5_000
STABLE: Final = 0.1
"""The distance is called stable from where it stays within this share of its first value around the last one."""

ABOUT: Final = """\
The Fréchet distance (Dowson and Landau 1982) of generated records from real ones that the generator never saw, divided
by that of the first model. (Inception, in the paper's name of it, is a network for photographs.) **The paper claims**
that it "stabilizes after 5000 iterations". Trainings end here when time is up or when eight looks in a row are no
better. *Stable after* is the iteration from which the distance stays within a tenth of its first value."""


def section(results: Sequence[Measured]) -> Section:
    """Return the section, with a panel for each table and a line for each training."""
    figure, grid = panels(results)
    for axes, each in zip(grid, results, strict=True):
        _draw(axes, each)
    legend(figure, grid[0])
    rows = [[each.table.name, name, *_row(looks)] for each in results for name, looks in trainings(each).items()]
    columns = (
        "table",
        "training",
        "iterations",
        "first distance",
        "last, normalised",
        "least, normalised",
        "stable after",
    )
    parts = [ABOUT, image(FIGURE, "Normalised Fréchet distance by iteration"), table(columns, rows)]
    findings = [_finding(each) for each in results]
    return Section("Figure 3, right: Fréchet distance by iteration", "\n\n".join(parts), {FIGURE: figure}, findings)


def trainings(one: Measured) -> dict[str, Sequence[TrainingLook]]:
    """Return the looks of all trainings of the table."""
    unconstrained = {f"{releases.UNCONSTRAINED}, seed {seed}": looks for seed, looks in one.looks.items()}
    return unconstrained | {name: one.releases[name].looks for name in (releases.PRIVACY, releases.BOTH)}


def iterations(looks: Sequence[TrainingLook]) -> NDArray[np.int_]:
    """(looks,) Return after how many iterations each was."""
    return np.array([each.number for each in looks]) * WganGp().every


def normalised(looks: Sequence[TrainingLook]) -> NDArray[np.float64]:
    """(looks,) Return the distances, divided by the first."""
    distances = np.array([each.quality.frechet_distance for each in looks])
    return distances / distances[0]


def stable_after(distances: NDArray[np.float64]) -> int:
    """Return the place of the first distance from which on all are near the last."""
    unstable = np.flatnonzero(np.abs(distances - distances[-1]) > STABLE * distances[0])
    return int(unstable[-1]) + 1 if len(unstable) else 0


def _draw(axes: Axes, one: Measured) -> None:
    for name, looks in trainings(one).items():
        kind, _, seed = name.partition(", seed ")
        colour, line = STYLES[kind]["color"], "-:"[int(seed or 1) > 1] if int(seed or 1) < 3 else "--"
        axes.plot(iterations(looks), normalised(looks), label=name, linewidth=1.2, color=colour, linestyle=line)
    axes.set_xlabel("iterations")
    axes.set_ylabel("normalised Fréchet distance")
    axes.set_ylim(0, None)


def _row(looks: Sequence[TrainingLook]) -> list[str]:
    at, distances = iterations(looks), normalised(looks)
    numbers = (looks[0].quality.frechet_distance, distances[-1], distances.min())
    return [f"{at[-1]:,}", *(f"{each:.3f}" for each in numbers), f"{at[stable_after(distances)]:,}"]


def _finding(one: Measured) -> str:
    each = [(iterations(looks), normalised(looks)) for looks in trainings(one).values()]
    last = listed([f"{at[-1]:,}" for at, _ in each])
    reached = listed([f"{distances[-1]:.2f}" for _, distances in each])
    return sentence(f"""\
        **Fréchet distance** ({one.table.name}): the trainings end after {last} iterations, with {reached} of the
        distance of their first model. The paper's figure is stable after 5,000 iterations, which no training here
        {"reaches" if max(at[-1] for at, _ in each) < PAPER_ITERATIONS else "needs"}.""")
