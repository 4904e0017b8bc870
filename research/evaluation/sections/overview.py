"""The section on all entrants over all tables."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure

from research.evaluation.outcomes import (
    JOINT,
    MUTUAL_INFORMATION,
    PUBLISHED,
    RANDOM,
    VIEW,
    Outcome,
    held_out,
    leading,
    made_up,
    mean_loss,
    real,
    took_part,
    worst_loss,
)
from research.plots import dots, heat_map, scatters
from research.report import Section, figure_of, image, table

COLUMNS = ("ranker", "AUC lost, mean", "AUC lost, worst", "in", "accuracy lost, mean", "Spearman, mean", "worst")
SCATTERED = ("health", "breast cancer", "digits", "copies 8", "interaction 100%")
UNSCATTERED = (RANDOM, VIEW)
"""Not in the scatter plots: the first has no utility, the second has one per draw."""


def section(outcomes: Sequence[Outcome]) -> Section:
    """Make the section, with a table for each kind of tables, and the plots."""
    names = leading(outcomes)
    figures = {
        "losses.svg": _losses(outcomes, names),
        "spearman.svg": _spearman(outcomes, names),
        "scatter.svg": _scatter(outcomes, names),
    }
    text = f"""
AUC lost is the AUC of the configuration with the highest mean AUC minus that of the pick, on the same splits, as a mean
over the models and the three questions about each table. Random choice loses as much as the mean configuration.
Spearman's correlation is between the ranker's utility and the AUC, over the configurations that a question is about.

Real tables that took part in the choice of the defaults ({len(took_part(outcomes))}):

{table(COLUMNS, _rows(took_part(outcomes)))}

Real tables held out ({len(held_out(outcomes))}):

{table(COLUMNS, _rows(held_out(outcomes)))}

Made-up tables, which also took part in it ({len(made_up(outcomes))}):

{table(COLUMNS, _rows(made_up(outcomes)))}

{image("spearman.svg", "Spearman correlation of utility and AUC by ranker and table")}

{image("scatter.svg", "Utility against AUC of the configurations, for a few tables and rankers")}
"""
    findings = [
        _finding("took part in choosing the product's defaults", took_part(outcomes)),
        _finding("had no part in any choice", held_out(outcomes)),
        _finding_on_rivals(real(outcomes)),
    ]
    shown = image("losses.svg", "AUC lost by ranker and table, with 95 % intervals over the splits")
    return Section("What the picks lose", text, figures, findings, shown)


def _rows(outcomes: Sequence[Outcome]) -> list[list[str]]:
    return [_row(effect.entrant.id, outcomes) for effect in outcomes[0].in_full]


def _row(entrant: str, outcomes: Sequence[Outcome]) -> list[str]:
    effects = [each.by_id[entrant] for each in outcomes]
    losses = [float(effect.loss().mean()) for effect in effects]
    accuracy = np.mean([effect.loss("accuracy").mean() for effect in effects])
    orders = [effect.spearman().mean for effect in effects]
    worst = int(np.argmax(losses))
    return [
        effects[0].entrant.title,
        figure_of(np.mean(losses)),
        figure_of(losses[worst]),
        outcomes[worst].study.name,
        figure_of(accuracy),
        figure_of(np.mean(orders), 2),
        figure_of(min(orders), 2),
    ]


def _finding(part: str, outcomes: Sequence[Outcome]) -> str:
    joint, information, chance = (
        f"{mean_loss(name, outcomes)} and {worst_loss(name, outcomes)}" for name in (JOINT, MUTUAL_INFORMATION, RANDOM)
    )
    return (
        f"On the {len(outcomes)} real tables that {part}, the AUC lost (on average, and at worst) is {joint} for the"
        f" pick of `joint`, {information} for that of mutual information, and {chance} for a random choice."
    )


def _finding_on_rivals(outcomes: Sequence[Outcome]) -> str:
    titles = {
        "mRMR": "mRMR",
        "Mascara": "Mascara",
        VIEW: VIEW,
        "sampling": "sampling",
        PUBLISHED: "the algorithm as published",
    }
    rivals = ", ".join(f"{title} {mean_loss(name, outcomes)}" for name, title in titles.items())
    return (
        f"On all {len(outcomes)} real tables `joint` loses {mean_loss(JOINT, outcomes)} on average. Its rivals lose:"
        f" {rivals}."
    )


def _losses(outcomes: Sequence[Outcome], names: dict[str, str]) -> Figure:
    series = {title: [each.by_id[name].mean_loss() for each in outcomes] for name, title in names.items()}
    axis = "AUC lost, mean over the models, with 95 % interval"
    return dots([each.study.name for each in outcomes], series, axis, _ends(outcomes))


def _ends(outcomes: Sequence[Outcome]) -> list[int]:
    """Return the index of the last table of each kind before tables of another kind."""
    kinds = [kind(outcomes) for kind in (took_part, held_out, made_up)]
    of = [next(place for place, chosen in enumerate(kinds) if each in chosen) for each in outcomes]
    return [place for place, (kind, after) in enumerate(pairwise(of)) if kind != after]


def _spearman(outcomes: Sequence[Outcome], names: dict[str, str]) -> Figure:
    titles = {name: title for name, title in names.items() if name != RANDOM}
    values = np.array([[each.by_id[name].spearman().mean for name in titles] for each in outcomes])
    return heat_map([each.study.name for each in outcomes], list(titles.values()), values)


def _scatter(outcomes: Sequence[Outcome], names: dict[str, str]) -> Figure:
    shown = [each for each in outcomes if each.study.name in SCATTERED] or list(outcomes)
    titles = {name: title for name, title in names.items() if name not in UNSCATTERED}
    points = {
        (each.study.name, title): (each.by_id[name].scores.utilities, each.auc)
        for each in shown
        for name, title in titles.items()
    }
    return scatters([each.study.name for each in shown], list(titles.values()), points, "AUC")
