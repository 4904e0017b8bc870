"""The figures of an entry and of an advice about it: a record of each, and what all of them are drawn from.

A figure is a module that has a `Drawing`, and its record here: then `aegis plot --figure NAME` draws it, and the page
of all figures has a section of it.
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

_ASK = "aegis advise ENTRY_ID --measure mutual_information --limit 1000000 --json > advice.json"


@dataclass(frozen=True)
class Subject:
    """What a figure is drawn of.

    Attributes:
        entry: As it is published.
        advice: About the entry; some figures need none.
        privacy: The name of the criterion to set utility against; by default the first that varies.
        attributes: The names of those to show; by default all.
    """

    entry: EntryDocument
    advice: Advice | None = None
    privacy: str | None = None
    attributes: Sequence[str] | None = None

    @property
    def answer(self) -> Advice:
        """The advice.

        Raises:
            PlotError: There is none.
        """
        if self.advice is None:
            raise PlotError(f"this figure needs an advice: run `{_ASK}` and say --advice advice.json")
        return self.advice


@dataclass(frozen=True)
class Drawing:
    """How a figure is drawn.

    Attributes:
        figure: The figure.
        parts: Its section of the page: the figure, and what it shows in words.
        is_possible: Whether there is anything to draw of a subject that has an advice, if the figure needs one.

    Raises:
        PlotError: By `figure` and `parts`, where there is nothing to draw.
    """

    figure: "Callable[[Subject], Figure]"
    parts: Callable[[Subject], Iterator[Part]]
    is_possible: Callable[[Subject], bool] = lambda _: True


@dataclass(frozen=True)
class EntryFigure:
    """A figure among others.

    Attributes:
        name: What `aegis plot --figure` calls it.
        heading: Of its section on the page.
        drawing: Where its `Drawing` is, as "module:NAME": it needs matplotlib, and its name does not.
        needs_advice: Whether nothing can be drawn of an entry alone.
    """

    name: str
    heading: str
    drawing: str
    needs_advice: bool = False

    def load(self) -> Drawing:
        """Imports how it is drawn."""
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
    EntryFigure("lattice", "Which masking follows from which", "aegis_provider.report.plots.hasse:DRAWING"),
)

FIGURES: Final[dict[str, EntryFigure]] = {each.name: each for each in _FIGURES}
"""The registry, by name, in the order of the page."""


def default_figure(advice: Advice | None) -> str:
    """The name of the first figure that can be drawn with the advice, or without one."""
    return next(each.name for each in FIGURES.values() if advice is not None or not each.needs_advice)
