"""Utility against privacy: every configuration of an advice, and the frontier of those that no other beats."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from aegis_provider.privacy import CRITERIA
from aegis_provider.report.charts import draw_level, share_axis
from aegis_provider.report.figures import Drawing, Subject
from aegis_provider.report.model import BASELINES, Part, Plot, Term, Terms, TextTable
from aegis_provider.report.page import drawing, figure_svg
from aegis_provider.report.plots.labels import PointLabel, label_points, tick_numbers
from aegis_provider.report.plots.pareto import Scored, best_promise, pareto, scored
from aegis_provider.report.plots.style import (
    BLUE,
    GREY,
    INK,
    VERMILION,
    entitle,
    legend_above,
    measure_of,
    privacy_of,
    quiet,
)
from aegis_sdk.reading import ids_of, shown, vouched_for, whole_of
from aegis_sdk.wire import COUNT_MAX, PRIVACY_CRITERIA, Advice, EntryDocument

_NAMES_AT_A_POINT = 2
_MANY = 500
"""Points that are drawn one by one; more become an image within an SVG."""
_MOST_ROWS = 100
_CONFIDENCE = 1.96


@dataclass(frozen=True)
class _Upward:
    """The upward axis.

    Attributes:
        label: What it shows.
        height: The place of a configuration on it.
        better: Whether `higher` or `lower` is better; the better is above.
        unit: How high one unit of utility is; `None` if errors of utilities have no place on it.
        levels: What there is at least and at most, as shares, by name; empty if it does not show shares.
    """

    label: str
    height: Callable[[Scored], float]
    better: str = "higher"
    unit: float | None = None
    levels: Mapping[str, float] = field(default_factory=dict)


@drawing()
def frontier(entry: EntryDocument, advice: Advice, privacy: str | None = None) -> Figure:
    """Draw every ranked configuration by the privacy it vouches for (to the right) and what it keeps (better is up).

    That is a share of what the table tells, between the table as it is and nothing shared; or the utility, if the
    whole is not known. Those on the frontier have 95 % intervals where the advice has standard errors. If the ranking
    by deviation is not one by utility, the upward axis is the deviation, so the best is always on the frontier.

    Args:
        entry: The entry as it is published.
        advice: Advice about the entry.
        privacy: The name of a criterion, by default that of `best_promise`.

    Raises:
        PlotError: As `scored` and `best_promise` do.
    """
    name = privacy or best_promise(entry, advice)
    points = scored(entry, advice, name)
    edge = pareto(points, name)
    upward = _upward(entry, advice, points)
    figure = Figure(figsize=(9, 6))
    axes = figure.subplots()
    _scatter(axes, points, edge, upward)
    if intervals := _intervals(edge, upward):
        places, heights, half = zip(*intervals, strict=True)
        axes.errorbar(places, heights, half, fmt="none", ecolor=BLUE, capsize=4, label="95 % interval")
    _axes(axes, points, name, upward)
    legend_above(axes)
    entitle(figure, shown(f"Utility against privacy: {entry.name}", 70), *_notes(entry, advice, points, name))
    if CRITERIA[name].is_whole or _alike(points):
        tick_numbers(figure, axes, [each.privacy for each in points], [each.privacy for each in edge])
    _labels(figure, axes, points, edge, upward)
    return figure


def _upward(entry: EntryDocument, advice: Advice, points: Sequence[Scored]) -> _Upward:
    measure, whole = measure_of(advice), whole_of(advice)
    if _out_of_order(points):
        return _Upward(f"deviation: {measure}, lower is better", lambda each: each.deviation, "lower")
    if whole is None:
        better = advice.better or "higher"
        return _Upward(f"utility: {measure}, {better} is better", lambda each: each.utility, better, 1.0)
    told = "tells" if whole.of_all else "is known to tell"
    return _Upward(
        f"kept of what the table {told}\nabout {shown(entry.label.name)}, by {measure_of(advice, unit=False)}",
        lambda each: whole.kept(each.deviation).share,
        unit=1 / whole.utility,
        levels=BASELINES if whole.of_all else {"all that\nis known": 1.0, "nothing\nshared": 0.0},
    )


def _out_of_order(points: Sequence[Scored]) -> bool:
    """Whether, best first, utilities both rise and fall, by more than rounding."""
    steps = [after.utility - before.utility for before, after in pairwise(points)]
    slack = 1e-9 * max(abs(each.utility) for each in points)
    return any(step > slack for step in steps) and any(step < -slack for step in steps)


def _scatter(axes: Axes, points: Sequence[Scored], edge: Sequence[Scored], upward: _Upward) -> None:
    """Draw all points pale, and the frontier as steps: a point's utility is available up to its privacy."""
    many = len(points) > _MANY
    axes.scatter(
        [each.privacy for each in points],
        [upward.height(each) for each in points],
        s=12 if many else 30,
        color=GREY,
        alpha=0.35 if many else 0.6,
        linewidth=0,
        rasterized=many,
        clip_on=False,
        label="configuration",
    )
    axes.plot(
        [each.privacy for each in edge],
        [upward.height(each) for each in edge],
        drawstyle="steps-pre",
        color=BLUE,
        linewidth=1.6,
        marker="o",
        markersize=6,
        clip_on=False,
        label="frontier: no other in the entry is better in both" if _is_line(edge) else "_nolegend_",
    )
    best = points[0]
    place = [best.privacy], [upward.height(best)]
    axes.plot(*place, "*", color=VERMILION, markersize=17, zorder=4, clip_on=False, label="best ranked")


