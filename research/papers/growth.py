"""Figures 5(c) and 5(d) of the paper, sections 7.4 and 7.6 of its draft: what size does to quality and to time."""

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

from aegis_advisor.arrays import FloatArray
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import Question, recommend
from aegis_advisor.reconstruction import reconstruct
from research.drawn_plans import drawn_plan
from research.evaluation.reconstruction_distances import Reconstruction
from research.losses import Estimate
from research.papers.accuracy import GOLD, PICKS, entrant, picked
from research.rivals.mascara import information_loss
from research.rivals.sampling import Sampler
from research.study import Study, Table, summarized
from research.training import classifier_of, logistic_regression

SEED = 57
TIMES = 5
STRENGTH = 2.0
"""The standard deviation of the label's log odds, whatever the number of attributes."""

FOLLOWED = ("ours (joint)", "MI", "chi-square", "g3", "Mascara", "sampling", "random")
EXHAUSTIVE, FOREST = "exhaustive, regression", "exhaustive, forest"
BY_MI, BY_JOINT = "advice by MI", "advice by joint"
FORESTS = 3
"""How many forests are trained to estimate the seconds of training all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The size of a made-up table and its number of configurations; an attribute has `domain` values."""

    records: int = 4_000
    attributes: int = 8
    configurations: int = 40
    domain: int = 40


AXES: Mapping[str, Sequence[int]] = {
    "records": (1_000, 4_000, 16_000, 64_000),
    "attributes": (4, 8, 16, 32),
    "configurations": (10, 40, 160, 320),
    "domain": (5, 10, 40, 160, 640),
}
SHORT_AXES: Mapping[str, Sequence[int]] = {
    "records": (300, 600),
    "attributes": (2, 3),
    "configurations": (4, 6),
    "domain": (6, 12),
}


def made(size: Size) -> Study:
    """Make a table of uniform numbers of falling strength, which tell as much about the label at any size."""
    rng = np.random.default_rng(SEED)
    columns = {f"a{place:02}": rng.integers(size.domain, size=size.records) for place in range(size.attributes)}
    strengths = 1 / np.arange(1, size.attributes + 1)
    scaled = [(column - column.mean()) / column.std() for column in columns.values()]
    score = STRENGTH * strengths @ np.array(scaled) / np.linalg.norm(strengths)
    label = np.where(rng.random(size.records) < expit(score), "yes", "no")
    texts = {name: column.astype(np.str_) for name, column in columns.items()}
    made_up = Table("made up", "", "made up, with a fixed seed", texts, label)
    return Study.of(made_up, drawn_plan(made_up, SEED, count=size.configurations))


@dataclass(frozen=True, eq=False)
class Point:
    """What was measured at one size.

    Attributes:
        accuracy: by title (splits,) the accuracy of logistic regression on the picked configuration; gold, too.
        seconds: the medians by step. `exhaustive` is training on all configurations and testing, once: of the cheapest
            model in full, of the random forest from the median of a few configurations.
        distances: the total variation distance of the reconstruction, with one-dimensional and no histograms.
    """

    size: Size
    accuracy: Mapping[str, Sequence[float]]
    seconds: Mapping[str, float]
    distances: Mapping[str, float]

    def behind(self, title: str) -> Estimate:
        """Estimate the accuracy that a pick is behind gold, on halves of one table."""
        return Estimate.of(np.array(self.accuracy[GOLD]) - np.array(self.accuracy[title]), 1.0)

    @property
    def advice(self) -> float:
        """The slower of the two kinds of advice, in seconds."""
        return max(self.seconds[BY_MI], self.seconds[BY_JOINT])


def measured(axes: Mapping[str, Sequence[int]], base: Size, splits: int, kept: Path) -> dict[str, list[Point]]:
    """Return the points of each axis, with the base in all else; what is kept is not measured again."""
    return {
        axis: [_point(replace(base, **{axis: value}), splits, kept) for value in values]
        for axis, values in axes.items()
    }


def _point(size: Size, splits: int, kept: Path) -> Point:
    file = kept / ("growth " + " ".join(f"{name}={value}" for name, value in asdict(size).items()) + f" {splits}.json")
    if not file.exists():
        study = made(size)
        with threadpool_limits(1):
            accuracy, exhaustive = _trained(study, splits)
            seconds = {EXHAUSTIVE: exhaustive, FOREST: _forests(study), **_advised(study)}
        pooled = Reconstruction.of(study, 1)
        distances = {"1D": pooled.histogram.complete, "none": pooled.no_histogram.complete}
        content = {"accuracy": accuracy, "seconds": seconds, "distances": distances}
        file.write_text(json.dumps(content), encoding="utf-8")
    return Point(size, **json.loads(file.read_text(encoding="utf-8")))


