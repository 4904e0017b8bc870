"""Figure 2, left: attribute disclosure."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from matplotlib.axes import Axes

from aegis_provider.synth.attacks.attack import Outcome
from research.generation import releases
from research.generation.drawing import RELEASES, STYLES, errors, legend, limits, listed, panels, sentence
from research.generation.measured import Measured
from research.report import Section, image, table

FIGURE: Final = "generation-disclosure.svg"
DRAWN: Final = (releases.ORIGINAL, releases.UNCONSTRAINED, releases.PRIVACY)
SHOWN_K: Final = 5
WIDTH: Final = 0.22

ABOUT: Final = """\
Someone knows all quasi-identifiers of a person, takes the k nearest released records, and guesses the secret value that
most of these have (at most 1,000 persons whom the release was made of). **Precision** and **recall** are averaged over
the values.

**The paper claims** that from generated data "an adversary can't perform better than a random guess", and shows
precision without a baseline. *Always the most frequent value* and *each value equally often* need no release, and have
the same recall. A high accuracy proves nothing."""


def section(results: Sequence[Measured]) -> Section:
    """Return the section, with a panel for each table."""
    figure, grid = panels(results)
    for axes, each in zip(grid, results, strict=True):
        _draw(axes, each)
    legend(figure, grid[0], 4)
    parts = [
        ABOUT,
        image(FIGURE, f"Precision and recall of guesses from the {SHOWN_K} nearest released records"),
        *(f"**{each.table.name}, {each.table.secret}, k = {SHOWN_K}:**\n\n{_table(each)}" for each in results),
        *(f"**{each.table.name}, recall for k from 1 to 10:**\n\n{_by_k(each)}" for each in results),
    ]
    findings = [_finding(each) for each in results]
    return Section("Figure 2, left: attribute disclosure", "\n\n".join(parts), {FIGURE: figure}, findings)


def at(outcomes: Sequence[Outcome], k: int = SHOWN_K) -> Outcome:
    """Return the outcome for k."""
    return outcomes[k - 1]


def _draw(axes: Axes, one: Measured) -> None:
    for place, name in enumerate(DRAWN):
        outcome = at(one.disclosed[name])
        middles = np.arange(2) + (place - 1) * WIDTH
        heights = [outcome.details["precision"], outcome.success.value]
        axes.bar(middles, heights, WIDTH, color=STYLES[name]["color"], label=name)
        axes.errorbar(middles[1:], heights[1:], errors([outcome.success]), color="black", linewidth=1, linestyle="none")
    details = at(one.disclosed[releases.ORIGINAL]).details
    for height, style, label in (
        (details["balanced"], "--", "each value equally often"),
        (details["majority_accuracy"], ":", "accuracy of the most frequent value"),
    ):
        axes.axhline(height, color="black", linewidth=0.9, linestyle=style, label=label)
    axes.set_xticks(range(2), ["precision", "recall"])
    axes.set_ylim(0, 1)
    axes.set_ylabel(f"guesses of {one.table.secret}")


def _table(one: Measured) -> str:
    columns = ("release", "precision", "recall", "recall on held-out persons", "accuracy")
    details = at(one.disclosed[releases.ORIGINAL]).details
    majority, balanced = details["majority_accuracy"], details["balanced"]
    rows = [list(_row(name, at(one.disclosed[name]))) for name in RELEASES if one.disclosed.get(name)]
    rows.append(
        ["always the most frequent", f"{details['majority_precision']:.3f}", f"{balanced:.3f}", "", f"{majority:.3f}"]
    )
    rows.append(["each value equally often", f"{balanced:.3f}", f"{balanced:.3f}", "", f"{balanced:.3f}"])
    return table(columns, rows)


def _row(name: str, outcome: Outcome) -> Iterator[str]:
    yield name
    yield f"{outcome.details['precision']:.3f}"
    yield limits(outcome.success)
    yield "-" if outcome.held_out is None else limits(outcome.held_out)
    yield f"{outcome.details['accuracy']:.3f}"


def _by_k(one: Measured) -> str:
    ks = range(1, len(one.disclosed[releases.ORIGINAL]) + 1)
    rows = [
        [name, *(f"{at(outcomes, k).success.value:.3f}" for k in ks)]
        for name in RELEASES
        if (outcomes := one.disclosed.get(name))
    ]
    return table(["release", *(f"k = {k}" for k in ks)], rows)


def _finding(one: Measured) -> str:
    outcomes = {name: at(one.disclosed[name]) for name in DRAWN}
    recall = {name: limits(each.success) for name, each in outcomes.items()}
    details = outcomes[releases.PRIVACY].details
    better = [f"*{name}*" for name, each in outcomes.items() if each.success.low > details["balanced"]]
    return sentence(f"""\
        **Attribute disclosure** ({one.table.name}, {one.table.secret}): the recall of the attack is
        {recall[releases.ORIGINAL]} from the records themselves, {recall[releases.UNCONSTRAINED]} from the unconstrained
        release and {recall[releases.PRIVACY]} from the privacy-aware one; a guess without a release reaches
        {details["balanced"]:.3f}. Of these three it is certainly better than a guess from
        {listed(better) if better else "none"}.""")
