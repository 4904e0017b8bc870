"""Figure 3, left: real and generated records in two dimensions."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.neighbors import NearestNeighbors

from aegis_provider.check import Interval
from aegis_provider.synth.attacks.attack import share_of
from aegis_provider.synth.fidelity import Embedding
from research.generation.drawing import limits
from research.generation.measured import EMBEDDED, Measured
from research.report import Section, image, table

FIGURE: Final = "generation-embedding.svg"
REAL, GENERATED = "#7b3294", "#d7191c"
DOTS_PER_INCH: Final = 80

ABOUT: Final = """\
t-SNE (van der Maaten and Hinton 2008) of 1,000 real records (purple) and 1,000 generated ones (red). **The paper
claims** that generated points are distributed much as the original ones are. The table says how many
generated points have a real one as the nearest of all others: a half if they are mixed. The interval is rather too
narrow, since neighbours depend on each other."""


def section(results: Sequence[Measured]) -> Section:
    """Return the section, with a row for each table and a panel for each release."""
    figure = Figure(figsize=(4.2 * len(EMBEDDED), 4.0 * len(results)), layout="constrained", dpi=DOTS_PER_INCH)
    grid = figure.subplots(len(results), len(EMBEDDED), squeeze=False)
    rows = []
    for line, each in zip(grid, results, strict=True):
        for axes, name in zip(line, EMBEDDED, strict=True):
            embedding = each.fidelity[name].embedding
            axes.set_title(f"{each.table.name}, {name}", fontsize=10)
            if embedding is not None:
                _draw(axes, embedding)
                rows.append([each.table.name, name, limits(mixed(embedding))])
    parts = [
        ABOUT,
        image(FIGURE, "Real and generated records in two dimensions, by t-SNE"),
        table(("table", "release", "generated points whose nearest point is real"), rows),
    ]
    said = "; ".join(f"{name} {share} ({of})" for of, name, share in rows)
    finding = f"**Overlap** by t-SNE: the share of generated points whose nearest point is real is {said}."
    return Section("Figure 3, left: t-SNE", "\n\n".join(parts), {FIGURE: figure}, [finding])


def mixed(embedding: Embedding) -> Interval:
    """Return the share of released points whose nearest other point is real."""
    points = np.concatenate([embedding.real, embedding.released])
    _, nearest = NearestNeighbors(n_neighbors=2).fit(points).kneighbors(embedding.released)
    own = np.arange(len(embedding.real), len(points))
    other = np.where(nearest[:, 0] == own, nearest[:, 1], nearest[:, 0])
    return share_of(other < len(embedding.real))


def _draw(axes: Axes, embedding: Embedding) -> None:
    for points, colour, label in ((embedding.real, REAL, "original"), (embedding.released, GENERATED, "generated")):
        axes.plot(*points.T, "o", markersize=2, alpha=0.5, color=colour, label=label, rasterized=True)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_xlabel("t-SNE 1")
    axes.set_ylabel("t-SNE 2")
    axes.legend(loc="upper right", fontsize="small")
