"""Exhaustive training, which advice replaces: models trained on the table masked by every configuration."""

import csv
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

from aegis_provider import apply
from aegis_sdk import Client
from aegis_sdk.wire import RankedConfiguration
from bench.measuring import MILLISECONDS, heading, percentile, run, table, timed, verdict
from bench.speed.advice import MEASURE, new_questions, publish
from bench.speed.service import running_service
from tests import example

QUESTIONS = 50


@dataclass(frozen=True)
class MaskedTable:
    """The example under one configuration: features (records, masked values of all attributes) and classes."""

    features: NDArray[np.float64]
    classes: NDArray[np.str_]

    @classmethod
    def of(cls, configuration: str) -> "MaskedTable":
        """Mask the example as a provider does, and one-hot encode every attribute shared."""
        with tempfile.TemporaryDirectory(prefix="aegis-bench-") as directory:
            masked = Path(directory) / "masked.csv"
            apply(example.TABLE, example.plan(), configuration, masked)
            with masked.open(newline="", encoding="utf-8") as file:
                header, *records = csv.reader(file)
        columns = np.array(records)
        label = header.index(example.plan().label)
        encoded = OneHotEncoder(sparse_output=False).fit_transform(np.delete(columns, label, axis=1))
        return cls(encoded, columns[:, label])


@dataclass(frozen=True)
class Trained:
    """Seconds to train a model on one half and predict the other, and its macro AUC."""

    seconds: float
    auc: float


Model = type[LogisticRegression] | type[RandomForestClassifier] | type[HistGradientBoostingClassifier]
MODELS: Mapping[str, tuple[Model, Mapping[str, int]]] = {
    "logistic regression": (LogisticRegression, {"max_iter": 1000}),
    "random forest": (RandomForestClassifier, {"n_jobs": 1, "random_state": 0}),
    "histogram gradient boosting": (HistGradientBoostingClassifier, {"random_state": 0}),
}


def main() -> None:
    heading(f"Exhaustive training on the example ({len(example.plan().configurations)} configurations)")
    with running_service() as service, Client(service.url) as client:
        entry_id = publish(client)
        question = percentile(new_questions(client, entry_id, QUESTIONS), 50)
        ranking = client.advise(entry_id, MEASURE, limit=None).ranking or []
    deviations = {row.configuration: row.deviation for row in ranking if isinstance(row, RankedConfiguration)}
    with threadpool_limits(1):
        trained = train(list(deviations))
    print_times(trained, question)
    print_agreement(trained, list(deviations), list(deviations.values()))


def train(configurations: Sequence[str]) -> dict[str, list[Trained]]:
    """Train every model on every configuration; return the results by model."""
    trained: dict[str, list[Trained]] = {name: [] for name in MODELS}
    for configuration in configurations:
        masked = MaskedTable.of(configuration)
        for name in MODELS:
            trained[name].append(train_one(name, masked))
    return trained


def train_one(name: str, masked: MaskedTable) -> Trained:
    """Train one model on one masked table, split in half."""
    model, parameters = MODELS[name]
    seen, unseen, classes, truth = train_test_split(
        masked.features, masked.classes, test_size=0.5, random_state=0, stratify=masked.classes
    )
    seconds, probabilities = timed(lambda: model(**parameters).fit(seen, classes).predict_proba(unseen))
    return Trained(seconds, float(roc_auc_score(truth, probabilities, multi_class="ovr")))


def print_times(trained: Mapping[str, Sequence[Trained]], question: float) -> None:
    """Print the time of all models on all configurations against the milliseconds of a question."""
    seconds = {name: [run.seconds for run in runs] for name, runs in trained.items()}
    rows = [
        [name, f"{median(each):.2f} s", f"{max(each):.2f} s", f"{sum(each):.1f} s"] for name, each in seconds.items()
    ]
    total = sum(sum(model) for model in seconds.values())
    ratio = total * MILLISECONDS / question
    table(["model", "median", "longest", "all configurations"], rows)
    print(
        f"\nexhaustive training {total:.1f} s / a new question {question:.1f} ms (p50 of {QUESTIONS}) = {ratio:,.0f}",
        end=" ",
    )
    print(verdict(met=ratio >= 500, target=">= 500"))


def print_agreement(
    trained: Mapping[str, Sequence[Trained]], ranked: Sequence[str], deviations: Sequence[float]
) -> None:
    """Print whether configurations ranked higher predict better; arguments are in the ranking's order."""
    rows = []
    for name, runs in trained.items():
        auc = [run.auc for run in runs]
        best = int(np.argmax(auc))
        order = spearmanr(np.negative(deviations), auc).statistic
        rows.append(
            [name, f"{order:.3f}", f"{auc[0]:.4f}", f"{auc[best]:.4f} ({ranked[best]})", f"{auc[best] - auc[0]:.4f}"]
        )
    print(f"\nThe advice by {MEASURE} picks {ranked[0]}; AUC: macro average, one class against the rest")
    table(["model", "Spearman(score, AUC)", "AUC of the pick", "best AUC", "lost"], rows)


if __name__ == "__main__":
    run(main)
