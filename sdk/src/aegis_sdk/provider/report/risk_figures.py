"""The plots of the page about risk."""

from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from aegis_sdk.provider.privacy import Assessed, ClassSizes
from aegis_sdk.provider.report.figure import drawing, figure_svg
from aegis_sdk.provider.report.page import Plot

# Told apart by the colour-blind, and in grey.
_BEFORE, _AFTER, _OTHERS = "#d55e00", "#0072b2", "#56b4e9"
AS_IT_IS, RELEASED = "table as it is", "as released"
"""What the plots call the table before and after masking."""

_BANDS: Final = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None))
_KS = range(2, 51)
_CURVES = 100


def class_sizes(releases: Sequence[Assessed]) -> Plot:
    """Which share of the records is in classes of which size: the table as it is, and perhaps a release."""
    with drawing():
        figure, axes = _figure(2.8)
        names = [_band(*band) for band in _BANDS]
        for number, release in enumerate(releases):
            heights = [_share(release.sizes, *band) for band in _BANDS]
            _bars(axes, heights, number, len(releases))
        axes.set_xticks(range(len(names)), names)
        axes.set_xlabel("records in the equivalence class")
        axes.set_ylabel("share of the records")
        axes.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
        axes.grid(visible=False, axis="x")
        return _plot(figure, "How many records share their quasi-identifiers with how many. Further right is safer.")


def risks(releases: Sequence[Assessed]) -> Plot:
    """The risks of the table as it is, and perhaps of a release."""
    with drawing():
        figure, axes = _figure(3.2)
        for number, release in enumerate(releases):
            _bars(axes, list(_risks_of(release).values()), number, len(releases))
        names = list(_risks_of(releases[0]))
        axes.set_xticks(range(len(names)), names)
        axes.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
        axes.grid(visible=False, axis="x")
        return _plot(figure, "The risk that someone is re-identified, before and after masking. Lower is safer.")


def risks_of_all(before: Assessed, releases: Sequence[Assessed]) -> Plot:
    """The share of records at risk in every configuration, the safest first."""
    with drawing():
        figure, axes = _figure(2.8)
        for threshold, name, colour in ((0.2, "1 in 5", _AFTER), (0.05, "1 in 20", _BEFORE)):
            shares = sorted(each.risk.above[threshold] for each in releases if each.risk is not None)
            axes.step(range(1, len(shares) + 1), shares, where="mid", color=colour, label=f"risk above {name}")
            if before.risk is not None:
                axes.axhline(before.risk.above[threshold], color=colour, linestyle=":", label=f"{name}, unmasked")
        axes.set_xlabel("configurations, the safest first")
        axes.set_ylabel("share of the records")
        axes.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
        axes.legend()
        return _plot(figure, "How many records are at risk in each configuration, and in the table as it is (dotted).")


def suppression(before: Assessed, releases: Sequence[Assessed]) -> Plot:
    """Which share of the records has to be suppressed to reach a k."""
    with drawing():
        figure, axes = _figure(2.8)
        alone = len(releases) == 1
        for number, each in enumerate(releases[:_CURVES]):
            label = RELEASED if alone else "configurations" if number == 0 else None
            axes.plot(
                _KS, _shares_for(each.sizes), color=_AFTER if alone else _OTHERS, lw=2 if alone else 0.7, label=label
            )
        axes.plot(_KS, _shares_for(before.sizes), color=_BEFORE, lw=2, label=AS_IT_IS)
        axes.set_xlabel("k")
        axes.set_ylabel("share to suppress")
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
        axes.legend()
        first = f" The first {_CURVES} configurations." if len(releases) > _CURVES else ""
        return _plot(figure, f"How many records have to be left out so that all others have k-anonymity.{first}")


def _figure(height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7.2, height))
    return figure, figure.subplots()


def _plot(figure: Figure, caption: str) -> Plot:
    return Plot(figure_svg(figure), caption)


def _bars(axes: Axes, heights: list[float], number: int, groups: int) -> None:
    """The bars of the table as it is (0) or of a release (1), side by side, each with its height above it."""
    width = 0.8 / groups
    places = [place + (number - (groups - 1) / 2) * width for place in range(len(heights))]
    colour = _BEFORE if number == 0 else _AFTER
    bars = axes.bar(places, heights, width, color=colour, label=AS_IT_IS if number == 0 else RELEASED)
    axes.bar_label(bars, ["< 1" if 0 < each < 0.01 else f"{100 * each:.0f}" for each in heights], padding=1)  # noqa: PLR2004 - a percent
    axes.margins(y=0.12)
    axes.legend()


def _band(least: int, most: int | None) -> str:
    return f"{least}+" if most is None else str(least) if least == most else f"{least}-{most}"


def _share(sizes: ClassSizes | None, least: int, most: int | None) -> float:
    if sizes is None or not sizes.records:
        return 0.0
    return sizes.within(least, most)[1] / sizes.records


def _shares_for(sizes: ClassSizes | None) -> list[float]:
    if sizes is None or not sizes.records:
        return [0.0] * len(_KS)
    return [int(records) / sizes.records for records in sizes.suppressed_for(_KS)]


def _risks_of(release: Assessed) -> dict[str, float]:
    """The risks that the plot shows, by name; none where no record is left."""
    risk = release.risk
    highest, average, alone = (risk.highest, risk.average, risk.unique_share) if risk else (0.0, 0.0, 0.0)
    above = {f"records above\n1 in {round(1 / each)}": share for each, share in risk.above.items()} if risk else {}
    return {"highest\nrisk": highest, "average risk,\nmarketer risk": average, **above, "records\nalone": alone}
