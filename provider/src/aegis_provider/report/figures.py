"""The registry of figures of an entry and advice on it, each as a chart, a file, or a section of a page.

To add a figure, write a function that returns a chart, and add its record here. Then `aegis disclose --plot --figure
NAME` draws it, and the page of all figures has a section for it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from aegis_provider.errors import PlotError
from aegis_provider.files import written_whole
from aegis_provider.privacy import CRITERIA
from aegis_provider.report.model import BASELINES, Figure, Part, Report, Section, Term, Terms, TextTable
from aegis_provider.report.rendering import render_page
from aegis_provider.search import FrontierPoint, SearchResult, in_words
from aegis_sdk.charts import TONES, Axis, Bars, Frontier, Interval, Measured, Plane, Series, Tone, document
from aegis_sdk.charts.costs import costs_chart
from aegis_sdk.charts.hasse import lattice_chart
from aegis_sdk.charts.kept import frontier_chart
from aegis_sdk.charts.plot import drawable
from aegis_sdk.reading import Share, ids_of, reference_known, shown, some, vouched_for, whole_of
from aegis_sdk.wire import PRIVACY_CRITERIA, Advice, EntryDocument

_ASK: Final = "aegis advise ENTRY_ID --limit 10000 --json > advice.json"
"""By the measure that suits the entry, which the command knows."""
_MOST_NAMES: Final = 8
_SCHEMA: Final = ("records", "configurations", "configuration_table")


@dataclass(frozen=True)
class Subject:
    """The data that a figure is drawn from.

    Attributes:
        entry: The published entry.
        advice: Advice on the entry; some figures need none.
        privacy: The criterion to plot utility against; by default the first that varies.
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
            raise PlotError(f"this figure needs advice: run `{_ASK}` and give --advice advice.json")
        return self.advice

    @property
    def schema(self) -> dict[str, Any]:
        """The part of the entry that charts read."""
        return self.entry.model_dump(include={"label": {"name"}, **dict.fromkeys(_SCHEMA, True)})


@dataclass(frozen=True)
class EntryFigure:
    """The record of a figure.

    Attributes:
        name: What `aegis disclose --plot --figure` calls it.
        heading: The heading of its section on the page.
        words: Its explanation.
        needs_advice: Whether it cannot be drawn from an entry alone.
        is_possible: Whether there is anything to draw, for a subject with any needed advice.

    Raises:
        PlotError: From `chart` and `words`, if there is nothing to draw.
    """

    name: str
    heading: str
    chart: Callable[[Subject], Figure]
    words: Callable[[Subject], Iterator[Part]]
    needs_advice: bool = False
    is_possible: Callable[[Subject], bool] = lambda _: True

    def drawn(self, subject: Subject) -> Figure:
        """The chart, with the name of the entry in its title.

        Raises:
            PlotError: There is nothing to draw.
        """
        chart = self.chart(subject)
        if chart.drawing is None:
            raise PlotError(chart.empty)
        return chart

    def parts(self, subject: Subject) -> Iterator[Part]:
        """Its section of the page."""
        first, *others = self.words(subject)
        yield from (first, self.drawn(subject), *others)


def frontier(entry: EntryDocument, advice: Advice, privacy: str | None = None) -> Frontier:
    """Return every ranked configuration by its promised privacy (to the right) and its utility (better is up).

    Utility is a share of the unmasked table's, or the deviation if that is unknown. There are 95 % intervals where the
    advice has standard errors.

    Args:
        entry: The entry as it is published.
        advice: Advice about the entry.
        privacy: The name of a criterion, by default that of `best_promise`.

    Raises:
        PlotError: The advice has no ranking or does not match the entry, or no ranked configuration promises the
            criterion.
    """
    if not advice.ranking:
        raise PlotError("the advice has no ranking; ask again with --limit 10000 --json")
    name = privacy or best_promise(entry, advice)
    known, vouched = set(ids_of(entry)), vouched_for(entry, name)
    for row in advice.ranking:
        if row.configuration not in known:
            raise PlotError(f"the advice ranks {row.configuration!r}, which {entry.name!r} does not have")
    if not any(row.configuration in vouched for row in advice.ranking):
        raise PlotError(f"no configuration of the ranking promises {name}; name another with --privacy")
    chart = frontier_chart(advice, Subject(entry).schema, name)
    if chart.drawing is None or not all(drawable(row.deviation) for row in advice.ranking):
        raise PlotError("a number is missing or too large to draw; was the file changed?")
    required = ", ".join(f"{name} = {number:g}" for name, number in (advice.request.get("require") or {}).items())
    notes = [*chart.notes, *([f"Required: {required}."] if required else [])]
    return replace(chart, title=shown(f"{chart.title}: {entry.name}", 70), notes=notes)


