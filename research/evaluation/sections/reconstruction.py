"""The section on the reconstruction: distance to the true joint counts, and the error of estimated deviations."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from research.evaluation import synthetic_tables
from research.evaluation.reconstruction_distances import (
    DRAWS,
    FEWEST,
    MERGED,
    ORDERS,
    VIEWS,
    Reconstruction,
    Variant,
    regrouped,
)
from research.evaluation.utility_errors import ErrorSummary, UtilityError
from research.plots import COLOURS, whole_numbers
from research.report import Section, image, link, table
from research.study import Study

#: The distance that the paper reports for its reconstruction with summaries, on its own tables.
PAPER = 0.55
FIGURE = "reconstruction.svg"
ERRORS = "errors-of-deviations.csv"
OVERLAPPING = "overlapping-views.csv"
INFORMATION = "mutual_information"


def section(studies: Sequence[Study], *, short: bool) -> Section:
    """Make the section, for real tables only: made-up ones are as hard as they are made.

    The short form uses only two orders of the views.
    """
    orders = 2 if short else ORDERS
    real = [study for study in studies if study.name not in synthetic_tables.NAMES]
    reconstructions = [Reconstruction.of(study, orders) for study in real]
    overlapping = [Reconstruction.of(study, 2) for study in map(regrouped, real) if study is not None]
    parts = [
        _about(orders),
        table(*_distance_table(reconstructions)),
        _distance_says(reconstructions),
        _error_about(),
        _error_says(reconstructions),
        *(_overlapping(overlapping) if overlapping else ()),
    ]
    return Section(
        "How good the reconstruction is",
        "\n\n".join(parts),
        {FIGURE: plot(reconstructions)},
        [_finding(reconstructions)],
        details={
            ERRORS: _with_head(*_error_table(reconstructions)),
            **({OVERLAPPING: _with_head(*_distance_table(overlapping))} if overlapping else {}),
        },
    )


def _with_head(columns: list[str], rows: list[list[str]]) -> list[list[str]]:
    return [columns, *rows]


def _finding(reconstructions: Sequence[Reconstruction]) -> str:
    known, unknown = ([one.variants[name] for one in reconstructions] for name in ("known", "unknown"))
    held, bounds = _bounds_held(reconstructions)
    return (
        f"On average over the real tables, reconstructed joint counts are {_mean(known):.3f} from the true ones in"
        f" total variation distance, and {_mean(unknown):.3f} if no histograms are known."
        f" {held:,} of {bounds:,} bounds hold."
    )


def _about(orders: int) -> str:
    return f"""\
Here the unmasked counts of an attribute and the label are known. **Total variation distance** is half the sum of
|P - Q| over all values and classes. For each attribute 0, 1, 2, ... views (masked tables with two masked values or
more) are given, in {orders} random orders and from the coarsest to the finest. Distances are means over the attributes
of a table. *Sampling* draws as many records as the table has ({DRAWS} times), from the histograms alone or within the
finest view.

{image(FIGURE, "Total variation distance to the true counts against the number of views known")}"""


def _distance_table(reconstructions: Sequence[Reconstruction]) -> tuple[list[str], list[list[str]]]:
    columns = ["table", "attributes (views of each)", "histograms", "independence", "1 view: mean (range)", "all views"]
    rows = [
        [one.name, f"{len(one.views)} ({_span(one.views)})", name, *_distances(variant)]
        for one in reconstructions
        for name, variant in one.variants.items()
    ]
    return [*columns, "sampling, histograms", "sampling, finest view", "information off by"], rows


def _distances(variant: Variant) -> Iterator[str]:
    first = variant.by_views[:, min(1, variant.by_views.shape[1] - 1)]
    yield f"{variant.independent:.3f}"
    yield f"{first.mean():.3f} ({first.min():.3f} to {first.max():.3f})"
    yield f"{variant.complete:.3f}"
    yield f"{variant.sampled:.3f}"
    yield f"{variant.sampled_views:.3f}"
    yield f"{_information([variant]).relative:.0%}"


def _information(variants: Sequence[Variant]) -> ErrorSummary:
    return summaries(variants)[INFORMATION]


def _distance_says(reconstructions: Sequence[Reconstruction]) -> str:
    known, unknown = ([one.variants[name] for one in reconstructions] for name in ("known", "unknown"))
    below = sum(variant.complete < PAPER for variant in known)
    independent = sum(variant.independent < PAPER for variant in known)
    worst = max(reconstructions, key=lambda one: one.histogram.complete)
    closer = sum(variant.complete < variant.sampled for variant in known)
    closer_views = sum(variant.complete < variant.sampled_views for variant in known)
    tables = len(reconstructions)
    return f"""\
With histograms and all views the distance is below {PAPER}, the value that the paper reports for its own tables, on
{below} of {tables} tables. The largest is {worst.histogram.complete:.3f} ({worst.name}), the mean {_mean(known):.3f}.
Without histograms the mean is {_mean(unknown):.3f}. Independence, which uses no view, is below the paper's value on
{independent} of {tables} tables with histograms. With histograms the reconstruction beats records drawn from the
histograms on {closer} tables, and records drawn within the finest view on {closer_views}."""


def _mean(variants: Sequence[Variant]) -> float:
    return float(np.mean([variant.complete for variant in variants]))


def _error_about() -> str:
    return f"""\
