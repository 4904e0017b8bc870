"""The page: seconds and megabytes by size, the order in which they grow, a plot and all measurements."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, NullLocator

from research.evaluation.choosing_costs import INFORMATION, JOINT
from research.evaluation.large_tables import LABELS, Size
from research.evaluation.sections.costs import duration
from research.plots import COLOURS
from research.report import NO_METADATA, REPRODUCIBLE, table
from research.scaling.costs import Spent
from research.scaling.growth import exponent, last_exponent

PROVIDER, SERVICE = "counting", "joint, service"
ADVISOR = {INFORMATION: "mutual information", JOINT: "joint"}
PARTS = (PROVIDER, *ADVISOR.values(), SERVICE)
WORDS = {"values": "domain size"}
"""What an axis is called if not by the member of `Size`."""
CLAIMED = ("attributes", "configurations", "records")
"""The axes of the paper's claim."""


class Measurement(NamedTuple):
    """What a part took at a size; `axis`: the member of `Size` that grows."""

    axis: str
    size: int
    part: str
    spent: Spent


def write(measured: Sequence[Measurement], base: Size, cores: int, path: Path) -> None:
    """Write the page, and beside it, by its name, the plot (.svg) and the measurements (.csv)."""
    path.write_text("\n\n".join(_parts(measured, base, cores, path)) + "\n", encoding="utf-8")
    with rc_context(REPRODUCIBLE):
        plot(measured).savefig(path.with_suffix(".svg"), format="svg", metadata=NO_METADATA)
    with path.with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["axis", "size", "part", "seconds", "megabytes"])
        for each in measured:
            rows.writerow([each.axis, each.size, each.part, f"{each.spent.seconds:.4f}", f"{each.spent.megabytes:.1f}"])


def _parts(measured: Sequence[Measurement], base: Size, cores: int, path: Path) -> Iterator[str]:
    sizes = f"{base.records:,} records, {base.attributes} attributes of about {base.values} values"
    yield f"""\
# How advice grows

`python -m research.scaling` (after `make research`) writes this page. Tables are made up, as for [what it costs to
choose](evaluation.md): unless stated otherwise, {sizes},
{base.configurations} configurations and {LABELS} classes. Each attribute has four maskings and may be dropped. The
machine has {cores} cores, and others used it.

* **{PROVIDER}**: the provider counts the table with its pairs (`aegis summarize`), in CPU seconds.
* **{ADVISOR[INFORMATION]}** and **{ADVISOR[JOINT]}**: the advisor reconstructs every attribute and answers a question
  by this measure, in CPU seconds of one thread. It never sees a record.
* **{SERVICE}**: the same over HTTP, in seconds of the clock: from the end of publishing until the answer has
  arrived, with queue, database and child processes. It was asked once.

Megabytes are those by which the process has grown at most, with the counts; for the service, what its largest process
had at most."""
    yield f"![Seconds and megabytes against the four axes, both on logarithmic scales]({path.with_suffix('.svg').name})"
    yield f"[All measurements]({path.with_suffix('.csv').name})"
    yield "## The order"
    yield _about_orders()
    yield table(("axis", "part", "seconds", "at the end", "megabytes", "at the end"), list(_orders(measured)))
    yield _about_claim(measured)
    columns = [word for part in PARTS for word in (part, "MB")]
    for axis in dict.fromkeys(each.axis for each in measured):
        yield f"## By {_called(axis)}"
        yield table((_called(axis), *columns), _rows(measured, axis))


def _about_orders() -> str:
    return """\
The exponent `b` of `cost = a size^b`, by least squares in logarithms over the whole axis, with its 95 % interval, and
*at the end*, between the two largest sizes: a fixed cost hides growth at the beginning. 1 is linear."""


def _about_claim(measured: Sequence[Measurement]) -> str:
    def said(part: str) -> str:
        axes = [axis for axis in CLAIMED if any(each.axis == axis for each in measured)]
        orders = {axis: last_exponent(*_costs(measured, axis, part, "seconds")) for axis in axes}
        return ", ".join(f"{order:.2f} with {axis}" for axis, order in orders.items())

    by_information, by_joint = map(said, ADVISOR.values())
    return f"""\
Paper 000 (section 5) claims that its time grows nearly linearly, whichever of attributes, configurations and records
there are more of. At the end of an axis, advice by {ADVISOR[INFORMATION]}, which looks at each attribute alone as the
paper's measures do, grows by the exponents {by_information}.
By {ADVISOR[JOINT]}, which takes every pair of attributes: {by_joint}."""


def _costs(measured: Sequence[Measurement], axis: str, part: str, unit: str) -> tuple[list[int], list[float]]:
    """Return the sizes, and what the part took at each, at least a thousandth, since logarithms are taken."""
    of = [each for each in measured if (each.axis, each.part) == (axis, part)]
    return [each.size for each in of], [max(getattr(each.spent, unit), 1e-3) for each in of]


def _orders(measured: Sequence[Measurement]) -> Iterator[list[str]]:
    for axis in dict.fromkeys(each.axis for each in measured):
        for part in PARTS:
            series = [_costs(measured, axis, part, unit) for unit in Spent._fields]
            orders = [(str(exponent(*each)), f"{last_exponent(*each):.2f}") for each in series]
            yield [_called(axis), part, *(cell for pair in orders for cell in pair)]


def _rows(measured: Sequence[Measurement], axis: str) -> list[list[str]]:
    by_size: dict[int, dict[str, list[Spent]]] = {}
    for each in measured:
        if each.axis == axis:
            by_size.setdefault(each.size, {}).setdefault(each.part, []).append(each.spent)
    return [[f"{size:,}", *_cells(found)] for size, found in by_size.items()]


def _cells(found: Mapping[str, Sequence[Spent]]) -> Iterator[str]:
    for part in PARTS:
        spent = found.get(part)
        yield duration(median(each.seconds for each in spent)) if spent else ""
        yield f"{median(each.megabytes for each in spent):.0f}" if spent else ""


def plot(measured: Sequence[Measurement]) -> Figure:
    """Plot seconds above megabytes, a column for each axis, everything logarithmic."""
    axes = list(dict.fromkeys(each.axis for each in measured))
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    panels = figure.subplots(2, len(axes), sharey="row", sharex="col", squeeze=False)
    for row, unit in zip(panels, Spent._fields, strict=True):
        row[0].set_ylabel(unit)
        for panel, axis in zip(row, axes, strict=True):
            _draw(panel, [each for each in measured if each.axis == axis], unit)
    for panel, axis in zip(panels[-1], axes, strict=True):
        panel.set_xlabel(_called(axis))
    handles, names = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=3, frameon=False, fontsize="small")
    return figure


def _draw(panel: Axes, measured: Sequence[Measurement], unit: str) -> None:
    sizes = sorted({each.size for each in measured})
    for place, part in enumerate(PARTS):
        points = [
            (size, median(getattr(each.spent, unit) for each in measured if (each.part, each.size) == (part, size)))
            for size in sizes
            if any((each.part, each.size) == (part, size) for each in measured)
        ]
        panel.plot(*zip(*points, strict=True), color=COLOURS[place], marker="o", markersize=3, label=part)
    panel.set(xscale="log", yscale="log")
    panel.set_xticks(sizes)
    panel.xaxis.set_major_formatter(EngFormatter(sep=""))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.grid(alpha=0.3)


def _called(axis: str) -> str:
    return WORDS.get(axis, axis)
