"""The figures on a page that stands by itself, each with what it shows in words."""

from collections.abc import Iterator, Sequence

from aegis_provider.plots.costs import costs
from aegis_provider.plots.frontier import frontier
from aegis_provider.plots.hasse import lattice
from aegis_provider.plots.pareto import best_promise, pareto, scored
from aegis_provider.plots.style import measure_of
from aegis_provider.privacy import CRITERIA
from aegis_provider.report import Part, Plot, Section, Terms, TextTable, drawing, figure_svg, render_page
from aegis_sdk.reading import reference_known, shown, some, vouched_for
from aegis_sdk.wire import PRIVACY_CRITERIA, Advice, EntryDocument

_MOST_ROWS = 100
_MOST_NAMES = 8


def drawable(entry: EntryDocument, advice: Advice | None) -> list[str]:
    """The figures that there is something to draw of: of `frontier`, `costs` and `lattice`."""
    if advice is None:
        return ["lattice"]
    vouched = bool(advice.ranking) and any(vouched_for(entry, name) for name in PRIVACY_CRITERIA)
    scores = any(each.maskings for each in advice.attributes or ())
    return [*(["frontier"] if vouched else []), *(["costs"] if scores else []), "lattice"]


def page(
    entry: EntryDocument,
    advice: Advice | None = None,
    privacy: str | None = None,
    attributes: Sequence[str] | None = None,
) -> str:
    """One HTML document of every figure that there is something to draw of: without an advice, of the lattice only.

    `privacy` and `attributes` are those of `frontier`, `costs` and `lattice`. Raises `PlotError` as they do.
    """
    with drawing():
        sections = list(_sections(entry, advice, privacy, attributes))
    return render_page(f"{entry.name}: {shown(entry.title, 100)}" if entry.title else entry.name, sections)


def _sections(
    entry: EntryDocument, advice: Advice | None, privacy: str | None, attributes: Sequence[str] | None
) -> Iterator[Section]:
    possible = drawable(entry, advice)
    if advice is not None:
        yield Section("The advice", (_about(entry, advice),))
        if "frontier" in possible:
            yield Section(
                "Utility against privacy", tuple(_frontier(entry, advice, privacy or best_promise(entry, advice)))
            )
        if "costs" in possible:
            yield Section("What each masking costs", tuple(_costs(entry, advice, attributes)))
    yield Section("Which masking follows from which", tuple(_lattice(entry, advice, attributes)))


def _about(entry: EntryDocument, advice: Advice) -> str:
    others = len(advice.tied or ()) - 1
    tied = f" ({others} other{'s' * (others != 1)} as good)" if others > 0 else ""
    return (
        f"{advice.configuration}{tied} is the best of {advice.considered} configurations by {measure_of(advice)}; the "
        f"ranking is {advice.ranking_basis}. The table has {entry.records:,} records and the label {entry.label.name}."
    )


def _frontier(entry: EntryDocument, advice: Advice, privacy: str) -> Iterator[Part]:
    yield (
        "Each point is a configuration: to the right it is more private, upwards more useful. Of the configurations of "
        "this entry that are ranked, none lies above and to the right of the frontier. Choose on it: every other one "
        "gives away one of the two for nothing. An entry may hold only some of all configurations that its maskings "
        "allow, such as the minimal ones for what was required; the frontier is that of those it holds."
    )
    figure = frontier(entry, advice, privacy)
    yield Plot(figure_svg(figure), "Configurations by privacy and utility, and their Pareto frontier.")
    edge = pareto(scored(entry, advice, privacy), privacy)
    rows = [(each.configuration, each.privacy, each.utility, each.deviation) for each in edge[:_MOST_ROWS]]
    more = f"; the first {_MOST_ROWS} of {len(edge)}" if len(edge) > _MOST_ROWS else ""
    yield TextTable(("configuration", privacy, "utility", "deviation"), rows, f"The frontier{more}")
    yield Terms([(CRITERIA[privacy].word, CRITERIA[privacy].meaning)])


def _costs(entry: EntryDocument, advice: Advice, attributes: Sequence[str] | None) -> Iterator[Part]:
    yield (
        "Of each attribute, how far every masking is from its reference utility: what the unmasked attribute tells of "
        "the label, or as much of that as is known. A long bar costs much; where all bars are short the attribute "
        "tells little in any case, if its joint counts are known."
    )
    yield Plot(figure_svg(costs(entry, advice, attributes)), "Deviation of every masking, by attribute.")
    chosen = [each for each in advice.attributes or () if not attributes or each.name in attributes]
    if unknown := [each.name for each in chosen if each.maskings and not reference_known(each)]:
        yield (
            f"The unmasked joint counts of {some(unknown, _MOST_NAMES)} are not known. Their reference utility is only "
            "what the published tables tell: the attribute may tell more, and each masking may lose more than its bar "
            "shows. Numbers in brackets enclose the true one for certain."
        )


def _lattice(entry: EntryDocument, advice: Advice | None, attributes: Sequence[str] | None) -> Iterator[Part]:
    yield (
        "A masking stands above those that it can be computed from: it tells no more than they do, and is as private "
        "or more. Maskings in one box group the values alike. Where no way leads up from one to another, neither can "
        "be computed from the other."
    )
    if advice is not None:
        yield (
            "The darker a box, the more of the reference utility of its attribute is lost; to drop the attribute loses "
            "all of it. Of a grey box that is not known: no configuration that was asked about uses it, or the "
            "unmasked joint counts are not known, and it may lose little or much of what they would tell."
        )
    figure = lattice(entry, advice, attributes)
    yield Plot(figure_svg(figure), "The Hasse diagram of the maskings of every attribute.")
