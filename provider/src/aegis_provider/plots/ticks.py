"""Ticks at the numbers that occur, as many as have room."""

from bisect import bisect, insort
from collections.abc import Iterable, Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

# Pixels, at the resolution of the figure: of a digit, and between two numbers.
_DIGIT = 8.0
_BETWEEN = 9.0


def tick_numbers(figure: Figure, axes: Axes, numbers: Sequence[float], first: Iterable[float]) -> None:
    """Puts the ticks of the x axis at these numbers: at the ends, then at the `first` of them, then at others that fit.

    A tick whose number would run into one that stands already is left out.
    """
    figure.draw_without_rendering()  # lays the figure out, so that pixels are known
    ends = [min(numbers), max(numbers)]
    wanted = list(dict.fromkeys([*ends, *first, *sorted(numbers)]))
    places = axes.transData.transform([(number, axes.get_ylim()[0]) for number in wanted])[:, 0]
    chosen = sorted(_that_fit(wanted, places.tolist()))
    axes.xaxis.set_major_locator(FixedLocator(chosen))
    axes.xaxis.set_major_formatter(FixedFormatter([_told(number) for number in chosen]))
    axes.xaxis.set_minor_locator(NullLocator())


def _told(number: float) -> str:
    return f"{number:.10g}"


def _that_fit(numbers: Sequence[float], places: Sequence[float]) -> Iterator[float]:
    """`numbers` in the order in which they are wanted, and where they stand, in pixels."""
    taken: list[tuple[float, float]] = []
    for number, place in zip(numbers, places, strict=True):
        half = (len(_told(number)) * _DIGIT + _BETWEEN) / 2
        span = (place - half, place + half)
        after = bisect(taken, span)
        free_before = after == 0 or taken[after - 1][1] <= span[0]
        if free_before and (after == len(taken) or span[1] <= taken[after][0]):
            insort(taken, span)
            yield number