**Error of estimated deviations** is that of the unmasked attribute's utility, |rho_ref - rho_true|: the same for all
maskings of an attribute. {link(ERRORS, "A file")} has it by measure: mean signed error, mean absolute error, the latter
over the mean true utility, and how many bounds and intervals contain the truth."""


def _error_table(reconstructions: Sequence[Reconstruction]) -> tuple[list[str], list[list[str]]]:
    columns = ["measure", "histograms", "signed", "absolute", "relative", "bounds hold", "intervals hold"]
    rows = [
        [measure, name, *_errors(summary)]
        for name in ("known", "unknown")
        for measure, summary in summaries([one.variants[name] for one in reconstructions]).items()
    ]
    return columns, rows


def summaries(variants: Sequence[Variant]) -> dict[str, ErrorSummary]:
    """Summarise by measure the errors over the attributes of all tables."""

    def measure(error: UtilityError) -> str:
        return error.measure

    errors = sorted((error for variant in variants for error in variant.errors), key=measure)
    return {name: ErrorSummary.of(each) for name, each in groupby(errors, measure)}


def _errors(summary: ErrorSummary) -> Iterator[str]:
    yield f"{summary.signed:+.4g}"
    yield f"{summary.absolute:.4g}"
    yield f"{summary.relative:.1%}"
    yield f"{summary.bounds_held} of {summary.bounds}"
    yield f"{summary.intervals_held} of {summary.intervals}"


def _error_says(reconstructions: Sequence[Reconstruction]) -> str:
    known, unknown = ([one.variants[name] for one in reconstructions] for name in ("known", "unknown"))
    everything = [*summaries(known).values(), *summaries(unknown).values()]
    inside, intervals = sum(one.intervals_held for one in everything), sum(one.intervals for one in everything)
    held, bounds = _bounds_held(reconstructions)
    with_them, without = _information(known), _information(unknown)
    return f"""\
{held:,} of {bounds:,} bounds hold, and {inside:,} of {intervals:,} intervals. The mutual information of unmasked
attributes is off by {with_them.relative:.0%} with histograms and by {without.relative:.0%} without. The estimate is too
high for {with_them.above} of {with_them.attributes} attributes with histograms, and for {without.above} without. For
scale: the unmasked counts of a sample overstate the information by about (R - 1) (C - 1) / 2N nats, here
{_chance(reconstructions):.0%} of all their information, so part of what is missing is chance.

For {with_them.closed_form} of {with_them.attributes} attributes, all views together have a closed form: they nest, or
they are intervals. Only the others need the iterative solver."""


def _overlapping(reconstructions: Sequence[Reconstruction]) -> Iterator[str]:
    yield f"""\
**Views that overlap.** Here each attribute with {FEWEST} values or more has {VIEWS} views, each of which merges values
at random, about {MERGED} at a time, so references have to be iterated. What each hides, all together may reveal.
{link(OVERLAPPING, "A file")} has the distances of each table."""
    known, unknown = ([one.variants[name] for one in reconstructions] for name in ("known", "unknown"))
    with_them, without = _information(known), _information(unknown)
    held, bounds = _bounds_held(reconstructions)
    errors = [error for variant in (*known, *unknown) for error in variant.errors if error.measure == INFORMATION]
    yield f"""\
{with_them.attributes - with_them.closed_form} of {with_them.attributes} attributes have no closed form;
{sum(error.converged for error in errors)} of {len(errors)} references have converged. The mean distance is
{_mean(known):.3f} with histograms and {_mean(unknown):.3f} without. The mutual information of unmasked attributes is
off by {with_them.relative:.0%} and {without.relative:.0%}, and too high for {with_them.above} and {without.above}
attributes. Of the bounds, {held:,} of {bounds:,} hold."""


def _bounds_held(reconstructions: Sequence[Reconstruction]) -> tuple[int, int]:
    """Return how many bounds hold, and the number of bounds."""
    bounds = [error.bound for one in reconstructions for variant in one.variants.values() for error in variant.errors]
    return sum(bound is True for bound in bounds), sum(bound is not None for bound in bounds)


def _chance(reconstructions: Sequence[Reconstruction]) -> float:
    return sum(one.chance for one in reconstructions) / sum(
        error.true for one in reconstructions for error in _of_information(one)
    )


def _of_information(one: Reconstruction) -> list[UtilityError]:
    return [error for error in one.histogram.errors if error.measure == INFORMATION]


def _span(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


def plot(reconstructions: Sequence[Reconstruction]) -> Figure:
    """Plot distance against known views, a panel for each table."""
    columns = min(4, len(reconstructions))
    rows = -(-len(reconstructions) // columns)
    figure = Figure(figsize=(max(2.6 * columns, 7.5), 2.3 * rows + 1.2), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    for panel, one in zip(panels, reconstructions, strict=False):
        _draw(panel, one)
    for panel in panels[len(reconstructions) :]:
        panel.set_axis_off()
    figure.supylabel("distance to the true counts", fontsize="medium")
    figure.supxlabel("views known of each attribute (0: independence)", fontsize="medium")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=2, frameon=False, fontsize="small")
    return figure


def _draw(panel: Axes, one: Reconstruction) -> None:
    for colour, (name, variant) in zip(COLOURS, one.variants.items(), strict=False):
        known = np.arange(variant.coarse_first.size)
        lowest, highest = variant.by_views.min(axis=0), variant.by_views.max(axis=0)
        label = f"{'with' if name == 'known' else 'without'} histograms"
        mean = variant.by_views.mean(axis=0)
        panel.fill_between(known, lowest, highest, color=colour, alpha=0.2, linewidth=0)
        panel.plot(known, mean, color=colour, marker="o", markersize=3, label=f"{label}, random order")
        panel.plot(known, variant.coarse_first, color=colour, linestyle=":", label=f"{label}, coarsest first")
        panel.axhline(
            variant.sampled_views, color=colour, linestyle="-.", linewidth=0.8, label=f"{label}: sampling, finest view"
        )
    panel.set(title=one.name, ylim=(0, None))
    panel.xaxis.set_major_locator(whole_numbers())
