"""The section on independence masking: the ratio of masked values against every size, and the rules that are kept."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from aegis_provider.independence.clusters import quantile_clusters
from aegis_provider.independence.grouping import group
from research import real_tables
from research.papers.hiding import CONFIDENCE, KINDS, SUPPORT, Case, Hidden, hide
from research.papers.page import linked, shown
from research.plots import COLOURS, MARKERS
from research.report import Section, table
from research.rivals.maskings.tables import from_csv
from research.study import Table
from tests.provider.independence.example_1 import EXAMPLE_1

FIGURE, EACH = "masked-values.svg", "independence.csv"
SHORT = 600

AXES: Mapping[str, Sequence[int]] = {
    "clusters": (2, 3, 4, 6, 8, 12, 16),
    "attributes": (1, 2, 3, 4),
    "of": (1, 2, 3),
    "records": (1_000, 2_500, 5_000, 10_000, 20_000),
}
NAMES: Mapping[str, str] = {
    "clusters": "clusters (u)",
    "attributes": "attributes hidden (d)",
    "of": "attributes hidden from",
    "records": "records",
}
ADULT = (
    "age",
    "education",
    "marital_status",
    "occupation",
    "race",
    "sex",
    "hours_per_week",
    "relationship",
    "workclass",
)


def cases(adult: Path | None, *, short: bool) -> Iterator[Case]:
    """Yield what is hidden from what: in the example illness from costs, in Adult race and sex from working hours."""
    health = real_tables.health_table()
    hidden = "physical_limitation", "chronic_diseases", "visits", "deductible_plan"
    yield Case(
        health, hidden, ("coinsurance", "max_expenditure", "incentive_payment"), records=SHORT if short else 20_000
    )
    if adult is not None:
        census = from_csv(adult / "adult.csv", "Adult", "income", ADULT)
        yield Case(census, ("race", "sex", "marital_status", "occupation"), ("hours_per_week", "education", "age"))


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured of one table: by axis, the results in the order of its sizes."""

    name: str
    by_axis: Mapping[str, Sequence[Hidden]]

    @classmethod
    def of(cls, case: Case, *, short: bool) -> "Measured":
        """Vary one size at a time; the short form takes the first two of each and no records."""
        axes = {axis: sizes[:2] for axis, sizes in AXES.items() if axis != "records"} if short else AXES
        by_axis = {axis: [hide(case.at(axis, size)) for size in sizes] for axis, sizes in axes.items()}
        return cls(case.table.name, by_axis)

    @property
    def every(self) -> list[Hidden]:
        """All results; that of the sizes that all axes share counts once."""
        found = [one for line in self.by_axis.values() for one in line]
        return list({tuple(getattr(one.case, axis) for axis in AXES): one for one in found}.values())

    def rises(self, axis: str) -> bool:
        """Whether the clusters never say less of the attributes that stay as the axis grows."""
        return all(after.told >= before.told for before, after in pairwise(self.by_axis[axis]))


def example_stars() -> int:
    """Return the stars that the paper's example 1 needs: the product's, with three clusters."""
    rows = [line.split(",")[:3] for line in EXAMPLE_1.splitlines()[1:] if line.count(",") >= 3]
    ages, occupations, incomes = zip(*rows, strict=True)
    codes = np.stack([np.unique(column, return_inverse=True)[1] for column in (ages, occupations)], axis=1)
    random = np.random.default_rng(0)
    clusters = quantile_clusters(np.array(incomes, dtype=np.float64), 3, random)
    return group(codes, clusters, "best", random).stars


def worst_ratio(records: int = 60, clusters: int = 3) -> float:
    """Return the share of masked values where the hidden attribute is the cluster itself: nothing can stay."""
    numbers = np.arange(records) % clusters
    return group(numbers[:, np.newaxis], numbers, "best", np.random.default_rng(0)).stars / records


def joined(read: Table, case: Case) -> float:
    """Return the share of records that joining two tables restores for certain: those alone with their C."""
    stays = np.stack([*(read.columns[name] for name in case.others), read.label], axis=1)
    _, counts = np.unique(stays, axis=0, return_counts=True)
    return float(np.sum(counts == 1) / read.records)


def kept_share(rules: Hidden, kind: str) -> float:
    """Return the share of the rules of a kind that are kept; 1 if there was none."""
    of = rules.rules[kind]
    return of.kept / of.before if of.before else 1.0


