"""All entrants over all tables."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from bench.evaluation.effectiveness import Outcome
from bench.evaluation.plots import dots, heat_map, scatters
from bench.evaluation.report import Section, figure_of, image, table
from bench.evaluation.sections import leading, made_up, real

COLUMNS = ("ranker", "AUC lost, mean", "AUC lost, worst", "in", "accuracy lost, mean", "Spearman, mean", "worst")
SCATTERED = ("health", "breast cancer", "digits", "copies 8", "interaction 100%")
RANDOM = "random choice"


def section(outcomes: Sequence[Outcome]) -> Section:
    """A table for the real and one for the made-up tables, and the plots."""
    names = leading(outcomes)
    figures = {
        "losses.svg": _losses(outcomes, names),
        "spearman.svg": _spearman(outcomes),
        "scatter.svg": _scatter(outcomes, names),
    }
    text = f"""
AUC lost is that of the configuration with the highest mean AUC less that of the pick, on the same splits; mean over
the models and the three questions to each table. Random choice loses what the mean configuration does. Spearman's
correlation is that of the ranker's utility and the AUC, over the configurations that a question is about.

Real tables ({len(real(outcomes))}):

{table(COLUMNS, _rows(real(outcomes)))}

Made-up tables ({len(made_up(outcomes))}):

{table(COLUMNS, _rows(made_up(outcomes)))}

{image("losses.svg", "AUC lost by ranker and table, with 95 % intervals over the splits")}

{image("spearman.svg", "Spearman correlation of utility and AUC by ranker and table")}

{image("scatter.svg", "Utility against AUC of the configurations, for a few tables and rankers")}
"""
    return Section("What the picks lose", text, figures, [_found(kind, chosen) for kind, chosen in _kinds(outcomes)])


def _kinds(outcomes: Sequence[Outcome]) -> list[tuple[str, list[Outcome]]]:
    return [("real", real(outcomes)), ("made-up", made_up(outcomes))]


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


def _found(kind: str, outcomes: Sequence[Outcome]) -> str:
    told = "; ".join(f"{title} {_mean_and_worst(name, outcomes)}" for name, title in leading(outcomes).items())
    return f"On the {len(outcomes)} {kind} tables the pick loses, in AUC, on average and at worst: {told}."


def _mean_and_worst(entrant: str, outcomes: Sequence[Outcome]) -> str:
    losses = [each.by_id[entrant].loss().mean() for each in outcomes]
    return f"{figure_of(np.mean(losses))} and {figure_of(max(losses))}"


def _losses(outcomes: Sequence[Outcome], names: dict[str, str]) -> Figure:
    series = {title: [each.by_id[name].mean_loss() for each in outcomes] for name, title in names.items()}
    return dots([each.study.name for each in outcomes], series, "AUC lost, mean over the models, with 95 % interval")


def _spearman(outcomes: Sequence[Outcome]) -> Figure:
    ordering = [effect.entrant for effect in outcomes[0].in_full if effect.entrant.title != RANDOM]
    values = np.array([[each.by_id[entrant.id].spearman().mean for each in outcomes] for entrant in ordering])
    return heat_map([entrant.title for entrant in ordering], [each.study.name for each in outcomes], values)


def _scatter(outcomes: Sequence[Outcome], names: dict[str, str]) -> Figure:
    shown = [each for each in outcomes if each.study.name in SCATTERED] or list(outcomes)
    titles = {name: title for name, title in names.items() if title != RANDOM}
    points = {
        (each.study.name, title): (each.by_id[name].scores.utilities, each.auc)
        for each in shown
        for name, title in titles.items()
    }
    return scatters([each.study.name for each in shown], list(titles.values()), points, "AUC")
