"""Figures of an entry as files: an image of one figure, or a page of all that can be drawn."""

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from matplotlib.figure import Figure

from aegis_provider.output import written_whole
from aegis_provider.report.figures import FIGURES, Subject
from aegis_provider.report.model import Report, Section
from aegis_provider.report.page import drawing, render_page
from aegis_provider.report.plots.style import measure_of
from aegis_sdk.reading import shown
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
    """Write the figure of that name as PNG, whole or not at all.

    Raises:
        PlotError: There is nothing to draw.
        OutputError: The file cannot be written.
    """
    with _any_script(), drawing(), written_whole(path) as part:
        figure = FIGURES[name].load().figure(Subject(entry, advice, privacy, attributes))
        figure.savefig(part, format="png", dpi=_dots_per_inch(figure))


def write_page(
    path: Path,
    entry: EntryDocument,
    advice: Advice | None = None,
    privacy: str | None = None,
    attributes: Sequence[str] | None = None,
) -> None:
    """Write the page of all figures, whole or not at all.

    Raises:
        PlotError: As `page` does.
        OutputError: The file cannot be written.
    """
    with _any_script(), written_whole(path) as part:
        part.write_text(page(entry, advice, privacy, attributes), encoding="utf-8")


def drawable(entry: EntryDocument, advice: Advice | None) -> list[str]:
    """Return the names of the figures that can be drawn."""
    return [each.name for each in FIGURES.values() if each.is_possible(Subject(entry, advice))]


def page(
    entry: EntryDocument,
    advice: Advice | None = None,
    privacy: str | None = None,
    attributes: Sequence[str] | None = None,
) -> str:
    """Return one HTML document with every figure that can be drawn, each with an explanation in words.

    Args:
        entry: The entry as it is published.
        advice: Advice about the entry.
        privacy: The name of the criterion to plot utility against.
        attributes: The names of the attributes to show.

    Raises:
        PlotError: A figure cannot be drawn.
    """
    with drawing():
        sections = list(_sections(Subject(entry, advice, privacy, attributes)))
    title = f"{entry.name}: {shown(entry.title, 100)}" if entry.title else entry.name
    return render_page(Report(title, [] if advice is None else [_about(entry, advice)], sections))


def _sections(subject: Subject) -> Iterator[Section]:
    for each in FIGURES.values():
        if each.is_possible(subject):
            yield Section(each.heading, tuple(each.load().parts(subject)))


def _about(entry: EntryDocument, advice: Advice) -> str:
    others = len(advice.tied or ()) - 1
    tied = f" ({others} other{'s' * (others != 1)} equally good)" if others > 0 else ""
    return (
        f"{advice.configuration}{tied} is the best of {advice.considered} configurations by {measure_of(advice)}; the "
        f"ranking is {advice.ranking_basis}. The table has {entry.records:,} records and the label {entry.label.name}."
    )


def _dots_per_inch(figure: Figure) -> float:
    """Return the resolution of an image, lower for a figure whose image would fill the memory."""
    width, height = figure.get_size_inches()
    return min(_DOTS_PER_INCH, math.sqrt(_MOST_DOTS / (width * height)))


@contextmanager
def _any_script() -> Iterator[None]:
    """Silence warnings about glyphs that the font lacks: an image shows boxes, and a page uses the browser's fonts."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield
