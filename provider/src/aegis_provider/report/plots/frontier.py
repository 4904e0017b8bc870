"""Utility against privacy: every configuration of an advice, and the frontier of those that no other beats."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final, TypeAlias

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from aegis_provider.errors import PlotError
from aegis_provider.privacy import CRITERIA
from aegis_provider.report.figures import Drawing, Subject
from aegis_provider.report.model import Part, Plot, Term, Terms, TextTable
from aegis_provider.report.page import drawing, figure_svg
from aegis_provider.report.plots.labels import PointLabel, label_points, tick_numbers
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
    refuse_vast,
)
from aegis_sdk.reading import ids_of, shown, vouched_for
from aegis_sdk.wire import COUNT_MAX, PRIVACY_CRITERIA, Advice, EntryDocument

_NAMES_AT_A_POINT = 2
_MANY = 500
"""Points that are drawn one by one; more become an image within an SVG."""
_MOST_ROWS = 100


@dataclass(frozen=True)
class Scored:
    """A configuration: the privacy that is vouched for, and its utility and deviation in the ranking."""

    configuration: str
    privacy: float
    utility: float
    deviation: float


def best_promise(entry: EntryDocument, advice: Advice | None = None) -> str:
    """Return the first privacy criterion by which configurations differ, or else the first vouched for.

    The configurations are those that the advice ranks; without advice, all.

    Raises:
        PlotError: No configuration vouches for any privacy.
    """
    vouched = {name: numbers for name in PRIVACY_CRITERIA if (numbers := vouched_for(entry, name))}
    if not vouched:
        raise PlotError(f"no configuration of {entry.name!r} vouches for any privacy; write promises in the plan")
    ids = ids_of(entry) if advice is None else [row.configuration for row in advice.ranking or ()]
    ranked = {name: {by_id[each] for each in ids if each in by_id} for name, by_id in vouched.items()}
    return next((name for name, numbers in ranked.items() if len(numbers) > 1), next(iter(vouched)))


def scored(entry: EntryDocument, advice: Advice, privacy: str) -> list[Scored]:
    """Return the configurations of the ranking, best first, that vouch for that privacy.

    Raises:
        PlotError: The advice has no ranking, ranks what the entry does not have, or nothing is left.
    """
    if not advice.ranking:
        raise PlotError("the advice has no ranking; ask again with --limit 10000 --json")
    known, vouched = set(ids_of(entry)), vouched_for(entry, privacy)
    for row in advice.ranking:
        if row.configuration not in known:
            raise PlotError(f"the advice ranks {row.configuration!r}, which {entry.name!r} does not have")
    points = [
        Scored(row.configuration, number, row.utility, row.deviation)
        for row in advice.ranking
        if (number := vouched.get(row.configuration)) is not None
    ]
    if not points:
        raise PlotError(f"no configuration of the ranking vouches for {privacy}; name another with --privacy")
    refuse_vast(number for each in points for number in (each.privacy, each.utility, each.deviation))
    return points


def pareto(configurations: Sequence[Scored], privacy: str) -> list[Scored]:
    """Return the Pareto frontier, from the least private to the most private.

    For a configuration on it, no other is at least as private, loses at most as much, and is better in one of the two.
    As in the ranking, a smaller deviation means a smaller loss. Equally good configurations are on it together.
    """
    sign = 1 if CRITERIA[privacy].at_least else -1
    most_private_first = sorted(configurations, key=lambda each: (-sign * each.privacy, each.deviation))
    return sorted(_undominated(most_private_first), key=lambda each: sign * each.privacy)


def _undominated(most_private_first: Sequence[Scored]) -> Iterator[Scored]:
    last: Scored | None = None
    for each in most_private_first:
        same = last is not None and (each.privacy, each.deviation) == (last.privacy, last.deviation)
        if last is None or same or each.deviation < last.deviation:
            last = each
            yield each


Upward: TypeAlias = Callable[[Scored], float]


@drawing()
def frontier(entry: EntryDocument, advice: Advice, privacy: str | None = None) -> Figure:
    """Draw every ranked configuration by the privacy it vouches for (to the right) and its utility (better is up).

    If the ranking by deviation is not one by utility, the upward axis is the deviation, so the best is always on the
    frontier.

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
    upward = _by_deviation if _out_of_order(points) else _by_utility
    figure = Figure(figsize=(9, 6))
    axes = figure.subplots()
    _scatter(axes, points, edge, upward)
    _axes(axes, points, name, advice, upward)
    legend_above(axes)
    entitle(figure, shown(f"Utility against privacy: {entry.name}", 70), *_notes(entry, advice, points, name))
    if CRITERIA[name].is_whole or _alike(points):
        tick_numbers(figure, axes, [each.privacy for each in points], [each.privacy for each in edge])
    _labels(figure, axes, points, edge, upward)
    return figure


