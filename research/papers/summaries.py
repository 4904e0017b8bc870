"""Sections 7.3 and 7.5 of the draft: two-dimensional, one-dimensional and no histograms, by three measures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from matplotlib.figure import Figure

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.evidence import DROP, IDENTITY, AttributeEvidence
from aegis_advisor.reconstruction import reconstruct
from research.evaluation.reconstruction_distances import Reconstruction, evidence_with, full_table, total_variation
from research.evaluation.utility_errors import UtilityError
from research.papers.accuracy import Accuracy, entrant, picked
from research.papers.page import linked, shown
from research.plots import COLOURS
from research.report import Section, figure_of, table
from research.study import Study
from research.training import MODELS

MEASURES: Mapping[str, str] = {"g3": "g3", "MI": "mutual_information", "chi-square": "chi_square"}
SUMMARIES: Mapping[str, str] = {"2D": "counts", "1D": "counts", "none": "no histograms"}
"""What is known of the unmasked attributes, and how the rankers call it; with 2D, their counts with the label."""

FIGURE = "summaries.svg"
EACH = "summaries.csv"


@dataclass(frozen=True, eq=False)
class Known:
    """What one measure does with one summary, on one table.

    Attributes:
        accuracy: that of the pick, as a mean over models and splits.
        own: the mean total variation distance, over the attributes, of the reconstruction from the pick's masked table
            alone, as in the paper; 0 with 2D, which needs none.
        error: the mean error of the attributes' estimated utilities over the mean true one.
    """

    accuracy: float
    own: float
    error: float


@dataclass(frozen=True, eq=False)
class Summaries:
    """All summaries of one table by all measures.

    Attributes:
        known: by measure and summary.
        pooled: the reconstructions from all masked tables together, as the product makes them.
    """

    study: Study
    known: Mapping[tuple[str, str], Known]
    pooled: Reconstruction

    @classmethod
    def of(cls, trained: Accuracy, orders: int) -> "Summaries":
        """Ask by every measure with every summary."""
        pooled = Reconstruction.of(trained.study, orders)
        known = {
            (measure, summary): _known(trained, pooled, measure, summary)
            for measure, summary in product(MEASURES, SUMMARIES)
        }
        return cls(trained.study, known, pooled)

    @cached_property
    def distances(self) -> Mapping[str, float]:
        """The mean distance by summary of the product's reconstruction."""
        return {"2D": 0.0, "1D": self.pooled.histogram.complete, "none": self.pooled.no_histogram.complete}

    def own(self, summary: str) -> float:
        """Return the mean distance, over the measures, of the reconstruction as published."""
        return float(np.mean([self.known[measure, summary].own for measure in MEASURES]))


def _known(trained: Accuracy, pooled: Reconstruction, measure: str, summary: str) -> Known:
    study = trained.study
    asked = study if summary != "2D" else _with_joint(study)
    pick = picked(asked, entrant(f"{MEASURES[measure]}, {SUMMARIES[summary]}"))
    accuracy = np.mean([trained.each(model) @ pick for model in MODELS])
    own = 0.0 if summary == "2D" else _own(study, int(pick.argmax()), histogram=summary == "1D")
    variant = pooled.no_histogram if summary == "none" else pooled.histogram
    error = 0.0 if summary == "2D" else _relative([one for one in variant.errors if one.measure == MEASURES[measure]])
    return Known(float(accuracy), own, error)


def _with_joint(study: Study) -> Study:
    known = zip(study.evidence, study.truths, strict=True)
    return replace(study, evidence=tuple(replace(one, joint=truth) for one, truth in known))


def _own(study: Study, configuration: int, *, histogram: bool) -> float:
    maskings = study.maskings(configuration)
    return float(
        np.mean(
            [
                own_distance(one, truth, masking, histogram=histogram)
                for one, truth, masking in zip(study.evidence, study.truths, maskings, strict=True)
            ]
        )
    )


def own_distance(evidence: AttributeEvidence, truth: IntArray, masking: str, *, histogram: bool) -> float:
    """Return the distance to the true counts (values, labels) of the reconstruction from one masked table alone."""
    if masking == IDENTITY:
        return 0.0
    known = evidence_with(evidence, [] if masking == DROP else [masking], histogram=histogram)
    return total_variation(full_table(reconstruct(known), known.histogram), truth)


def _relative(errors: Sequence[UtilityError]) -> float:
    true = np.mean([abs(one.true) for one in errors])
    return float(np.mean([abs(one.error) for one in errors]) / true)


