"""How well the measure of a label that is a number orders configurations by the R^2 of models.

python -m research.numbers     writes research/results/numbers.md (10 minutes)

Every table has 30 configurations, drawn without the label. The measure `joint` of a label with scores sees counts of
at most 20 bins; ridge regression of one-hot masked values and boosted trees predict the number itself, in 5 folds,
drawn twice (four times with under 1,000 records). The better model is the one with the higher mean R^2 on a
configuration: what a consumer reaches who tries both.

No order can agree better with the models than they do with themselves: the columns "again" compare the better model in
one half of the draws with that in the other half, and so have noise of twice as many folds.

The linear learner was changed to ridge regression with its penalty chosen on the training records after its first
figures had been seen, so the figures of ridge regression are not blind. Those of boosted trees are, but the column of
the better model was added after theirs had been seen. On birth weight, boosted trees learn noise: little can be
predicted (R^2 of at most 0.03), and theirs is negative for most configurations, the more so the finer these are.
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
DRAWS = 2
"""How often the folds are drawn; those of a small table twice as often."""

PENALTIES = tuple(10.0**power for power in range(-1, 4))
"""Of ridge regression, which chooses among them on its training records."""

BOOSTING = {"max_iter": 40, "max_leaf_nodes": 15, "early_stopping": False, "random_state": 0}
MODELS = ("ridge", "boosted")
COLUMNS = (
    "table",
    "records",
    "between bins",
    *(f"Spearman, {one}" for one in (*MODELS, "better", "again")),
    *(f"R^2 lost, {one}" for one in ("both", "better", "again")),
    "R^2 off by",
)


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
    """(draws, models, configurations) the R^2 of held-out records, for each draw of the folds."""
    masked = [numbered.study.masked(place) for place in range(len(numbered.study.configurations.ids))]
    draws = range(DRAWS * (2 if numbered.numbers.size < SMALL else 1))
    return np.array(
        [[[_r_squared(model, one, numbered.numbers, draw) for one in masked] for model in MODELS] for draw in draws]
    )


def _r_squared(model: str, masked: IntArray, numbers: FloatArray, draw: int) -> float:
    shared = masked[:, masked.max(axis=0) > 0]
    if not shared.shape[1]:
        return 0.0
    said = np.zeros(numbers.size)
    for train, test in KFold(FOLDS, shuffle=True, random_state=draw).split(shared):
        regressor = HistGradientBoostingRegressor(**BOOSTING) if model == "boosted" else _ridge()
        said[test] = regressor.fit(shared[train], numbers[train]).predict(shared[test])
    return float(1 - np.mean(np.square(said - numbers)) / numbers.var())


def _ridge() -> Pipeline:
    return make_pipeline(OneHotEncoder(handle_unknown="ignore"), RidgeCV(PENALTIES))


def figures(numbered: Numbered) -> tuple[str, FloatArray]:
    """The name of a table, and its records, share between bins, Spearman correlations, R^2 lost and error of R^2."""
    told, drawn = utilities(numbered), reached(numbered)
    models, halves = drawn.mean(axis=0), np.split(drawn, 2)
    better, one, other = models.max(axis=0), *(half.mean(axis=0).max(axis=0) for half in halves)
    between = float(np.corrcoef(numbered.scores, numbered.numbers)[0, 1] ** 2)
    order = [*(spearmanr(told, each).statistic for each in (*models, better)), spearmanr(one, other).statistic]
    lost = [np.mean([_lost(each, told) for each in models]), _lost(better, told)]
    again = (_lost(one, other) + _lost(other, one)) / 2
    off = float(np.mean(np.abs(told * between - models[0])))
    print(numbered.study.name, flush=True)
    return numbered.study.name, np.array([numbered.numbers.size, between, *order, *lost, again, off])


def _lost(reached_by: FloatArray, told: FloatArray) -> float:
    return float(reached_by.max() - reached_by[int(told.argmax())])


def row(name: str, each: FloatArray) -> Sequence[str]:
    """A row of the page."""
    records, between, *rest = each.tolist()
    order, losses = rest[:4], rest[4:]
    return (
        name,
        f"{records:,.0f}",
        f"{between:.3f}",
        *(f"{one:.3f}" for one in order),
        *(f"{one:.4f}" for one in losses),
    )


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
        "* between bins: the squared correlation of the number and its score.\n"
        "* Spearman: of the measure and the model's R^2, over the configurations; again: of the better model's R^2 in"
        " both halves of the draws.\n"
        "* R^2 lost: that of the best configuration less that of the one that the measure puts first; both: the mean of"
        " both models; again: less that of the one that the better model puts first in the other half.\n"
        "* R^2 off by: the mean distance of ridge regression's R^2 from the measure times the share between bins.\n\n"
        f"Tables: {sources}.\n"
    )


def main() -> None:
    """Write the page."""
    with threadpool_limits(1):
        OUTPUT.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