def _by_utility(point: Scored) -> float:
    return point.utility


def _by_deviation(point: Scored) -> float:
    return point.deviation


def _out_of_order(points: Sequence[Scored]) -> bool:
    """Whether, best first, utilities both rise and fall, by more than rounding."""
    steps = [after.utility - before.utility for before, after in pairwise(points)]
    slack = 1e-9 * max(abs(each.utility) for each in points)
    return any(step > slack for step in steps) and any(step < -slack for step in steps)


def _scatter(axes: Axes, points: Sequence[Scored], edge: Sequence[Scored], upward: Upward) -> None:
    """Draw all points pale, and the frontier as steps: a point's utility is available up to its privacy."""
    many = len(points) > _MANY
    axes.scatter(
        [each.privacy for each in points],
        [upward(each) for each in points],
        s=12 if many else 30,
        color=GREY,
        alpha=0.35 if many else 0.6,
        linewidth=0,
        rasterized=many,
        label="configuration",
    )
    axes.plot(
        [each.privacy for each in edge],
        [upward(each) for each in edge],
        drawstyle="steps-pre",
        color=BLUE,
        linewidth=1.6,
        marker="o",
        markersize=6,
        label="frontier: no other in the entry is better in both" if _is_line(edge) else "_nolegend_",
    )
    best = points[0]
    axes.plot([best.privacy], [upward(best)], "*", color=VERMILION, markersize=17, zorder=4, label="best ranked")


def _alike(points: Sequence[Scored]) -> bool:
    """Whether all vouch for the same."""
    return len({each.privacy for each in points}) == 1


def _is_line(edge: Sequence[Scored]) -> bool:
    return len({(each.privacy, each.deviation) for each in edge}) > 1


def _axes(axes: Axes, points: Sequence[Scored], privacy: str, advice: Advice, upward: Upward) -> None:
    quiet(axes)
    numbers = [each.privacy for each in points]
    if privacy == "k" and min(numbers) >= 1 and max(numbers) <= COUNT_MAX and not _alike(points):
        axes.set_xscale("log")
    if not CRITERIA[privacy].at_least:
        axes.invert_xaxis()
    axis, better = "utility", advice.better or "higher"
    if upward is _by_deviation:
        axis, better = "deviation", "lower"
    if better == "lower":
        axes.invert_yaxis()
    same = f"all vouch for {privacy} = {numbers[0]:g}" if _alike(points) else f"{privacy_of(privacy)} →"
    axes.set_xlabel(same, fontsize=10)
    axes.set_ylabel(f"{axis}: {measure_of(advice)}, {better} is better →", fontsize=10)
    axes.margins(x=0.08, y=0.1)


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


def _labels(figure: Figure, axes: Axes, points: Sequence[Scored], edge: Sequence[Scored], upward: Upward) -> None:
    """Write the names of the configurations on the frontier as far as they fit, the best and the ends first."""
    best = points[0]
    places = [list(group) for _, group in groupby(edge, key=lambda each: (each.privacy, each.deviation))]
    labels = [_label(group, upward) for group in places if best not in group]
    first = PointLabel(best.privacy, upward(best), shown(best.configuration, 24), VERMILION, bold=True)
    label_points(figure, axes, [first, *labels[-1:], *labels[:-1]], [(each.privacy, upward(each)) for each in edge])


def _label(group: Sequence[Scored], upward: Upward) -> PointLabel:
    names = ", ".join(shown(each.configuration, 16) for each in group[:_NAMES_AT_A_POINT])
    more = f" +{len(group) - _NAMES_AT_A_POINT}" if len(group) > _NAMES_AT_A_POINT else ""
    return PointLabel(group[0].privacy, upward(group[0]), names + more, INK)


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
