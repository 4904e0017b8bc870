"""How often each category occurs, such as each value of a label."""

from collections.abc import Sequence
from typing import Final

from app.pages.charts.axis import Axis
from app.pages.charts.bars import Bar, Bars, Group
from app.pages.charts.numbers import number, percent

_MOST: Final = 20


def category_bars(
    id: str,  # noqa: A002 - the name that HTML has for it
    title: str,
    counts: Sequence[tuple[str, float]],
    *,
    what: str = "records",
    notes: Sequence[str] = (),
) -> Bars:
    """A bar for each category in the order that they have; beyond 20, the others share one.

    Args:
        id: Of the element.
        title: The heading.
        counts: The categories, and how often each occurs.
        what: What is counted.
        notes: Sentences below, such as how the counts are rounded.
    """
    total = sum(count for _, count in counts)
    bars = [_bar(name, count, total) for name, count in counts]
    shown, others = (bars, []) if len(bars) <= _MOST else (bars[: _MOST - 1], bars[_MOST - 1 :])
    together = [_bar(f"{len(others):,} others together", sum(bar.end for bar in others), total)] if others else []
    return Bars(
        id,
        title,
        Axis(what, what),
        [Group("", [*shown, *together])] if bars else [],
        notes=notes,
        rest=[Group("", others)] if others else [],
        heads=("", "value"),
        empty=f"No {what} are counted.",
    )


def _bar(name: str, count: float, total: float) -> Bar:
    share = f" ({percent(count / total)})" if total > 0 else ""
    return Bar(name, max(count, 0.0), f"{number(count)}{share}")
