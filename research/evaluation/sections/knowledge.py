"""The section on the cost of knowing less."""

from collections.abc import Sequence

import numpy as np

from aegis_advisor.arrays import IntArray
from aegis_advisor.measures import MEASURES
from research.evaluation.outcomes import Outcome, mean_loss
from research.evaluation.rankers import KNOWLEDGE, RANKING, named
from research.report import Section, figure_of, table


def section(outcomes: Sequence[Outcome]) -> Section:
    """Make the section: loss and order by measure and knowledge, over all tables."""
    unmoved = _unmoved(outcomes)
    text = f"""
Mean AUC lost / mean Spearman correlation over all tables, by what the provider publishes.

{table(["measure", *KNOWLEDGE.values()], [_row(measure.id, outcomes) for measure in RANKING])}

"Half" means that half of every attribute's maskings have joint counts; of the others only the mapping is known. If all
are counted, the order of a monotone measure does not depend on the histograms. This theorem of
[the model](../../docs/model.md) is confirmed here in {unmoved}.
"""
    finding = f"The order by a monotone measure is the same with and without histograms in {unmoved}. {_half(outcomes)}"
    return Section("What it costs to know less", text, findings=[finding])


def _row(measure: str, outcomes: Sequence[Outcome]) -> list[str]:
    return [named(measure), *(_cell(f"{measure}, {knowledge}", outcomes) for knowledge in KNOWLEDGE)]


def _cell(entrant: str, outcomes: Sequence[Outcome]) -> str:
    if entrant not in outcomes[0].by_id:
        return "-"
    effects = [each.by_id[entrant] for each in outcomes]
    loss = np.mean([effect.loss().mean() for effect in effects])
    return f"{figure_of(loss)} / {figure_of(np.mean([effect.spearman().mean for effect in effects]), 2)}"


def _order(outcome: Outcome, entrant: str) -> IntArray:
    order = outcome.by_id[entrant].scores.order
    if order is None:
        raise AssertionError("a ranking by our measures breaks its ties")
    return order


def _unmoved(outcomes: Sequence[Outcome]) -> str:
    """Count the cases (tables and monotone measures) with the same order with and without histograms."""
    same = [
        np.array_equal(_order(each, f"{name}, counts"), _order(each, f"{name}, no histograms"))
        for each in outcomes
        for name, measure in MEASURES.items()
        if measure.monotone and f"{name}, no histograms" in each.by_id
    ]
    return f"{sum(same)} of {len(same)} cases"


def _half(outcomes: Sequence[Outcome]) -> str:
    all_counted, half = (mean_loss(f"mutual_information, {knowledge}", outcomes) for knowledge in ("counts", "half"))
    return (
        f"With only half of the maskings counted, the pick by mutual information loses {half} on average over all"
        f" tables, instead of {all_counted}."
    )