def section(measured: Sequence[Summaries]) -> Section:
    """Make the section on summaries."""
    by_summary = [[summary, *(figure_of(value, 3) for value in _distances(measured, summary))] for summary in SUMMARIES]
    by_measure = [
        [measure, *(figure_of(_mean(measured, measure, summary, "accuracy"), 4) for summary in SUMMARIES)]
        + [f"{_mean(measured, measure, summary, 'error'):.0%}" for summary in list(SUMMARIES)[1:]]
        for measure in MEASURES
    ]
    text = f"""\
Total variation distance (half the sum of |P - Q|) of reconstructed counts to the true ones, a mean over attributes and
tables. With two-dimensional histograms (2D) nothing is reconstructed. **All views** is the product's reconstruction,
from all masked tables; **own** that of the paper, from the masked table of the picked configuration alone; **sampling**
draws records from the histograms, or within the finest view. {linked(EACH, "By table and measure")}.

{table(["known", "all views", "own: g3", "own: MI", "own: chi-square", "sampling", "in a view"], by_summary)}

{shown(FIGURE, "Total variation distance by table, with one-dimensional and no histograms")}

Accuracy of the pick, and the error of the estimated utilities over the true ones:

{table(["measure", *(f"accuracy, {each}" for each in SUMMARIES), "error, 1D", "error, none"], by_measure)}"""
    return Section(
        "003, sections 7.3 and 7.5: what summaries are worth",
        text,
        {FIGURE: plot(measured)},
        [_finding(measured)],
        details={EACH: _each(measured)},
    )


def _finding(measured: Sequence[Summaries]) -> str:
    at = {summary: np.mean([one.distances[summary] for one in measured]) for summary in SUMMARIES}
    own = {summary: np.mean([one.own(summary) for one in measured]) for summary in SUMMARIES}
    return (
        f"**Reconstruction**: the distance to the true counts is {at['1D']:.3f} with one-dimensional histograms and"
        f" {at['none']:.3f} with none; from the picked masked table alone, as published, {own['1D']:.3f} and"
        f" {own['none']:.3f}."
    )


def _distances(measured: Sequence[Summaries], summary: str) -> FloatArray:
    variants = [one.pooled.no_histogram if summary == "none" else one.pooled.histogram for one in measured]
    drawn = [[0.0, 0.0] if summary == "2D" else [one.sampled, one.sampled_views] for one in variants]
    own = [_mean(measured, measure, summary, "own") for measure in MEASURES]
    return np.array([np.mean([one.distances[summary] for one in measured]), *own, *np.mean(drawn, axis=0)])


def _mean(measured: Sequence[Summaries], measure: str, summary: str, figure: str) -> float:
    return float(np.mean([getattr(one.known[measure, summary], figure) for one in measured]))


def _each(measured: Sequence[Summaries]) -> list[list[str]]:
    rows = [["table", "measure", "known", "distance, all views", "distance, own", "accuracy of the pick", "error"]]
    for one in measured:
        for (measure, summary), known in one.known.items():
            figures = one.distances[summary], known.own, known.accuracy, known.error
            rows.append([one.study.name, measure, summary, *map(figure_of, figures)])
    return rows


def plot(measured: Sequence[Summaries]) -> Figure:
    """Plot bars for each table: the product's reconstruction, that as published, and sampling."""
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    for axes, summary in zip(figure.subplots(1, 2, sharey=True), list(SUMMARIES)[1:], strict=True):
        variants = [one.pooled.no_histogram if summary == "none" else one.pooled.histogram for one in measured]
        bars = {
            "all views": [one.distances[summary] for one in measured],
            "own": [one.own(summary) for one in measured],
            "sampling": [one.sampled for one in variants],
            "sampling in a view": [one.sampled_views for one in variants],
        }
        for place, (name, heights) in enumerate(bars.items()):
            axes.bar(np.arange(len(measured)) + 0.2 * place - 0.3, heights, 0.2, label=name, color=COLOURS[place])
        axes.set_xticks(range(len(measured)), [one.study.name for one in measured], rotation=30, ha="right", fontsize=8)
        axes.set_title("one-dimensional histograms" if summary == "1D" else "no histograms", fontsize=9)
        axes.tick_params(labelsize=8)
    figure.axes[0].set_ylabel("total variation distance", fontsize=8)
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=4, fontsize="small", frameon=False)
    return figure
