"""The plots of the page about risk."""

from collections.abc import Mapping, Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from aegis_provider.privacy import Assessment, ClassSizes, ReleasePrivacy
from aegis_provider.report.model import Plot
from aegis_provider.report.page import drawing, figure_svg, legend_above
from aegis_provider.report.risk import BANDS, band_name
from aegis_sdk.reading import shown

# Told apart by the colour-blind, and in grey.
_BEFORE, _AFTER, _OTHERS = "#d55e00", "#0072b2", "#56b4e9"
_SHADES: Final = ("#d55e00", "#f0b27a", "#a9cce3", "#0072b2")

_RISKY: Final = (
    (1, 1, "alone"),
    (2, 4, "in a class of 2 to 4: risk above 1 in 5"),
    (5, 19, "in a class of 5 to 19: risk above 1 in 20"),
    (20, None, "in a class of 20 or more"),
)
_KS = range(2, 51)
_CURVES = 100
_ROWS = 30
_LONGEST_NAME = 50


def class_sizes(compared: Mapping[str, ReleasePrivacy]) -> Plot:
    """Which share of the records is in classes of which size; `compared`: the table as it is first, by their names."""
    with drawing():
        figure, axes = _figure(2.8)
        for number, (name, release) in enumerate(compared.items()):
            _bars(axes, name, [_share(release.sizes, *band) for band in BANDS], number, len(compared))
        axes.set_xticks(range(len(BANDS)), [band_name(*band) for band in BANDS])
        axes.set_xlabel("records in the equivalence class")
        axes.set_ylabel("share of the records")
        return _bar_plot(
            figure, "How many records share their quasi-identifiers with how many. Further right is safer."
        )


def risks(compared: Mapping[str, ReleasePrivacy]) -> Plot:
    """The risks of the table as it is, the first of `compared`, and perhaps of a release, by their names."""
    with drawing():
        figure, axes = _figure(3.2)
        for number, (name, release) in enumerate(compared.items()):
            by_name = _risks_of(release)
            _bars(axes, name, list(by_name.values()), number, len(compared))
            axes.set_xticks(range(len(by_name)), list(by_name))
        caption = "before and after masking" if len(compared) > 1 else "as the table is"
        return _bar_plot(figure, f"The risk that a record is re-identified, {caption}. Lower is safer.")


def class_sizes_of_all(assessment: Assessment) -> Plot:
    """Which share of the records is in small classes: of the table as it is, and of the configurations, worst first."""
    measured = [each for each in assessment.releases if each.risk is not None]
    shown_here = sorted(measured, key=_exposed, reverse=True)[:_ROWS]
    with drawing():
        figure, axes = _figure(1.1 + 0.17 * (1 + len(shown_here)))
        _stacked(axes, [assessment.as_it_is, *shown_here])
        axes.set_yticks(range(1 + len(shown_here)), [assessment.unmasked_id, *(shown(each.id) for each in shown_here)])
        axes.set_ylim(len(shown_here) + 0.6, -0.6)
        axes.set_xlim(0, 1)
        axes.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
        axes.set_xlabel("share of the records")
        axes.grid(visible=False, axis="y")
        legend_above(figure)
        worst = f" These are the worst {_ROWS} of {len(measured)}." if len(measured) > _ROWS else ""
        return _plot(
            figure, f"How many records are in small classes, the configuration with most at risk first.{worst}"
        )


def suppression(assessment: Assessment) -> Plot:
    """Which share of the records has to be suppressed to reach a k."""
    measured = [each for each in assessment.releases if each.risk is not None]
    colour, width, name = _OTHERS, 0.7, "configurations"
    if len(measured) == 1:
        colour, width, name = _AFTER, 2.0, shown(f"as {measured[0].id} masks it", _LONGEST_NAME)
    with drawing():
        figure, axes = _figure(2.8)
        for number, each in enumerate(measured[:_CURVES]):
            label = None if number else name
            axes.plot(_KS, _shares_for(each.sizes), color=colour, lw=width, label=label)
        axes.plot(_KS, _shares_for(assessment.as_it_is.sizes), color=_BEFORE, lw=2, label=assessment.unmasked_name)
        axes.set_xlabel("k")
        axes.set_ylabel("share to suppress")
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
        legend_above(figure)
        first = f" The first {_CURVES} configurations." if len(measured) > _CURVES else ""
        return _plot(figure, f"How many records have to be left out so that all others have k-anonymity.{first}")


def _figure(height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7.2, height))
    return figure, figure.subplots()


def _plot(figure: Figure, caption: str) -> Plot:
    return Plot(figure_svg(figure), caption)


def _bar_plot(figure: Figure, caption: str) -> Plot:
    """The plot of groups of bars whose heights are shares."""
    [axes] = figure.axes
    axes.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    axes.grid(visible=False, axis="x")
    axes.margins(y=0.12)
    legend_above(figure)
    return _plot(figure, caption)


def _stacked(axes: Axes, releases: Sequence[ReleasePrivacy]) -> None:
    """A bar of each release from the top down: the shares of its records that are at which risk."""
    places, reached = range(len(releases)), [0.0] * len(releases)
    for (least, most, name), colour in zip(_RISKY, _SHADES, strict=True):
        widths = [_share(each.sizes, least, most) for each in releases]
        axes.barh(places, widths, left=reached, color=colour, label=name)
        reached = [left + width for left, width in zip(reached, widths, strict=True)]


def _bars(axes: Axes, name: str, heights: list[float], number: int, groups: int) -> None:
    """The bars of the table as it is (0) or of a release (1), side by side, each with its height above it."""
    width = 0.8 / groups
    places = [place + (number - (groups - 1) / 2) * width for place in range(len(heights))]
    bars = axes.bar(places, heights, width, color=_AFTER if number else _BEFORE, label=shown(name, _LONGEST_NAME))
    axes.bar_label(bars, ["< 1" if 0 < each < 0.01 else f"{100 * each:.0f}" for each in heights], padding=1)  # noqa: PLR2004 - a percent


def _share(sizes: ClassSizes | None, least: int, most: int | None) -> float:
    if sizes is None or not sizes.records:
        return 0.0
    return sizes.within(least, most)[1] / sizes.records


def _exposed(release: ReleasePrivacy) -> tuple[float, float, float]:
    """What releases are compared by: the shares of their records that are at a risk, the highest risk first."""
    unique, high, some = (_share(release.sizes, 1, most) for _, most, _ in _RISKY[:-1])
    return high, some, unique


def _shares_for(sizes: ClassSizes | None) -> list[float]:
    if sizes is None or not sizes.records:
        return [0.0] * len(_KS)
    return [int(records) / sizes.records for records in sizes.suppressed_for(_KS)]


def _risks_of(release: ReleasePrivacy) -> dict[str, float]:
    """The risks that the plot shows, by name; none where no record is left."""
    risk = release.risk
    highest, average, unique = (risk.highest, risk.average, risk.unique_share) if risk else (0.0, 0.0, 0.0)
    above = {f"records above\n1 in {round(1 / each)}": share for each, share in risk.above.items()} if risk else {}
    return {"highest\nrisk": highest, "average risk,\nmarketer risk": average, **above, "records\nalone": unique}