def best_promise(entry: EntryDocument, advice: Advice | None = None) -> str:
    """Return the first privacy criterion on which the ranked configurations, or without advice all, differ.

    If there is none, return the first promised criterion.

    Raises:
        PlotError: No configuration promises any privacy.
    """
    vouched = {name: numbers for name in PRIVACY_CRITERIA if (numbers := vouched_for(entry, name))}
    if not vouched:
        raise PlotError(f"no configuration of {entry.name!r} promises any privacy; write promises in the plan")
    ids = ids_of(entry) if advice is None else [row.configuration for row in advice.ranking or ()]
    ranked = {name: {by_id[each] for each in ids if each in by_id} for name, by_id in vouched.items()}
    return next((name for name, numbers in ranked.items() if len(numbers) > 1), next(iter(vouched)))


def costs(entry: EntryDocument, advice: Advice, attributes: Sequence[str] | None = None) -> Bars:
    """Return the deviation of every scored masking as a bar, by attribute, the highest reference utility first.

    If more utility is better, the attribute's reference utility, the maximum loss, is outlined. The outline is dashed
    if the unmasked joint counts are unknown; then more may be lost, and bounds are shown. The maskings of the best
    configuration are marked.

    Args:
        entry: The entry as it is published.
        advice: Advice about the entry.
        attributes: The names of the attributes to draw, with all their maskings; by default those with the highest
            reference utility.

    Raises:
        PlotError: The advice scores no masking of these attributes.
    """
    if not any(
        attribute.maskings and (not attributes or attribute.name in attributes) for attribute in advice.attributes or ()
    ):
        raise PlotError(
            "the advice scores no masking of these attributes; ask again, with `--measure mutual_information --json`"
        )
    chart = costs_chart(advice, Subject(entry).schema, attributes)
    return replace(chart, title=shown(f"{chart.title}: {entry.name}", 70))


def _about_frontier(subject: Subject) -> Iterator[Part]:
    entry, advice = subject.entry, subject.answer
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
    criterion = CRITERIA[subject.privacy or best_promise(entry, advice)]
    yield Terms([Term(criterion.word, criterion.meaning)])


def _about_costs(subject: Subject) -> Iterator[Part]:
    advice, attributes = subject.answer, subject.attributes
    yield (
        "For each attribute, the bars show how far every masking is from the reference utility: what the unmasked "
        "attribute tells about the label, or as much of that as is known. A long bar means a high cost. If all bars "
        "are short and the joint counts are known, the attribute tells little in any case."
    )
    chosen = [attribute for attribute in advice.attributes or () if not attributes or attribute.name in attributes]
    if unknown := [each.name for each in chosen if each.maskings and not reference_known(each)]:
        yield (
            f"The unmasked joint counts of {some(unknown, _MOST_NAMES)} are not known. The reference utility is only "
            "what the published tables tell. The attribute may tell more, and each masking may lose more than its bar "
            "shows. The true number certainly lies between the numbers in brackets."
        )


def _about_lattice(subject: Subject) -> Iterator[Part]:
    yield (
        "A masking stands above those it can be computed from: it tells no more than they do, and is at least as "
        "private. Maskings in one box group the values alike. If no path leads up from one to another, neither can be "
        "computed from the other."
    )
    if subject.advice is not None:
        yield (
            "The darker a box, the more of the reference utility of its attribute is lost. Dropping the attribute "
            "loses all of it. Hatched boxes have a loss that is not known: no configuration that was asked about uses "
            "the masking, or the unmasked joint counts are not known and it may lose little or much of what they would "
            "tell. Boxes with a thick frame are what the best configuration has."
        )


_FIGURES: Final = (
    EntryFigure(
        "frontier",
        "Utility against privacy",
        lambda subject: frontier(subject.entry, subject.answer, subject.privacy),
        _about_frontier,
        needs_advice=True,
        is_possible=lambda subject: (
            bool(subject.answer.ranking) and any(vouched_for(subject.entry, name) for name in PRIVACY_CRITERIA)
        ),
    ),
    EntryFigure(
        "costs",
        "What each masking costs",
        lambda subject: costs(subject.entry, subject.answer, subject.attributes),
        _about_costs,
        needs_advice=True,
        is_possible=lambda subject: any(attribute.maskings for attribute in subject.answer.attributes or ()),
    ),
    EntryFigure(
        "lattice",
        "Which masking can be computed from which",
        lambda subject: lattice_chart(subject.entry, subject.advice, subject.attributes),
        _about_lattice,
    ),
)

FIGURES: Final[dict[str, EntryFigure]] = {figure.name: figure for figure in _FIGURES}
"""The registry, by name, in the order of the page."""


def possible(subject: Subject) -> list[EntryFigure]:
    """Return the figures that can be drawn."""
    return [
        figure
        for figure in FIGURES.values()
        if (subject.advice is not None or not figure.needs_advice) and figure.is_possible(subject)
    ]


