"""What advice replaces: training models on the table as every configuration masks it, and comparing them."""

import csv
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

from aegis_sdk import Client
from aegis_sdk.provider import apply
from bench import example
from bench.advice import MEASURE, new_questions, publish
from bench.figures import heading, percentile, table, timed, verdict
from bench.service import running_service

QUESTIONS = 50
#: The ensembles are trained on every fifth configuration of the ranking, from good to bad (the more an attribute is
#: masked, the faster they are), the logistic regression on all.
SAMPLE = slice(2, None, 5)


@dataclass(frozen=True)
class MaskedTable:
    """The example under one configuration: features (records, masked values of all attributes) and classes."""

    features: NDArray[np.float64]
    classes: NDArray[np.str_]

    @classmethod
    def of(cls, configuration: str) -> "MaskedTable":
        """Masked as a provider masks it; every attribute that is shared is one-hot encoded."""
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
    """Seconds to train a model on one half and to ask it for the other, and how well it did (macro AUC)."""

    seconds: float
    auc: float


Model = type[LogisticRegression] | type[RandomForestClassifier] | type[HistGradientBoostingClassifier]
MODELS: Mapping[str, tuple[Model, Mapping[str, int]]] = {
    "logistic regression": (LogisticRegression, {"max_iter": 1000}),
    "random forest": (RandomForestClassifier, {"n_jobs": 1, "random_state": 0}),
    "histogram gradient boosting": (HistGradientBoostingClassifier, {"random_state": 0}),
}


def main() -> None:
    heading("Exhaustive training on the example against one question")
    with running_service() as service, Client(service.url) as client:
        entry_id = publish(client)
        question = percentile(new_questions(client, entry_id, QUESTIONS), 50)
        ranking = client.advise(entry_id, MEASURE, limit=None).ranking or []
    deviations = {row.configuration: row.deviation for row in ranking}
    with threadpool_limits(1):
        trained = train(list(deviations))
    print_times(trained, len(deviations), question)
    print_agreement({one: run.auc for one, run in trained["logistic regression"].items()}, deviations)


def train(configurations: Sequence[str]) -> dict[str, dict[str, Trained]]:
    """By model and configuration, which come in the order of the ranking."""
    trained: dict[str, dict[str, Trained]] = {name: {} for name in MODELS}
    for configuration in configurations:
        masked = MaskedTable.of(configuration)
        for name in MODELS if configuration in configurations[SAMPLE] else ["logistic regression"]:
            trained[name][configuration] = train_one(name, masked)
    return trained


def train_one(name: str, masked: MaskedTable) -> Trained:
    """One model on one masked table, split in half."""
    model, parameters = MODELS[name]
    seen, unseen, classes, truth = train_test_split(
        masked.features, masked.classes, test_size=0.5, random_state=0, stratify=masked.classes
    )
    seconds, found = timed(lambda: model(**parameters).fit(seen, classes).predict_proba(unseen))
    return Trained(seconds, float(roc_auc_score(truth, found, multi_class="ovr")))


def print_times(trained: Mapping[str, Mapping[str, Trained]], configurations: int, question: float) -> None:
    rows, total = [], 0.0
    for name, runs in trained.items():
        mean = float(np.mean([run.seconds for run in runs.values()]))
        total += mean * configurations
        rows.append([name, str(len(runs)), f"{mean:.2f} s", f"{mean * configurations:.0f} s"])
    table(["model", "trained on", "mean of each", f"x {configurations} configurations"], rows)
    ratio = total * 1e3 / question
    print(f"\nexhaustive training {total:.0f} s / new question {question:.1f} ms (p50 of {QUESTIONS}) = {ratio:,.0f}")
    print(verdict(met=ratio >= 500, target=">= 500"))


def print_agreement(auc: Mapping[str, float], deviations: Mapping[str, float]) -> None:
    """Whether what the advice calls better predicts better; `deviations` are in the order of the ranking."""
    order = spearmanr([-deviations[one] for one in auc], list(auc.values())).statistic
    pick, best = next(iter(deviations)), max(auc, key=auc.__getitem__)
    print(f"Spearman({MEASURE} score, AUC of the logistic regression) = {order:.3f}")
    print(f"AUC {auc[pick]:.4f} of the pick {pick}, {auc[best]:.4f} of the best {best}: {auc[best] - auc[pick]:.4f} lost")


if __name__ == "__main__":
    main()
