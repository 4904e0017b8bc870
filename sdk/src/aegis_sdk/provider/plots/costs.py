"""What each masking costs: its deviation from the reference utility of its attribute."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from aegis_sdk.provider.errors import PlotError
from aegis_sdk.provider.plots.style import (
    BLUE,
    INK,
    LONGEST_NAME,
    MOST_ATTRIBUTES,
    MOST_MASKINGS,
    PALE,
    VERMILION,
    entitle,
    legend_above,
    measure_of,
    quiet,
    refuse_vast,
)
from aegis_sdk.provider.report.figure import drawing
from aegis_sdk.reading import maskings_in, shown
from aegis_sdk.wire import Advice, AttributeAdvice, EntryDocument

_ROW = 0.25
"""Inches of a row."""


@dataclass(frozen=True)
class _Row:
    """A bar, or the heading of an attribute (no `cost`); `whole`: all that there is to lose, if known."""

    name: str
    cost: float | None = None
    whole: float | None = None
    is_best: bool = False


@drawing()
def costs(entry: EntryDocument, advice: Advice, attributes: Sequence[str] | None = None) -> Figure:
    """
    A bar for every scored masking: its deviation, by attribute, the attribute with most to lose first.

    Behind each bar stands the reference utility of the attribute, where more utility is better: all that a masking can
    lose. The maskings of the best configuration are marked. `attributes`: their names; by default all.
    Raises `PlotError` if the advice scores none of them.
    """
    found = _chosen(advice, attributes)
    rows = list(
        _rows(found[:MOST_ATTRIBUTES], maskings_in(entry, advice.configuration), whole_known=advice.better != "lower")
    )
    figure = Figure(figsize=(9, 1.7 + _ROW * len(rows)))
    axes = figure.subplots()
    _bars(axes, rows)
    axes.set_xlabel(f"deviation from the attribute's reference utility: {measure_of(advice)}", fontsize=10)
    _legend(axes, advice)
    entitle(figure, shown(f"What each masking costs: {entry.name}", 70), _left_out(found))
    return figure


def _chosen(advice: Advice, attributes: Sequence[str] | None) -> list[AttributeAdvice]:
    scored = [each for each in advice.attributes or () if each.maskings and (not attributes or each.name in attributes)]
    if not scored:
        raise PlotError("the advice scores no masking of these attributes; ask again, with --json")
    refuse_vast(score.deviation for each in scored for score in each.maskings.values())
    refuse_vast(each.reference_utility for each in scored)
    return sorted(scored, key=lambda each: max(score.deviation for score in each.maskings.values()), reverse=True)


def _rows(attributes: Sequence[AttributeAdvice], best: Mapping[str, str], *, whole_known: bool) -> Iterator[_Row]:
    for each in attributes:
        yield _Row(shown(each.name, LONGEST_NAME))
        cheapest_first = sorted(each.maskings.items(), key=lambda item: item[1].deviation)
        whole = each.reference_utility if whole_known else None
        for masking, score in cheapest_first[:MOST_MASKINGS]:
            yield _Row(shown(masking, LONGEST_NAME), score.deviation, whole, is_best=best.get(each.name) == masking)


def _bars(axes: Axes, rows: Sequence[_Row]) -> None:
    quiet(axes)
    axes.grid(visible=False, axis="y")
    for place, row in enumerate(rows):
        if row.cost is not None:
            axes.barh(place, row.whole or 0, height=0.72, color=PALE)
            axes.barh(place, row.cost, height=0.72, color=VERMILION if row.is_best else BLUE)
            axes.annotate(
                _told(row.cost, row.whole),
                (max(row.cost, row.whole or 0), place),
                (5, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
                color=INK,
            )
    _names(axes, rows)
    axes.margins(x=0.17)
    axes.set_xlim(left=0)
    axes.spines["left"].set_visible(False)


def _told(cost: float, whole: float | None) -> str:
    share = f"  {cost / whole:.0%}" if whole else ""
    return f"{cost:.3g}{share}"


def _names(axes: Axes, rows: Sequence[_Row]) -> None:
    """Names of maskings beside their bars, those of attributes in bold above them."""
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    for tick, row in zip(axes.get_yticklabels(), rows, strict=True):
        tick.set_fontsize(10 if row.cost is None else 9)
        tick.set_fontweight("bold" if row.cost is None or row.is_best else "normal")
        tick.set_color(VERMILION if row.is_best else INK)
    axes.set_ylim(len(rows) - 0.4, -0.6)


def _legend(axes: Axes, advice: Advice) -> None:
    handles = [Patch(color=BLUE, label="lost"), Patch(color=VERMILION, label=f"lost by {shown(_best(advice), 24)}")]
    if advice.better != "lower":
        handles.append(Patch(color=PALE, label="kept"))
    legend_above(axes, handles)


def _best(advice: Advice) -> str:
    return advice.configuration or "the best configuration"


def _left_out(attributes: Sequence[AttributeAdvice]) -> str:
    if len(attributes) <= MOST_ATTRIBUTES:
        return ""
    return f"the {MOST_ATTRIBUTES} of {len(attributes)} attributes with most to lose; name others with --attribute"
