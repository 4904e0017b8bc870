"""The section on cost: how long it takes to choose a configuration as tables and choices grow."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, NullLocator

from research.evaluation.choosing_costs import MOST_TRAINED, Costs, extrapolated, measure_costs
from research.evaluation.large_tables import LABELS, WIDTHS, Size
from research.plots import COLOURS
from research.report import Section, image, table
from research.training import ITERATIONS

FIGURE = "cost.svg"
BASE = Size()
SHORT_BASE = Size(attributes=2, configurations=4, records=400)
#: The sizes of each quantity that grows; all other quantities are as in `BASE`.
GROWING: Mapping[str, Sequence[int]] = {
    "attributes": (4, 8, 16, 32, 64),
    "configurations": (10, 100, 1_000, 10_000),
    "records": (10**4, 10**5, 10**6, 10**7),
}
SHORT: Mapping[str, Sequence[int]] = {"attributes": (2, 3), "records": (200, 400)}
RECORDS = "records"
SLACK = 0.1
"""Times this close, relative to each other, are reported as equal."""

ONE_RUN = "In the one run that this page reports,"
"""The beginning of the sentence that differs from run to run."""

#: The columns of the tables after the first one, which has the sizes of the quantity that grows.
COLUMNS = (
    *("summary", "references", "question", "summary with pairs", "joint question"),
    *("Mascara", "sampling", "training", "Mascara / advice", "sampling / advice", "training / advice"),
)

Series = Mapping[str, Sequence[Costs]]
"""The costs at growing sizes, by the name of the quantity that grows."""

#: The costs that the plot shows, in the order of the legend.
LINES: Mapping[str, Callable[[Costs], float | None]] = {
    "exhaustive training": lambda one: one.training,
    "sampling": lambda one: one.sampling,
    "advice, first of an entry": lambda one: one.advice,
    "joint advice, first of an entry": lambda one: one.joint_advice,
    "Mascara": lambda one: one.mascara,
    "summary, at the provider": lambda one: one.summary,
}


def section(*, short: bool) -> Section:
    """Make the section. Its figures are measured now and differ by run. In the short form all sizes are tiny."""
    base, growing = (SHORT_BASE, SHORT) if short else (BASE, GROWING)
    series = {name: _measured(base, name, sizes) for name, sizes in growing.items()}
    parts = [_about(base), *(_growth(name, costs) for name, costs in series.items()), _says(series)]
    return Section("What it costs to choose", "\n\n".join(parts), {FIGURE: plot(series)}, [_finding(series)])


def _measured(base: Size, name: str, sizes: Sequence[int]) -> list[Costs]:
    costs = measure_costs([replace(base, **{name: size}) for size in sizes])
    return extrapolated(costs) if name == RECORDS else costs


def _about(base: Size) -> str:
    widths = ", ".join(map(str, WIDTHS))
    return f"""\
All measured in **one run** on one machine; ratios vary less than times. Tables are made up, with about 100 values per
attribute, each masked in intervals of {widths} values or dropped, and {LABELS} classes. Unless stated otherwise,
they have {base.attributes} attributes, {base.configurations:,} configurations and {base.records:,} records.
Everything runs in one thread (DuckDB uses one per core). Times are medians where there was time for more than one
measurement.

* **Summary**: the provider counts its table, once for all questions (`aegis summarize` of a Parquet file, by DuckDB).
* **References**, computed once for each version, and a **question** by mutual information: the service's part. *Advice*
  is both together.
* **Joint**: the question by the joint measure, and the summary if it counts pairs as well.
* **Training**: one logistic regression ({ITERATIONS} iterations at most) on half of the masked table for every
  configuration, the minimum that exhaustive training can do. One to three configurations are trained, and their median
  is multiplied by the number of configurations. Above {MOST_TRAINED:,} records nothing is trained: those times are
  **extrapolated** along a straight line and marked with an asterisk.