def _trained(study: Study, splits: int) -> tuple[dict[str, list[float]], float]:
    """Return the accuracy of gold and of each pick by split, and the median seconds of training on all."""
    halves = StratifiedShuffleSplit(splits, train_size=0.5, random_state=SEED)
    reached, seconds = [], []
    for train, test in halves.split(study.codes, study.classes):
        start = perf_counter()
        reached.append([_accuracy(study, place, train, test) for place in range(len(study.configurations.ids))])
        seconds.append(perf_counter() - start)
    values = np.array(reached)
    picks = {title: picked(study, entrant(PICKS[title])) for title in FOLLOWED}
    accuracy = {
        GOLD: values[:, values.mean(axis=0).argmax()],
        **{title: values @ pick for title, pick in picks.items()},
    }
    return {title: each.tolist() for title, each in accuracy.items()}, median(seconds)


def _accuracy(study: Study, place: int, train: np.ndarray, test: np.ndarray) -> float:
    masked, classes = study.masked(place), study.classes
    shared = masked[:, masked.max(axis=0) > 0]
    if not shared.shape[1]:
        return float(np.mean(classes[test] == np.bincount(classes[train]).argmax()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return float(logistic_regression().fit(shared[train], classes[train]).score(shared[test], classes[test]))


def _forests(study: Study) -> float:
    """Estimate the seconds of training a random forest on every other record of each configuration."""
    many, forest = len(study.configurations.ids), classifier_of("random forest")

    def trained(place: int) -> object:
        masked = study.masked(place)
        return forest.fit(masked[::2], study.classes[::2]).score(masked[1::2], study.classes[1::2])

    places = np.linspace(0, many - 1, FORESTS).astype(np.int64).tolist()
    return many * median(_seconds(partial(trained, place)) for place in places)


def _advised(study: Study) -> dict[str, float]:
    """Return the median seconds of the provider's counting, of each kind of advice, and of two rivals."""
    evidence, table = study.evidence, study.configurations
    weights = np.full(len(evidence), 1 / len(evidence))

    def asked(measure: str) -> object:
        references = [reconstruct(one) for one in evidence]
        question = Question(measure, study.attributes, weights, limit=20)
        return recommend(evidence, references, table.codes, table.options, question, study.pairs)

    steps: Mapping[str, Callable[[], object]] = {
        "counting": partial(summarized, study.table, study.plan),
        BY_MI: partial(asked, "mutual_information"),
        BY_JOINT: partial(asked, "joint"),
        "Mascara": partial(information_loss, evidence, table),
        "sampling": partial(Sampler(MEASURES["mutual_information"]).deviations, evidence, table),
    }
    return {name: median(_seconds(step) for _ in range(TIMES)) for name, step in steps.items()}


def _seconds(step: Callable[[], object]) -> float:
    start = perf_counter()
    step()
    return perf_counter() - start


def slope(points: Sequence[Point], axis: str, step: str) -> float:
    """Return the exponent of the power of the size that fits the seconds of a step best: 1 is linear."""
    sizes = np.log([getattr(point.size, axis) for point in points])
    fitted: FloatArray = np.polyfit(sizes, np.log([point.seconds[step] for point in points]), 1)
    return float(fitted[0])


def speeds(points: Mapping[str, Sequence[Point]], step: str) -> list[float]:
    """Return how many times as long as the slower advice training on all configurations takes, at every size.

    The size that all axes share counts once.
    """
    by_size = {point.size: point for line in points.values() for point in line}
    return [point.seconds[step] / point.advice for point in by_size.values()]


def drift(points: Sequence[Point], title: str) -> Estimate:
    """Estimate how much more accuracy a pick is behind gold at the end of an axis than at its beginning.

    The two ends are different tables, so their errors are taken to be independent.
    """
    first, last = (points[place].behind(title) for place in (0, -1))
    return Estimate(last.mean - first.mean, float(np.hypot(first.half_width, last.half_width)))


def rows(points: Mapping[str, Sequence[Point]]) -> list[list[str]]:
    """Return the table of all points, header first."""
    titles, steps = (GOLD, *FOLLOWED), tuple(next(iter(points.values()))[0].seconds)
    header = ["axis", *Size.__slots__, *(f"accuracy, {title}" for title in titles)]
    header += ["distance, 1D", "distance, none", *(f"seconds, {step}" for step in steps)]
    listed = [header]
    for axis, point in [(axis, point) for axis, line in points.items() for point in line]:
        accuracy = [f"{np.mean(point.accuracy[title]):.4f}" for title in titles]
        distances = [f"{distance:.4f}" for distance in point.distances.values()]
        seconds = [f"{point.seconds[step]:.4g}" for step in steps]
        listed.append([axis, *map(str, asdict(point.size).values()), *accuracy, *distances, *seconds])
    return listed


def slopes(points: Mapping[str, Sequence[Point]]) -> dict[tuple[str, str], float]:
    """Return the exponents by axis and kind of advice."""
    return {(axis, step): slope(line, axis, step) for (axis, line), step in product(points.items(), (BY_MI, BY_JOINT))}
