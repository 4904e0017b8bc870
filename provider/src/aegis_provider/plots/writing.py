"""Figures as files."""

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from matplotlib.figure import Figure

from aegis_provider.errors import PlotError
from aegis_provider.output import written_whole
from aegis_provider.plots.costs import costs
from aegis_provider.plots.frontier import frontier
from aegis_provider.plots.hasse import lattice
from aegis_provider.plots.page import page
from aegis_provider.report import drawing
from aegis_sdk.wire import Advice, EntryDocument

_DOTS_PER_INCH = 150
_MOST_DOTS = 50_000_000


def write_image(
    path: Path,
    name: str,
    entry: EntryDocument,
    advice: Advice | None = None,
    privacy: str | None = None,
    attributes: Sequence[str] | None = None,
) -> None:
    """Writes the figure of that name (`frontier`, `costs` or `lattice`) as PNG, whole or not at all.

    Raises `PlotError` if there is nothing to draw of, and `OutputError`.
    """
    with _any_script(), drawing(), written_whole(path) as part:
        figure = _figure(name, entry, advice, privacy, attributes)
        figure.savefig(part, format="png", dpi=_dots_per_inch(figure))


def write_page(
    path: Path,
    entry: EntryDocument,
    advice: Advice | None = None,
    privacy: str | None = None,
    attributes: Sequence[str] | None = None,
) -> None:
    """Writes the page of all figures, whole or not at all. Raises `PlotError`, as `page` does, and `OutputError`."""
    with _any_script(), written_whole(path) as part:
        part.write_text(page(entry, advice, privacy, attributes), encoding="utf-8")


def _figure(
    name: str, entry: EntryDocument, advice: Advice | None, privacy: str | None, attributes: Sequence[str] | None
) -> Figure:
    if name == "lattice":
        return lattice(entry, advice, attributes)
    if advice is None:
        command = "aegis advise ENTRY_ID --measure mutual_information --limit 1000000 --json > advice.json"
        raise PlotError(f"the figure {name!r} needs an advice: run `{command}` and say --advice advice.json")
    return costs(entry, advice, attributes) if name == "costs" else frontier(entry, advice, privacy)


def _dots_per_inch(figure: Figure) -> float:
    """Fewer for a figure so large that its image would fill the memory."""
    width, height = figure.get_size_inches()
    return min(_DOTS_PER_INCH, math.sqrt(_MOST_DOTS / (width * height)))


@contextmanager
def _any_script() -> Iterator[None]:
    """Names in scripts that the font lacks are drawn as boxes in an image, and by the browser's fonts on a page."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield
