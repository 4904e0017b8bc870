"""Figure 4, right: trained on the original against trained on the release."""

from collections.abc import Iterator, Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from aegis_provider.check import Interval
from aegis_provider.synth.fidelity import ModelValue
from research.generation import releases
from research.generation.drawing import RELEASES, STYLES, errors, legend, limits, listed, sentence
from research.generation.measured import Measured
from research.report import Section, image, table

FIGURE: Final = "generation-beside-original.svg"
PAPER_MODEL: Final = "logistic regression"
FILLS: Final = {"logistic regression": "full", "random forest": "none", "gradient boosting": "top"}

ABOUT: Final = """\
Each point is a model trained on the original (x) and on the release (y), tested on held-out real records. Filled points
are logistic regression, as in the paper; empty ones random forest, half-filled ones gradient boosting. **The paper
claims** that its approach is better than k-anonymity with k = 5, t-closeness with t = 0.01, and (1, 1e-6)-differential
privacy (here `mbi`). Their promises differ: k and t are about classes of records, epsilon about whatever an attacker
may learn (apart from the choice of levels), and the paper's approach promises nothing."""


def section(results: Sequence[Measured]) -> Section:
    """Return the section, with a row of two panels for each table."""
    figure = Figure(figsize=(9.2, 4.4 * len(results) + 0.4), layout="constrained")
    grid = figure.subplots(len(results), 2, squeeze=False)
    for line, each in zip(grid, results, strict=True):
        for axes, metric in zip(line, ("AUC", "accuracy"), strict=True):
            _draw(axes, each, metric)
    legend(figure, grid[0][0], 4)
    parts = [ABOUT, image(FIGURE, "Metric of a model trained on the release against trained on the original")]
    parts += [f"**{each.table.name}, AUC and how the release was made:**\n\n{_table(each)}" for each in results]
    findings = [_finding(each) for each in results]
    return Section("Figure 4, right: releases beside the original", "\n\n".join(parts), {FIGURE: figure}, findings)


def both(model: ModelValue, metric: str) -> tuple[Interval, Interval]:
    """Return the metric trained on the original, and trained on the release."""
    return (model.real_auc, model.auc) if metric == "AUC" else (model.real_accuracy, model.accuracy)


def _draw(axes: Axes, one: Measured, metric: str) -> None:
    for name in RELEASES:
        for model in one.fidelity[name].models if name in one.fidelity else ():
            x, y = both(model, metric)
            label = name if model.model == PAPER_MODEL else None
            axes.errorbar(
                x.value,
                y.value,
                errors([y]),
                errors([x]),
                label=label,
                elinewidth=0.5,
                markersize=5,
                fillstyle=FILLS[model.model],
                linestyle="none",
                **STYLES[name],
            )
    low = min(axes.get_xlim()[0], axes.get_ylim()[0])
    high = max(axes.get_xlim()[1], axes.get_ylim()[1])
    axes.plot([low, high], [low, high], color="black", linewidth=0.8)
    axes.set_xlabel(f"{metric}, trained on the original")
    axes.set_ylabel(f"{metric}, trained on the release")
    axes.set_title(one.table.name, fontsize=10)


def _table(one: Measured) -> str:
    names = [each.model for each in one.fidelity[releases.PRIVACY].models]
    return table(("release", *names, "how it was made"), [list(_row(one, name)) for name in RELEASES])


def _row(one: Measured, name: str) -> Iterator[str]:
    yield name
    if name == releases.ORIGINAL:
        yield from (limits(each.real_auc) for each in one.fidelity[releases.PRIVACY].models)
    elif name in one.fidelity:
        yield from (limits(each.auc) for each in one.fidelity[name].models)
    else:
        yield from ["-"] * len(one.fidelity[releases.PRIVACY].models)
    release = one.releases[name]
    among = f"; the best of {len(release.looks)} models" if len(release.looks) > 1 else ""
    yield f"{release.about}{among}"


def _finding(one: Measured) -> str:
    aucs = {
        name: next(each.auc for each in fidelity.models if each.model == PAPER_MODEL)
        for name, fidelity in one.fidelity.items()
    }
    ours = aucs[releases.BOTH]
    rivals = [name for name in releases.RIVALS if name in aucs]
    above = [name for name in rivals if ours.low > aucs[name].high]
    below = [name for name in rivals if ours.high < aucs[name].low]
    said = ", ".join(f"{name} {aucs[name].value:.3f}" for name in (releases.BOTH, *rivals))
    return sentence(f"""\
        **Beside its rivals** ({one.table.name}, AUC of {PAPER_MODEL}, trained on the original
        {_original(one).value:.3f}): {said}. The release with both knobs is certainly better than
        {listed(above) if above else "none of them"} and certainly worse than
        {listed(below) if below else "none of them"}.""")


def _original(one: Measured) -> Interval:
    return next(each.real_auc for each in one.fidelity[releases.BOTH].models if each.model == PAPER_MODEL)
