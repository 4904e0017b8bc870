"""The registry of the figures of an entry and of an advice about it, and the data that they are drawn from.

To add a figure, write a module that has a `Drawing`, and add its record here. Then `aegis plot --figure NAME` draws it,
and the page of all figures has a section for it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

from aegis_provider.errors import PlotError
from aegis_provider.report.model import Part
from aegis_sdk.wire import Advice, EntryDocument

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ASK = "aegis advise ENTRY_ID --measure mutual_information --limit 10000 --json > advice.json"


@dataclass(frozen=True)
class Subject:
    """The data that a figure is drawn from.

    Attributes:
        entry: The entry as it is published.
        advice: Advice about the entry; some figures need none.
        privacy: The name of the criterion to plot utility against; by default the first that varies.
        attributes: The names of the attributes to show; by default all.
    """

    entry: EntryDocument
    advice: Advice | None = None
    privacy: str | None = None
    attributes: Sequence[str] | None = None

    @property
    def answer(self) -> Advice:
        """The advice.

        Raises:
            PlotError: There is no advice.
        """
        if self.advice is None:
            raise PlotError(f"this figure needs an advice: run `{_ASK}` and give --advice advice.json")
        return self.advice


@dataclass(frozen=True)
class Drawing:
    """How a figure is drawn.

    Attributes:
        figure: The figure.
        parts: Its section of the page: the figure and an explanation in words.
        is_possible: Whether there is anything to draw. The subject has an advice if the figure needs one.

    Raises:
        PlotError: From `figure` and `parts`, if there is nothing to draw.
    """

    figure: "Callable[[Subject], Figure]"
    parts: Callable[[Subject], Iterator[Part]]
    is_possible: Callable[[Subject], bool] = lambda _: True


@dataclass(frozen=True)
class EntryFigure:
    """The record of a figure.

    Attributes:
        name: What `aegis plot --figure` calls it.
        heading: The heading of its section on the page.
        drawing: Where its `Drawing` is, as "module:NAME". Only loading it needs matplotlib.
        needs_advice: Whether it cannot be drawn from an entry alone.
    """

    name: str
    heading: str
    drawing: str
    needs_advice: bool = False

    def load(self) -> Drawing:
        """Import the figure's drawing."""
        module, _, name = self.drawing.partition(":")
        return cast("Drawing", getattr(import_module(module), name))

    def is_possible(self, subject: Subject) -> bool:
        """Whether there is anything to draw."""
        return (subject.advice is not None or not self.needs_advice) and self.load().is_possible(subject)


_FIGURES = (
    EntryFigure(
        "frontier", "Utility against privacy", "aegis_provider.report.plots.frontier:DRAWING", needs_advice=True
    ),
    EntryFigure("costs", "What each masking costs", "aegis_provider.report.plots.costs:DRAWING", needs_advice=True),
    EntryFigure("lattice", "Which masking can be computed from which", "aegis_provider.report.plots.hasse:DRAWING"),
)

FIGURES: Final[dict[str, EntryFigure]] = {each.name: each for each in _FIGURES}
"""The registry, by name, in the order of the page."""


def default_figure(advice: Advice | None) -> str:
    """Return the name of the first figure that can be drawn with the advice, or without one."""
    return next(each.name for each in FIGURES.values() if advice is not None or not each.needs_advice)
