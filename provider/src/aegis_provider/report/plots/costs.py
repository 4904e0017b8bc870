"""What each masking costs: its deviation from the reference utility of its attribute."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from aegis_provider.errors import PlotError
from aegis_provider.report.figures import Drawing, Subject
from aegis_provider.report.model import Part, Plot
from aegis_provider.report.negligible import negligible
from aegis_provider.report.page import drawing, figure_svg
from aegis_provider.report.plots.style import (
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
from aegis_sdk.printable import Share
from aegis_sdk.reading import maskings_in, reference_known, shown, some, stated_deviation, utility_bounds
from aegis_sdk.wire import Advice, AttributeAdvice, EntryDocument

_ROW = 0.25
"""Inches of a row."""
_MOST_NAMES = 8
_MOST_NAMES_OF_REST = 3


@dataclass(frozen=True)
class _Row:
    """A bar, or the heading of an attribute, which has no `cost`.

    Attributes:
        name: The text at the left.
        beside: The text beside the bar or the name.
        known: Whether all that the attribute tells is known, not only what the published tables tell.
        cost: The deviation.
        whole: The reference utility: all that can be lost.
        is_best: Whether the best configuration has this masking.
    """

    name: str
    beside: str
    known: bool
    cost: float | None = None
    whole: float | None = None
    is_best: bool = False


@drawing()
def costs(entry: EntryDocument, advice: Advice, attributes: Sequence[str] | None = None) -> Figure:
    """Draw the deviation of every scored masking as a bar, by attribute, the attribute with most to lose first.

    Attributes that have next to nothing to lose share one bar, unless they are asked for by name: what the best
    configuration loses of them together.

    If more utility is better, the reference utility of the attribute is drawn behind each bar: all that a masking can
    lose. It is hatched if the unmasked joint counts are not known. Then more may be lost, and the bounds are shown.
    The maskings of the best configuration are marked.

    Args:
        entry: The entry as it is published.
        advice: Advice about the entry.
        attributes: The names of the attributes to show; by default all.

    Raises:
        PlotError: The advice scores no masking of these attributes.
    """
    chosen, best = _chosen(advice, attributes), maskings_in(entry, advice.configuration)
    own, rest = (chosen, []) if attributes else _apart(chosen)
    whole_known = advice.better != "lower"
    rows = [
        *_rows(own[:MOST_ATTRIBUTES], best, whole_known=whole_known),
        *_rest(rest, best, whole_known=whole_known),
    ]
    figure = Figure(figsize=(9, 1.7 + _ROW * len(rows)))
    axes = figure.subplots()
    _bars(axes, rows)
    axes.set_xlabel(f"deviation from the attribute's reference utility: {measure_of(advice)}", fontsize=10)
    _legend(axes, advice, rows)
    entitle(figure, shown(f"What each masking costs: {entry.name}", 70), _left_out(own), _unknown(rows))
    return figure


def _chosen(advice: Advice, attributes: Sequence[str] | None) -> list[AttributeAdvice]:
    scored = [each for each in advice.attributes or () if each.maskings and (not attributes or each.name in attributes)]
    if not scored:
        raise PlotError("the advice scores no masking of these attributes; ask again with --json")
    refuse_vast(score.deviation for each in scored for score in each.maskings.values())
    refuse_vast(each.reference_utility for each in scored)
    return sorted(scored, key=_most, reverse=True)


def _most(attribute: AttributeAdvice) -> float:
    """Return the most that a masking loses."""
    return max(score.deviation for score in attribute.maskings.values())


def _apart(attributes: Sequence[AttributeAdvice]) -> tuple[list[AttributeAdvice], list[AttributeAdvice]]:
    """Return the attributes that have bars of their own, and those that have next to nothing to lose together.

    An attribute that may have much more to lose than is known is not among these, nor is the first.
    """
    whole = sum(map(_most, attributes))
    small = [each for each in attributes[1:] if not utility_bounds(each).far_apart]
    rest = small[len(small) - negligible([_most(each) for each in small], whole) :]
    return [each for each in attributes if each not in rest], rest


def _rest(attributes: Sequence[AttributeAdvice], best: Mapping[str, str], *, whole_known: bool) -> Iterator[_Row]:
    """Yield the heading and the bar of those that share one."""
    if not attributes:
        return
    known = all(reference_known(each) for each in attributes)
    lost = sum(each.maskings[name].deviation for each in attributes if (name := best.get(each.name)) in each.maskings)
    whole = sum(each.reference_utility for each in attributes)
    yield _Row(f"{len(attributes)} others", some([each.name for each in attributes], _MOST_NAMES_OF_REST), known)
    share = f"  {Share(lost / whole)}" if whole_known and known and whole else ""
    yield _Row(
        "together",
        f"{'' if known else 'about '}{lost:.3g}{share}",
        known,
        lost,
        whole if whole_known else None,
        is_best=True,
    )


def _rows(attributes: Sequence[AttributeAdvice], best: Mapping[str, str], *, whole_known: bool) -> Iterator[_Row]:
    for each in attributes:
        known = reference_known(each)
        yield _Row(shown(each.name, LONGEST_NAME), "" if known else _of_what_is_known(each), known)
        cheapest_first = sorted(each.maskings.items(), key=lambda item: item[1].deviation)
        whole = each.reference_utility if whole_known else None
        for masking, score in cheapest_first[:MOST_MASKINGS]:
            # A share of what is known would be mistaken for a share of the whole.
            share = f"  {Share(score.deviation / whole)}" if whole and known else ""
            beside = stated_deviation(each, masking) + share
            is_best = best.get(each.name) == masking
            yield _Row(shown(masking, LONGEST_NAME), beside, known, score.deviation, whole, is_best)


def _of_what_is_known(attribute: AttributeAdvice) -> str:
    """Return the text beside the name of an attribute whose unmasked joint counts are not known."""
    bounds = utility_bounds(attribute)
    between = f" ({bounds})" if bounds.far_apart else ""
    return f"of what is known: {attribute.reference_utility:.3g}{between}"


def _bars(axes: Axes, rows: Sequence[_Row]) -> None:
    quiet(axes)
    axes.grid(visible=False, axis="y")
    for place, row in enumerate(rows):
        if row.cost is None:
            axes.text(0, place, f" {row.beside}", va="center", fontsize=9, fontstyle="italic", color="#555555")
            continue
        axes.barh(place, row.whole or 0, height=0.72, **_kept(known=row.known))
        axes.barh(place, row.cost, height=0.72, color=VERMILION if row.is_best else BLUE)
        end = max(row.cost, row.whole or 0)
        axes.annotate(row.beside, (end, place), (5, 0), textcoords="offset points", va="center", fontsize=9, color=INK)
    _names(axes, rows)
    axes.margins(x=0.17 if all(row.known for row in rows) else 0.3)
    axes.set_xlim(left=0)
    axes.spines["left"].set_visible(False)


def _kept(*, known: bool) -> dict[str, Any]:
    """Return the fill of the bar that shows all that can be lost."""
    return (
        {"color": PALE} if known else {"facecolor": "white", "edgecolor": "#c3cbd6", "hatch": "/////", "linewidth": 0}
    )


def _names(axes: Axes, rows: Sequence[_Row]) -> None:
    """Write the names of maskings beside their bars, and those of attributes in bold above them."""
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    for tick, row in zip(axes.get_yticklabels(), rows, strict=True):
        tick.set_fontsize(10 if row.cost is None else 9)
        tick.set_fontweight("bold" if row.cost is None or row.is_best else "normal")
        tick.set_color(VERMILION if row.is_best else INK)
    axes.set_ylim(len(rows) - 0.4, -0.6)


def _legend(axes: Axes, advice: Advice, rows: Sequence[_Row]) -> None:
    handles = [Patch(color=BLUE, label="lost"), Patch(color=VERMILION, label=f"lost by {shown(_best(advice), 24)}")]
    if advice.better != "lower":
        bars = [row for row in rows if row.cost is not None]
        if any(row.known for row in bars):
            handles.append(Patch(label="kept", **_kept(known=True)))
        if not all(row.known for row in bars):
            handles.append(Patch(label="kept, of what is known", **_kept(known=False)))
    legend_above(axes, handles)


def _best(advice: Advice) -> str:
    return advice.configuration or "the best configuration"


def _left_out(attributes: Sequence[AttributeAdvice]) -> str:
    if len(attributes) <= MOST_ATTRIBUTES:
        return ""
    return f"the {MOST_ATTRIBUTES} of {len(attributes)} attributes with most to lose; name others with --attribute"


def _unknown(rows: Sequence[_Row]) -> str:
    if all(row.known for row in rows):
        return ""
    return "of what is known: unmasked joint counts are not known, so more may be lost; in brackets: proven bounds"


def _parts(subject: Subject) -> Iterator[Part]:
    entry, advice, attributes = subject.entry, subject.answer, subject.attributes
    yield (
        "For each attribute, the bars show how far every masking is from the reference utility: what the unmasked "
        "attribute tells about the label, or as much of that as is known. A long bar means a high cost. If all bars "
        "are short and the joint counts are known, the attribute tells little in any case. Attributes that tell next "
        "to nothing share the last bar: what the best configuration loses of all of them."
    )
    yield Plot(figure_svg(costs(entry, advice, attributes)), "Deviation of every masking, by attribute.")
    chosen = [each for each in advice.attributes or () if not attributes or each.name in attributes]
    if unknown := [each.name for each in chosen if each.maskings and not reference_known(each)]:
        yield (
            f"The unmasked joint counts of {some(unknown, _MOST_NAMES)} are not known. The reference utility is only "
            "what the published tables tell. The attribute may tell more, and each masking may lose more than its bar "
            "shows. The true number certainly lies between the numbers in brackets."
        )


DRAWING: Final = Drawing(
    figure=lambda subject: costs(subject.entry, subject.answer, subject.attributes),
    parts=_parts,
    is_possible=lambda subject: any(each.maskings for each in subject.answer.attributes or ()),
)
