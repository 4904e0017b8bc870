"""The cost of every way to choose a configuration, for tables of any size."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
import orjson
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from aegis_advisor.arrays import IntArray
from aegis_advisor.evidence import AttributeEvidence, PairCounts, evidence_of, pairs_of
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import Question, recommend
from aegis_advisor.reconstruction import Reference, reconstruct
from aegis_provider import document_of, summarize
from app.entries.api.uploads import read_publication
from app.entries.model.configurations import ConfigurationTable, unpack_configurations
from app.entries.model.documents import entry_in
from research.evaluation.large_tables import MEMORY, Size, made, plan, records_of
from research.rivals.mascara import information_loss
from research.rivals.sampling import Sampler
from research.study import masked_by
from research.training import logistic_regression

TIMES = 5
#: Seconds after which a single piece of work is not repeated for a median.
ENOUGH = 1.0
#: Seconds after which rounds of work on all sizes are not repeated for a median.
ROUNDS = 15.0
#: How many models are trained to estimate the cost of training all of them.
TRAINED = 3
#: Seconds after which no further model is trained.
LONG = 4.0
#: The largest table that models are trained on.
MOST_TRAINED = 100_000
INFORMATION = "mutual_information"
#: The measure of all attributes together.
JOINT = "joint"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs in seconds; medians where there was time for more than one measurement.

    Attributes:
        size: the size of the table.
        summary: the provider counts the table, once.
        references: the service reconstructs every attribute, once.
        question: the service ranks all configurations by mutual information.
        pair_summary: the provider counts pairs of masked attributes as well, once.
        joint: the service ranks all configurations by the joint measure.
        mascara: Mascara's estimator ranks them.
        sampling: the sampling baseline draws as many records as the table has and ranks the configurations.
        training: one model per configuration is trained on half of the records and tested on the other half; None if
            the table is too large for that.
        extrapolated: whether `training` is extrapolated from smaller tables.
    """

    size: Size
    summary: float
    references: float = math.nan
    question: float = math.nan
    pair_summary: float = math.nan
    joint: float = math.nan
    mascara: float = math.nan
    sampling: float = math.nan
    training: float | None = None
    extrapolated: bool = False

    @property
    def advice(self) -> float:
        """The cost of the first advice by mutual information, which needs the references."""
        return self.references + self.question

    @property
    def joint_advice(self) -> float:
        """The cost of the first advice by the joint measure."""
        return self.references + self.joint


def measure_costs(sizes: Sequence[Size]) -> list[Costs]:
    """Make up tables, and choose a configuration for each in every way.

    Work on counts alone is timed in rounds over all tables, so that whatever else the machine does slows all alike.
    Only DuckDB has several threads.
    """
    with threadpool_limits(1):
        prepared = [_prepared(size) for size in sizes]
        _, rounds = _several(lambda: [_from_counts(case) for _, case in prepared], ROUNDS)
    goes = zip(*rounds, strict=True)
    return [replace(costs, **_medians(each)) for (costs, _), each in zip(prepared, goes, strict=True)]


def _prepared(size: Size) -> tuple[Costs, "Case"]:
    """Return the costs of all work that needs records, and the case: the table's counts, with those of pairs."""
    with made(size) as path:
        summary, _ = _timed(partial(_summaries, path, size))
        pair_summary, entry = _timed(partial(_summaries, path, size, pairs=True))
        case = Case.of(entry)
        training = _training(case, *records_of(path, entry)) if size.records <= MOST_TRAINED else None
    sampler = Sampler(MEASURES[INFORMATION])
    sampling, _ = _timed(partial(sampler.deviations, case.evidence, case.configurations))
    costs = Costs(size, summary, pair_summary=pair_summary, sampling=sampling, training=training)
    return costs, case


def _from_counts(case: "Case") -> dict[str, float]:
    """Return the seconds of all work on counts alone."""
    references, pooled = _once(case.reconstructed)
    return {
        "references": references,
        "question": _once(partial(case.ranked, pooled, INFORMATION))[0],
        "joint": _once(partial(case.ranked, pooled, JOINT))[0],
        "mascara": _once(partial(information_loss, case.evidence, case.configurations))[0],
    }


def _medians(goes: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    return {name: median(each[name] for each in goes) for name in goes[0]}


def extrapolated(costs: Sequence[Costs]) -> list[Costs]:
    """Extrapolate missing training costs along the line through the two largest tables with trained models."""
    known = [(one.size.records, one.training) for one in costs if one.training is not None]
    (first, low), (second, high) = known[-2:]
    slope = (high - low) / (second - first)

    def continued(one: Costs) -> Costs:
        return replace(one, training=high + slope * (one.size.records - second), extrapolated=True)

    return [continued(one) if one.training is None else one for one in costs]


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """What the service knows about a table: the counts of an entry, and its configurations."""

    evidence: tuple[AttributeEvidence, ...]
    configurations: ConfigurationTable
    pairs: tuple[PairCounts, ...]

    @classmethod
    def of(cls, entry: dict[str, Any]) -> "Case":
        """Make the case of an entry, as in its file."""
        content = read_publication(orjson.dumps(entry)).content
        configurations = unpack_configurations(content.configuration_table, content.outline)
        return cls(evidence_of(entry_in(entry)), configurations, tuple(pairs_of(entry_in(entry)).values()))

    def reconstructed(self) -> list[Reference]:
        """Return the reference of each attribute."""
        return [reconstruct(one) for one in self.evidence]

    def ranked(self, references: Sequence[Reference], measure: str) -> object:
        """Return the answer to a question about all attributes alike."""
        names = tuple(one.name for one in self.evidence)
        question = Question(measure, names, np.full(len(names), 1 / len(names)), limit=20)
        table = self.configurations
        return recommend(self.evidence, references, table.codes, table.options, question, self.pairs)


def _summaries(path: Path, size: Size, *, pairs: bool = False) -> dict[str, Any]:
    return document_of(summarize(path, plan(size), name="made-up", memory_limit=MEMORY, pairs=pairs))


def _training(case: Case, codes: IntArray, classes: IntArray) -> float:
    """Estimate the seconds to train one model per configuration: the median of a few, times the configurations."""
    taken: list[float] = []
    for configuration in range(len(case.configurations.ids)):
        masked = masked_by(case.evidence, case.configurations, codes, configuration)
        taken.append(_once(partial(_trained, masked, classes))[0])
        if len(taken) == TRAINED or sum(taken) > LONG:
            break
    return median(taken) * len(case.configurations.ids)


def _trained(masked: IntArray, classes: IntArray) -> object:
    """Train a logistic regression, the cheapest model, on every other record and predict the rest."""
    model = logistic_regression()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(masked[::2], classes[::2]).predict_proba(masked[1::2])


def _once(work: Callable[[], T]) -> tuple[float, T]:
    """Return the seconds that the work took, and its result."""
    start = perf_counter()
    result = work()
    return perf_counter() - start, result


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    """Return the median of the seconds that the work took, and its result."""
    taken, results = _several(work, ENOUGH)
    return median(taken), results[0]


def _several(work: Callable[[], T], enough: float) -> tuple[list[float], list[T]]:
    """Repeat the work until it has taken `enough` seconds, at most `TIMES` times; return all times and results."""
    goes = [_once(work)]
    while len(goes) < TIMES and sum(seconds for seconds, _ in goes) < enough:
        goes.append(_once(work))
    return [seconds for seconds, _ in goes], [result for _, result in goes]
