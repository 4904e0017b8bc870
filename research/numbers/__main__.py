"""How well the measure of a label that is a number orders configurations by the R^2 of models.

python -m research.numbers     writes research/results/numbers.md (10 minutes)

Every table has 30 configurations, drawn without the label. The measure `joint` of a label with scores sees counts of
at most 20 bins; ridge regression of one-hot masked values and boosted trees predict the number itself, in 5 folds.

The linear learner was changed to ridge regression with its penalty chosen on the training records after its first
figures had been seen, so the figures of ridge regression are not blind. Those of boosted trees are.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.joint import score_jointly
from research.numbers.tables import Numbered, tables
from research.report import table

OUTPUT = Path(__file__).parents[1] / "results" / "numbers.md"
FOLDS = 5
SMALL = 1_000
OFTEN = 2
"""How often the folds of a small table are drawn; those of others once."""

PENALTIES = tuple(10.0**power for power in range(-1, 4))
"""Of ridge regression, which chooses among them on its training records."""

BOOSTING = {"max_iter": 40, "max_leaf_nodes": 15, "early_stopping": False, "random_state": 0}
MODELS = ("ridge", "boosted")
COLUMNS = ("table", "records", "between bins", *(f"Spearman, {one}" for one in MODELS), "R^2 lost", "R^2 off by")


def utilities(numbered: Numbered) -> FloatArray:
    """(configurations,) the measure `joint`, with its default correction."""
    study, first = numbered.study, numbered.study.evidence[0]
    scored = score_jointly(
        study.evidence,
        study.configurations.options,
        study.configurations.codes,
        study.pairs,
        corrected=True,
        numbers=first.label_scores,
    )
    return scored.utility


def reached(numbered: Numbered) -> FloatArray:
    """(models, configurations) the R^2 of held-out records, the mean over the draws of the folds."""
    masked = [numbered.study.masked(place) for place in range(len(numbered.study.configurations.ids))]
    often = OFTEN if numbered.numbers.size < SMALL else 1
    return np.array([[_r_squared(model, one, numbered.numbers, often) for one in masked] for model in MODELS])


def _r_squared(model: str, masked: IntArray, numbers: FloatArray, often: int) -> float:
    shared = masked[:, masked.max(axis=0) > 0]
    if not shared.shape[1]:
        return 0.0
    said = np.zeros((often, numbers.size))
    for draw in range(often):
        for train, test in KFold(FOLDS, shuffle=True, random_state=draw).split(shared):
            regressor = HistGradientBoostingRegressor(**BOOSTING) if model == "boosted" else _ridge()
            said[draw, test] = regressor.fit(shared[train], numbers[train]).predict(shared[test])
    return float(1 - np.mean(np.square(said - numbers)) / numbers.var())


def _ridge() -> Pipeline:
    return make_pipeline(OneHotEncoder(handle_unknown="ignore"), RidgeCV(PENALTIES))


def figures(numbered: Numbered) -> tuple[str, FloatArray]:
    """The name of a table, and its records, share between bins, Spearman correlations, R^2 lost and error of R^2."""
    told, models = utilities(numbered), reached(numbered)
    between = float(np.minimum(1.0, numbered.scores.var() / numbered.numbers.var()))
    order = [spearmanr(told, model).statistic for model in models]
    lost = float(np.mean(models.max(axis=1) - models[:, int(told.argmax())]))
    off = float(np.mean(np.abs(told * between - models[0])))
    print(numbered.study.name, flush=True)
    return numbered.study.name, np.array([numbered.numbers.size, between, *order, lost, off])


def row(name: str, each: FloatArray) -> Sequence[str]:
    """A row of the page."""
    records, between, *order, lost, off = each.tolist()
    return name, f"{records:,.0f}", f"{between:.3f}", *(f"{one:.3f}" for one in order), f"{lost:.4f}", f"{off:.4f}"


def page() -> str:
    """The page in Markdown."""
    every = list(tables())
    found = [figures(one) for one in every]
    real = [row for (_, row), one in zip(found, every, strict=True) if one.is_real]
    rows = [row(name, each) for name, each in found]
    rows.append(("**mean of the real ones**", *row("", np.mean(real, axis=0))[1:]))
    sources = "; ".join(f"{one.study.name}: {one.study.table.source}" for one in every)
    return (
        "# Labels that are numbers\n\n`python -m research.numbers` writes this page.\n\n"
        f"{(__doc__ or '').split(chr(10) * 2, 2)[2].strip()}\n\n{table(COLUMNS, rows)}\n\n"
        "* between bins: the share of the number's variance that its scores have.\n"
        "* Spearman: of the measure and the model's R^2, over the configurations.\n"
        "* R^2 lost: that of the best configuration less that of the one that the measure puts first, the mean of both"
        " models.\n"
        "* R^2 off by: the mean distance of ridge regression's R^2 from the measure times the share between bins.\n\n"
        f"Tables: {sources}.\n"
    )


def main() -> None:
    """Write the page."""
    with threadpool_limits(1):
        OUTPUT.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
