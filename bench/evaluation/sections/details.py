"""Every table by itself."""

from collections.abc import Sequence

from bench.evaluation.effectiveness import Effect, Outcome
from bench.evaluation.report import Section, folded, table, with_interval
from bench.evaluation.training import MODELS

COLUMNS = (
    "ranker",
    *(f"AUC lost, {model}" for model in MODELS),
    "AUC lost, mean",
    "against the best of each split",
    "accuracy lost, mean",
    "Spearman, AUC",
    "Spearman, accuracy",
    "tied",
)


def section(outcomes: Sequence[Outcome]) -> Section:
    """What each ranker's pick loses with each model, with intervals."""
    head = """\
With 95 % intervals over the splits; means over the models, and over the three questions.

* **Against the best of each split**: AUC lost, mean, where in each split the best is what happens to be best in it.
* **Tied**: how many configurations share the ranker's best utility, in each of the three questions; 1 is no tie."""
    text = "\n\n".join([head, *map(_one, outcomes)])
    return Section("Every table", text)


def _one(outcome: Outcome) -> str:
    summary = f"{outcome.study.name}: {outcome.study.table.about} ({outcome.splits} splits)"
    return folded(summary, table(COLUMNS, [_row(effect) for effect in outcome.in_full]))


def _row(effect: Effect) -> list[str]:
    estimates = [
        *(effect.mean_loss("AUC", model) for model in MODELS),
        effect.mean_loss(),
        effect.loss_in_split(),
        effect.mean_loss("accuracy"),
    ]
    orders = [effect.spearman(), effect.spearman("accuracy")]
    return [
        effect.entrant.title,
        *(with_interval(each) for each in estimates),
        *(with_interval(each, 2) for each in orders),
        " / ".join(map(str, effect.tied)),
    ]
