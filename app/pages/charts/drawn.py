"""What a frontier is drawn of, each with its place."""

from dataclasses import dataclass

from app.pages.charts.points import Mark


@dataclass(frozen=True)
class Tick:
    """A number beside an axis: its text, and where it stands."""

    at: str
    text: str


@dataclass(frozen=True)
class Drawn:
    """A mark with its place.

    Attributes:
        mark: The mark.
        kind: `best`, `edge`, `alike`, `alike-edge` or `other`, which decides shape and colour.
        x: Its place to the right, as a share of the width.
        y: Its place from the top, in pixels.
        high: The upper end of its interval, in pixels; `None` if there is none to draw.
        low: The lower end.
        words: What it says to those who do not see it.
    """

    mark: Mark
    kind: str
    x: str
    y: str
    high: str | None
    low: str | None
    words: str

    @property
    def has_focus(self) -> bool:
        """Whether the keyboard stops here: at the best and at the frontier, not at hundreds of others."""
        return self.mark.on_frontier or self.mark.first.is_best