def _intervals(edge: Sequence[Scored], upward: _Upward) -> list[tuple[float, float, float]]:
    """Return (place, height, half the width) of the intervals of the frontier, as far as there are standard errors."""
    if upward.unit is None:
        return []
    known = [(each, each.error) for each in edge if each.error is not None]
    return [(each.privacy, upward.height(each), _CONFIDENCE * error * upward.unit) for each, error in known]


def _alike(points: Sequence[Scored]) -> bool:
    """Whether all vouch for the same."""
    return len({each.privacy for each in points}) == 1


def _is_line(edge: Sequence[Scored]) -> bool:
    return len({(each.privacy, each.deviation) for each in edge}) > 1


def _axes(axes: Axes, points: Sequence[Scored], privacy: str, upward: _Upward) -> None:
    quiet(axes)
    numbers, scale = [each.privacy for each in points], ""
    if privacy == "k" and min(numbers) >= 1 and max(numbers) <= COUNT_MAX and not _alike(points):
        axes.set_xscale("log")
        scale = ", logarithmic"
    if not CRITERIA[privacy].at_least:
        axes.invert_xaxis()
    same = f"all vouch for {privacy} = {numbers[0]:g}" if _alike(points) else f"{privacy_of(privacy)}{scale} →"
    axes.set_xlabel(same, fontsize=10)
    axes.set_ylabel(f"{upward.label} →", fontsize=10)
    axes.margins(x=0.08, y=0.1)
    _from_zero(axes, points, upward)


def _from_zero(axes: Axes, points: Sequence[Scored], upward: _Upward) -> None:
    """Let the upward axis start at 0, and show shares up to 100 %."""
    for name, level in upward.levels.items():
        draw_level(axes, name, level)
    lowest = min(0.0, *map(upward.height, points))
    if upward.levels:
        share_axis(axes, [])
    elif upward.better == "lower":
        axes.invert_yaxis()
        axes.set_ylim(top=lowest)
    else:
        axes.set_ylim(bottom=lowest)


def _notes(entry: EntryDocument, advice: Advice, points: Sequence[Scored], privacy: str) -> Iterator[str]:
    """Yield notes on how many configurations the figure shows."""
    ranked = len(advice.ranking or ())
    considered = advice.considered or ranked
    yield f"{len(points)} of {len(ids_of(entry))} configurations"
    if required := advice.request.get("require"):
        yield f"required: {', '.join(f'{name}={number:g}' for name, number in required.items())}"
    if ranked < considered:
        yield f"the advice ranks {ranked} of {considered}: ask with --limit 10000 for more"
    if len(points) < ranked:
        yield f"{ranked - len(points)} vouch for no {privacy}"
    if any(each.error is not None for each in points):
        # A joint measure has no sampling errors.
        yield "intervals: of samples like this table" if advice.joint is None else "intervals: by exact counts"


def _labels(figure: Figure, axes: Axes, points: Sequence[Scored], edge: Sequence[Scored], upward: _Upward) -> None:
    """Write the names of the configurations on the frontier as far as they fit, the best and the ends first."""
    best = points[0]
    places = [list(group) for _, group in groupby(edge, key=lambda each: (each.privacy, each.deviation))]
    labels = [_label(group, upward) for group in places if best not in group]
    first = PointLabel(best.privacy, upward.height(best), shown(best.configuration, 24), VERMILION, bold=True)
    corners = [(each.privacy, upward.height(each)) for each in edge]
    upright = [(place, height - half, height + half) for place, height, half in _intervals(edge, upward)]
    label_points(figure, axes, [first, *labels[-1:], *labels[:-1]], corners, upright)


def _label(group: Sequence[Scored], upward: _Upward) -> PointLabel:
    names = ", ".join(shown(each.configuration, 16) for each in group[:_NAMES_AT_A_POINT])
    more = f" +{len(group) - _NAMES_AT_A_POINT}" if len(group) > _NAMES_AT_A_POINT else ""
    return PointLabel(group[0].privacy, upward.height(group[0]), names + more, INK)


def _is_possible(subject: Subject) -> bool:
    return bool(subject.answer.ranking) and any(vouched_for(subject.entry, name) for name in PRIVACY_CRITERIA)


def _parts(subject: Subject) -> Iterator[Part]:
    entry, advice = subject.entry, subject.answer
    privacy = subject.privacy or best_promise(entry, advice)
    yield (
        "Each point is a configuration. Points further to the right are more private, and higher points are more "
        "useful. No ranked configuration of this entry lies above and to the right of the frontier. Choose one on the "
        "frontier: any other gives up privacy or utility for nothing. An entry may contain only some of the "
        "configurations that its maskings allow, such as the minimal ones for the requirements. The frontier is that "
        "of the configurations in the entry."
    )
    if whole_of(advice) is not None:
        yield (
            "What a configuration keeps is a share of what the table tells about the label, or of as much of that as "
            "is known: 100 % is the table as it is, 0 % is nothing shared."
        )
    yield Plot(
        figure_svg(frontier(entry, advice, privacy)),
        "Configurations by privacy and utility, and their Pareto frontier.",
    )
    edge = pareto(scored(entry, advice, privacy), privacy)
    rows = [(each.configuration, each.privacy, each.utility, each.deviation) for each in edge[:_MOST_ROWS]]
    more = f"; the first {_MOST_ROWS} of {len(edge)}" if len(edge) > _MOST_ROWS else ""
    yield TextTable(("configuration", privacy, "utility", "deviation"), rows, f"The frontier{more}")
    yield Terms([Term(CRITERIA[privacy].word, CRITERIA[privacy].meaning)])


DRAWING: Final = Drawing(
    figure=lambda subject: frontier(subject.entry, subject.answer, subject.privacy),
    parts=_parts,
    is_possible=_is_possible,
)