{image(FIGURE, "Seconds against attributes, configurations and records, both on logarithmic scales")}"""


def _growth(name: str, costs: Sequence[Costs]) -> str:
    rows = [[f"{getattr(one.size, name):,}", *_cells(one)] for one in costs]
    return f"As the number of **{name}** grows:\n\n{table([name, *COLUMNS], rows)}"


def _cells(one: Costs) -> Iterator[str]:
    mark = r"\*" if one.extrapolated else ""
    yield from map(duration, (one.summary, one.references, one.question, one.pair_summary, one.joint))
    yield from map(duration, (one.mascara, one.sampling))
    yield f"{duration(_training(one))}{mark}"
    yield from (ratio(each / one.advice) for each in (one.mascara, one.sampling))
    yield f"{ratio(_training(one) / one.advice)}{mark}"


def _training(one: Costs) -> float:
    if one.training is None:
        raise ValueError("the training time was neither measured nor extrapolated")
    return one.training


def _says(series: Series) -> str:
    everything = [one for costs in series.values() for one in costs]
    fewest, most = series[RECORDS][0], series[RECORDS][-1]
    low, high = map(ratio, _saved(series, lambda one: one.advice))
    joint_low, joint_high = map(ratio, _saved(series, lambda one: one.joint_advice))
    return f"""\
Where both were measured, exhaustive training takes {low} to {high} times as long as advice by mutual information, and
{joint_low} to {joint_high} times as long as joint advice. With
{ratio(most.size.records / fewest.size.records)} times as many records the service's part takes
{as_long(most.advice / fewest.advice)}: it never sees a record. The provider's summary takes
{as_long(most.summary / fewest.summary)} ({duration(most.summary)} for {most.size.records:,} records), and
sampling {as_long(most.sampling / fewest.sampling)}. Mascara takes {_span(everything)} of the time of advice: it has
nothing to reconstruct, and ignores the label."""


def _finding(series: Series) -> str:
    low, high = map(ratio, _saved(series, lambda one: one.joint_advice))
    fewest, most = series[RECORDS][0], series[RECORDS][-1]
    return (
        f"{ONE_RUN} training on every configuration takes {low} to {high} times as long as advice by `joint`. With"
        f" {most.size.records:,} records instead of {fewest.size.records:,}, advice takes"
        f" {as_long(most.joint_advice / fewest.joint_advice)}."
    )


def _saved(series: Series, advice: Callable[[Costs], float]) -> tuple[float, float]:
    """Return the smallest and largest ratio of training to advice, where both were measured."""
    everything = [one for costs in series.values() for one in costs if not one.extrapolated]
    ratios = [_training(one) / advice(one) for one in everything]
    return min(ratios), max(ratios)


def _span(costs: Sequence[Costs]) -> str:
    shares = [one.mascara / one.advice for one in costs]
    return f"{ratio(min(shares))} to {ratio(max(shares))}"


def duration(seconds: float) -> str:
    """Format seconds to two significant digits, in a suitable unit."""
    for unit, length in (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0), ("s", 1.0)):
        if seconds >= 2 * length or (unit == "s" and seconds >= 1):
            return f"{ratio(seconds / length)} {unit}"
    return f"{ratio(seconds * 1e3)} ms"


def as_long(times: float) -> str:
    """Describe a ratio of times, to be read after "takes"; a tenth more or less counts as equal."""
    return "no longer" if 1 - SLACK <= times <= 1 + SLACK else f"{ratio(times)} times as long"


def ratio(number: float) -> str:
    """Format a positive number to two significant digits, without an exponent."""
    return f"{float(f'{number:.2g}'):,.10g}" if number < 1e3 else f"{float(f'{number:.2g}'):,.0f}"


def plot(series: Series) -> Figure:
    """Plot seconds against size, a panel for each way of growing, both axes logarithmic."""
    figure = Figure(figsize=(10.5, 4.2), layout="constrained")
    panels = figure.subplots(1, len(series), sharey=True)
    for panel, (name, costs) in zip(panels, series.items(), strict=True):
        _draw(panel, name, costs)
    panels[0].set_ylabel("seconds")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=3, frameon=False, fontsize="small")
    return figure


def _draw(panel: Axes, name: str, costs: Sequence[Costs]) -> None:
    for place, (label, value) in enumerate(LINES.items()):
        known = [(getattr(one.size, name), seconds) for one in costs if (seconds := value(one)) is not None]
        if known:
            panel.plot(*zip(*known, strict=True), color=COLOURS[place], marker="o", markersize=3, label=label)
    guessed = [(getattr(one.size, name), one.training or 0.0) for one in costs if one.extrapolated]
    if guessed:
        panel.plot(*zip(*guessed, strict=True), "o", color="white", markersize=2, zorder=3)
        panel.text(*guessed[-1], "extrapolated  ", ha="right", va="bottom", fontsize="small")
    panel.set(xscale="log", yscale="log", xlabel=name)
    panel.set_xticks([getattr(one.size, name) for one in costs])
    panel.xaxis.set_major_formatter(EngFormatter(sep=""))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.grid(alpha=0.3)