def write_figure(path: Path, name: str, subject: Subject) -> None:
    """Write the figure of that name as SVG, whole or not at all.

    Raises:
        PlotError: There is nothing to draw.
        OutputError: The file cannot be written.
    """
    with written_whole(path) as part:
        part.write_text(document(FIGURES[name].drawn(subject)), encoding="utf-8")


def write_figures(path: Path, subject: Subject) -> None:
    """Write the page of all figures, whole or not at all.

    Raises:
        PlotError: As `figures_page` does.
        OutputError: The file cannot be written.
    """
    with written_whole(path) as part:
        part.write_text(figures_page(subject), encoding="utf-8")


def figures_page(subject: Subject) -> str:
    """Return one HTML document with every figure that can be drawn, each with an explanation in words.

    Raises:
        PlotError: A figure cannot be drawn.
    """
    entry, advice = subject.entry, subject.advice
    sections = [Section(figure.heading, tuple(figure.parts(subject))) for figure in possible(subject)]
    title = f"{entry.name}: {shown(entry.title, 100)}" if entry.title else entry.name
    return render_page(Report(title, [] if advice is None else [_about(entry, advice)], sections))


def _about(entry: EntryDocument, advice: Advice) -> str:
    others = len(advice.tied or ()) - 1
    tied = f" ({others} other{'s' * (others != 1)} equally good)" if others > 0 else ""
    measure = shown(str(advice.request.get("measure", "measure")).replace("_", " "), 32)
    unit = advice.unit if advice.joint is None else "squared correlations"
    label = advice.request.get("label") or entry.label.name
    return (
        f"{advice.configuration}{tied} is the best of {advice.considered} configurations by "
        f"{measure}{f' ({unit})' if unit else ''}; the ranking is {advice.ranking_basis}. "
        f"The table has {entry.records:,} records and the label {shown(label)}."
    )


_NONE: Final = "-"


def frontier_report(result: SearchResult, table: str, label: str) -> Report:
    """Return the frontier as a table and a picture: a point for each requirement, a line for each share left out."""
    summary = (
        f"The best of {result.nodes:,} combinations of maskings of {result.records:,} records, for each requirement. "
        f"What they keep is a share of what the table tells about {shown(label)}, by the measure {result.measure}."
    )
    sections = [Section("What more privacy costs", list(_parts(result, label)))]
    return Report(f"Configurations of {table}", [summary], sections)


def proof_of(point: FrontierPoint) -> str:
    """Return what is proven about the optimality of the best configuration."""
    if point.complete:
        return "no combination meets it" if point.configuration is None else "no combination keeps more"
    if point.at_most_more is None:
        return "the best found"
    if point.at_most_more >= 1:
        return "the best found; it is not known how much more others keep"
    return f"the best found; no combination keeps over {Share(point.at_most_more)} more"


def _parts(result: SearchResult, label: str) -> Iterator[Part]:
    rows = [_row(point) for point in result.frontier]
    yield TextTable(("required", "left out at most", "configuration", "records left out", "keeps", ""), rows)
    places = list(dict.fromkeys(in_words(point.requirement.privacy) for point in result.frontier))
    shares = list(dict.fromkeys(point.requirement.suppress_at_most for point in result.frontier))
    yield Plane(
        Axis("privacy", "required privacy"),
        Axis("kept", f"kept of what the table tells about {shown(label)}", "share", levels=BASELINES),
        [_series(result.frontier, places, share, TONES[number % len(TONES)]) for number, share in enumerate(shares)],
        places,
        notes=["What the best configuration keeps. A line upwards ends where it is proven that nothing keeps more."],
    )


def _row(point: FrontierPoint) -> tuple[str, ...]:
    best, most = point.configuration, str(Share(point.requirement.suppress_at_most))
    found = (_NONE, _NONE, _NONE) if best is None else (best.id, f"{best.suppressed or 0:,}", str(Share(point.share)))
    return (in_words(point.requirement.privacy), most, *found, proof_of(point))


def _series(points: Sequence[FrontierPoint], places: Sequence[str], share: float, tone: Tone) -> Series:
    """Return the kept utility at each place if at most this share of the records is left out."""
    there = {
        in_words(point.requirement.privacy): point for point in points if point.requirement.suppress_at_most == share
    }
    numbers = [_measured(there.get(place)) for place in places]
    return Series.at_places(f"at most {Share(share)} of the records left out", tone, numbers, is_joined=True)


def _measured(point: FrontierPoint | None) -> Measured | None:
    if point is None or point.configuration is None:
        return None
    known = point.complete or point.at_most is None
    limits = None if known else Interval(point.share, max(point.share, point.at_most or 0.0))
    return Measured(point.share, limits)