def section(measured: Sequence[Measured]) -> Section:
    """Make the section on independence masking."""
    rows = [
        [one.name, str(each.case.clusters), f"{each.ratio:.1%}", *(f"{kept_share(each, kind):.0%}" for kind in KINDS)]
        for one in measured
        for each in one.by_axis["clusters"]
        if each.case.clusters in {2, 4, 8, 16}
    ]
    text = f"""\
The note promises an experiment that only its full version has. Here
[`aegis independence`](../../docs/independence.md) hides the first attributes of a table (A) from others (B), which
become u clusters; all others stay (C). The note's u is the number of clusters, so these two are one axis. Default: two
attributes, from one, u = 4, at most 20,000 records. {linked(EACH, "All figures")}.

{shown(FIGURE, "Share of masked values against clusters, attributes hidden, attributes hidden from, and records")}

**Rules kept**: those with one or two items before and one after, a support of {SUPPORT:g}, a confidence of
{CONFIDENCE:g} and a lift above 1, that are rules of the masked table as well. A star is no item, and B is its cluster.

{table(["table", "u", "masked", *(f"kept: {kind}" for kind in KINDS)], rows)}"""
    return Section(
        "001: independence masking",
        text,
        {FIGURE: plot(measured)},
        [_finding(measured)],
        details={EACH: _each(measured)},
    )


def _finding(measured: Sequence[Measured]) -> str:
    parts = [
        f"{one.name} {line[0].ratio:.0%} with {line[0].case.clusters} clusters to {line[-1].ratio:.0%} with"
        f" {line[-1].case.clusters}, which keeps {kept_share(line[0], 'AC'):.0%} to {kept_share(line[-1], 'AC'):.0%} of"
        " the rules with those that stay"
        for one in measured
        for line in [one.by_axis["clusters"]]
    ]
    return f"**Independence masking** masks, of the hidden values: {'; '.join(parts)}."


def _each(measured: Sequence[Measured]) -> list[list[str]]:
    counted = [f"{kind} {name}" for kind in KINDS for name in ("before", "kept", "new")]
    solvers = list(measured[0].every[0].stars)
    rows = [
        ["table", "axis", *AXES, "masked", *(f"stars, {each}" for each in solvers), "lower bound", "bits", *counted]
    ]
    for one in measured:
        for axis, hidden in [(axis, hidden) for axis, line in one.by_axis.items() for hidden in line]:
            sizes = [str(getattr(hidden.case, name)) for name in AXES]
            rules = [str(number) for kind in KINDS for number in hidden.rules[kind]]
            stars = [str(number) for number in hidden.stars.values()]
            rows.append(
                [one.name, axis, *sizes, f"{hidden.ratio:.4f}", *stars, str(hidden.bound), f"{hidden.told:.4f}", *rules]
            )
    return rows


def plot(measured: Sequence[Measured]) -> Figure:
    """Plot the share of masked values against each axis, with the lower bound; below, the rules kept against u."""
    axes_of = list(measured[0].by_axis)
    figure = Figure(figsize=(8.4, 5), layout="constrained")
    grid = figure.subplots(2, len(axes_of), squeeze=False)
    for column, axis in enumerate(axes_of):
        for place, one in enumerate(measured):
            sizes = [getattr(each.case, axis) for each in one.by_axis[axis]]
            values = [each.case.records * each.case.attributes for each in one.by_axis[axis]]
            bounds = [each.bound / many for each, many in zip(one.by_axis[axis], values, strict=True)]
            ratios = [each.ratio for each in one.by_axis[axis]]
            grid[0][column].plot(
                sizes, ratios, color=COLOURS[place], marker=MARKERS[place], markersize=4, label=one.name
            )
            grid[0][column].plot(sizes, bounds, color=COLOURS[place], linestyle=":", label=f"{one.name}, lower bound")
            kept = [kept_share(each, "AC") for each in one.by_axis[axis]]
            grid[1][column].plot(sizes, kept, color=COLOURS[place], marker=MARKERS[place], markersize=4)
        grid[1][column].set_xlabel(NAMES[axis], fontsize=8)
        sizes = sorted({getattr(each.case, axis) for one in measured for each in one.by_axis[axis]})
        for line in grid[:, column]:
            line.set_ylim(0, 1)
            line.set_xscale("log" if axis == "records" else "linear")
            line.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=40 if axis == "records" else 0)
            line.minorticks_off()
            line.tick_params(labelsize=7)
    grid[0][0].set_ylabel("share of values masked", fontsize=8)
    grid[1][0].set_ylabel("rules between A and C kept", fontsize=8)
    handles, names = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=4, fontsize="small", frameon=False)
    return figure
