"""Attribute disclosure and re-identification: attackers who know quasi-identifiers guess a secret, or other ones.

Source: Bagad et al., Data-Sharing Economy: Value-Addition from Data meets Privacy, WSDM 2021, section 3. There, for 1 %
of the records, the attacker knows some quasi-identifiers and predicts the others with a multi-layer perceptron. A
person is re-identified if the prediction is within epsilon of the truth. The paper's epsilon of 3 has no meaning
without the unit of its distance; the default here is the smallest epsilon within which at least 5 % of random pairs of
real records lie.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.check import Interval
from aegis_provider.errors import needs_extra
from aegis_provider.records import Column, Records, drawn
from aegis_provider.synth.attacks.attack import CONFIDENCE, Case, Outcome, exactly, share_of
from aegis_provider.synth.released.released import Distances, Released, ReleasedColumn, positions_of
from aegis_sdk.reading import Share

MOST: Final = 20
"""An attribute with more values is divided into classes."""

_PARTS: Final = 5


def classes_of(column: Column) -> tuple[NDArray[np.intp], int]:
    """(values,) Return the class of each value, and the number of classes.

    With few values, each is a class. More numbers form quintiles of the records, and a class for missing ones. More
    categories form a class each for the most frequent ones, and one for the others.
    """
    size = len(column.domain)
    if size <= MOST:
        return np.arange(size), size
    if column.numbers is None:
        classes = np.full(size, MOST - 1, dtype=np.intp)
        classes[np.argsort(-column.counts, kind="stable")[: MOST - 1]] = np.arange(MOST - 1)
        return classes, MOST
    positions = positions_of(column)
    parts = np.minimum((np.nan_to_num(positions) * _PARTS).astype(np.intp), _PARTS - 1)
    return np.where(np.isnan(positions), _PARTS, parts), _PARTS + 1


DISCLOSURE: Final = "attribute disclosure"
NEIGHBOURS: Final = tuple(range(1, 11))

_GUESSED: Final = 1_000


def attribute_disclosure(case: Case) -> Iterator[Outcome]:
    """Guess each secret from the k released records that are nearest in the quasi-identifiers, for k from 1 to 10.

    A released value that may stand for several divides its vote among them, and records tied for the k-th place share
    the remaining votes. The success is the recall, averaged over the classes that both sides have; constant and random
    guesses both reach one over the number of classes.
    """
    for secret in case.secrets:
        known = case.release.only(set(case.quasi_identifiers) - {secret})
        if not known.columns or not len(known):
            continue
        of_value, size = classes_of(case.seen.column(secret))
        column = case.release.column(secret)
        votes = column.shares(of_value, size)[column.codes].astype(np.float32)
        sides = [target for target in case.fair_to(secret).targets(f"{DISCLOSURE} {secret}", _GUESSED) if len(target)]
        guesses = [guessed(known, side, votes) for side in sides]
        truths = [of_value[side.column(secret).places] for side in sides]
        frequent = int(np.bincount(of_value[case.seen.column(secret).places]).argmax())
        for place, k in enumerate(NEIGHBOURS):
            yield _disclosed(secret, k, [guess[place] for guess in guesses], truths, frequent)


def guessed(release: Released, targets: Records, votes: NDArray[np.float32]) -> NDArray[np.intp]:
    """(ks, targets) The class with the most votes among the k nearest released records.

    Args:
        votes: (released, classes) The votes of each released record for each class.
    """
    distances = release.distances(targets)
    blocks = [np.array([_votes(block, k, votes).argmax(axis=1) for k in NEIGHBOURS]) for _, block in distances]
    return np.concatenate(blocks, axis=1)


def _votes(block: Distances, k: int, votes: NDArray[np.float32]) -> NDArray[np.float32]:
    """(targets, classes) The votes of the k nearest; records tied for the last place share the remaining votes."""
    k = min(k, block.shape[1])
    last = np.partition(block, k - 1, axis=1)[:, k - 1 : k]
    nearer, as_near = block < last, block == last
    left = (k - nearer.sum(axis=1)) / as_near.sum(axis=1)
    return np.asarray(nearer.astype(np.float32) @ votes + left[:, None] * (as_near.astype(np.float32) @ votes))


def _disclosed(
    secret: str, k: int, guesses: list[NDArray[np.intp]], truths: list[NDArray[np.intp]], frequent: int
) -> Outcome:
    classes = reduce(np.intersect1d, map(np.unique, truths))
    if not len(classes):  # the sides cannot be compared
        guesses, truths, classes = guesses[:1], truths[:1], np.unique(truths[0])
    success, *held_out = (macro_recall(one, true, classes) for one, true in zip(guesses, truths, strict=True))
    truth, guess = truths[0], guesses[0]
    accuracy, majority = float((guess == truth).mean()), float((truth == frequent).mean())
    return Outcome(
        DISCLOSURE,
        f"{secret}, k = {k}",
        len(truth),
        "macro recall",
        success,
        exactly(1 / len(classes)),
        held_out[0] if held_out else None,
        f"From the quasi-identifiers, {Share(accuracy)} of the guesses of {secret} are right; always guessing the most "
        f"frequent value is right in {Share(majority)}.",
        {
            "precision": macro_precision(guess, truth),
            "recall": success.value,
            "accuracy": accuracy,
            "majority_accuracy": majority,
            "majority_precision": majority / len(classes),
            "balanced": 1 / len(classes),
        },
    )


def macro_recall(guess: NDArray[np.intp], truth: NDArray[np.intp], classes: NDArray[np.intp]) -> Interval:
    """Return the share of right guesses, averaged over true classes, with its 95 % interval.

    The classes are independent samples. The variance of each has one success and one failure added (Agresti and Caffo
    2000), so that a class with one record does not appear certain.

    Args:
        guess: (targets,) The guesses.
        truth: (targets,) The true classes.
        classes: The classes to average over; each is the truth of a target. Only equal classes are comparable.
    """
    right = np.array([(guess[truth == each] == each).sum() for each in classes])
    number = np.array([(truth == each).sum() for each in classes])
    smoothed = (right + 1) / (number + 2)
    value = float((right / number).mean())
    half = CONFIDENCE * float(np.sqrt((smoothed * (1 - smoothed) / (number + 2)).sum())) / len(classes)
    return Interval(value, max(0.0, value - half), min(1.0, value + half))


def macro_precision(guess: NDArray[np.intp], truth: NDArray[np.intp]) -> float:
    """Return the precision, averaged over the true classes; 0 for a class that is never guessed."""
    each = [(truth[guess == one] == one).mean() if (guess == one).any() else 0.0 for one in np.unique(truth)]
    return float(np.mean(each))


REIDENTIFICATION: Final = "re-identification"

_SHARE: Final = 0.01
_FEWEST: Final = 100
_FITTED: Final = 5_000
_EPOCHS: Final = 20
_BATCH: Final = 100
_HIDDEN: Final = (64,)
_PAIRS: Final = 10_000
_CHANCE: Final = 0.05
_INDICATORS: Final = 30
_ROUNDING: Final = 1e-9

Matrix = NDArray[np.float64]


def reidentification(case: Case, epsilon: float | None = None, known: int | None = None) -> Iterator[Outcome]:
    """Predict the unknown quasi-identifiers of targets from the known ones, for increasing numbers of known ones.

    Numbers are scaled to [0, 1] as in the distances. Categories have indicators, and the largest output is the
    prediction. The distance is Euclidean, with 0 or 1 for a category. The baseline is fitted to the release with
    shuffled columns, so that it knows value frequencies only.

    Args:
        epsilon: The distance of a hit.
        known: The number of known quasi-identifiers; by default every number is tried.
    """
    parts = [_KnownColumn.of(case.release.column(name)) for name in case.quasi_identifiers]
    rng = case.rng(REIDENTIFICATION)
    order = rng.permutation(len(parts))
    parts = [parts[place] for place in order]
    for number in range(1, len(parts)) if known is None else [known]:
        yield _with_known(case, parts, number, epsilon, rng)


def _with_known(
    case: Case, parts: "Sequence[_KnownColumn]", known: int, epsilon: float | None, rng: np.random.Generator
) -> Outcome:
    given, asked = parts[:known], parts[known:]
    one, other = (case.seen.take(rng.integers(0, len(case.seen), _PAIRS)) for _ in range(2))
    pairs = _apart(asked, _inputs(asked, one), other)
    within = float(np.quantile(pairs, _CHANCE)) if epsilon is None else epsilon
    chance = float((pairs <= within + _ROUNDING).mean())
    rows = drawn(len(case.release), _FITTED, int(rng.integers(1 << 32)))
    release = case.release.take(rows)
    networks = [_fitted(each, given, asked, rng) for each in (release, release.shuffled(rng))]
    seen, held_out = case.targets(REIDENTIFICATION, max(_FEWEST, round(_SHARE * len(case.seen))))

    def hits(network: Any, targets: Records) -> NDArray[np.bool_]:  # noqa: ANN401 - scikit-learn has no types
        predicted = network.predict(_inputs(given, targets)).reshape(len(targets), -1)
        return _apart(asked, predicted, targets) <= within + _ROUNDING

    success, baseline = (share_of(hits(each, seen)) for each in networks)
    return Outcome(
        REIDENTIFICATION,
        f"knowing {known} of {len(parts)} quasi-identifiers",
        len(seen),
        "persons",
        success,
        baseline,
        share_of(hits(networks[0], held_out)) if len(held_out) else None,
        f"From {known} of {len(parts)} quasi-identifiers, the others are predicted within {within:.3g} for "
        f"{Share(success.value)} of the persons; {Share(chance)} of random pairs of real persons are as close.",
        {"epsilon": within, "random_pairs_as_close": chance, "known": known},
    )


@dataclass(frozen=True, eq=False)
class _KnownColumn:
    """A quasi-identifier in the network's representation.

    Attributes:
        groups: (values,) The indicator of each category, separate ones for the most frequent; empty for numbers.
    """

    column: ReleasedColumn
    groups: NDArray[np.intp]
    size: int

    @classmethod
    def of(cls, column: ReleasedColumn) -> "_KnownColumn":
        if column.is_numeric:
            return cls(column, np.zeros(0, dtype=np.intp), 1 + (column.original.missing is not None))
        values = len(column.positions)
        groups = np.full(values, min(values, _INDICATORS) - 1, dtype=np.intp)
        frequent = np.argsort(-column.original.counts, kind="stable")[:_INDICATORS]
        groups[frequent] = np.arange(len(frequent))
        return cls(column, groups, len(frequent))

    def of_release(self, release: Released) -> Matrix:
        """(released, size) The inputs of released records, averaged over possible values."""
        column = release.column(self.column.name)
        if not column.is_numeric:
            return np.asarray(column.shares(self.groups, self.size)[column.codes])
        is_missing = np.isnan(column.positions).astype(np.intp)
        inputs = np.stack([column.middles, column.shares(is_missing, 2)[:, 1]], axis=1)
        return np.asarray(inputs[column.codes, : self.size])

    def of_records(self, records: Records) -> Matrix:
        """(records, size) The inputs of records of the original table."""
        places = records.column(self.column.name).places
        if not self.column.is_numeric:
            return np.asarray(np.eye(self.size)[self.groups[places]])
        at = self.column.positions[places]
        return np.asarray(np.stack([np.where(np.isnan(at), 0.5, at), np.isnan(at)], axis=1)[:, : self.size])

    def apart(self, one: Matrix, other: Matrix) -> Matrix:
        """(records,) The distances of two matrices of inputs: 0 or 1 for categories, and 1 if only one is missing."""
        if not self.column.is_numeric:
            return np.asarray(one.argmax(axis=1) != other.argmax(axis=1), dtype=np.float64)
        gaps = np.abs(one[:, 0].clip(0, 1) - other[:, 0].clip(0, 1))
        if self.size == 1:
            return np.asarray(gaps)
        missing = [np.round(each[:, 1]) >= 1 for each in (one, other)]
        return np.asarray(np.where(missing[0] | missing[1], (missing[0] != missing[1]).astype(np.float64), gaps))


def _inputs(parts: Sequence[_KnownColumn], records: Records) -> Matrix:
    return np.concatenate([part.of_records(records) for part in parts], axis=1)


def _fitted(
    release: Released, given: Sequence[_KnownColumn], asked: Sequence[_KnownColumn], rng: np.random.Generator
) -> Any:  # noqa: ANN401 - scikit-learn has no types
    with needs_extra("synth"):
        from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - an extra
        from sklearn.neural_network import MLPRegressor  # noqa: PLC0415 - an extra
    inputs, outputs = (np.concatenate([each.of_release(release) for each in side], axis=1) for side in (given, asked))
    network = MLPRegressor(
        hidden_layer_sizes=_HIDDEN,
        learning_rate_init=0.005,
        batch_size=min(_BATCH, len(inputs)),
        max_iter=_EPOCHS,
        n_iter_no_change=_EPOCHS,
        random_state=int(rng.integers(1 << 31)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the epochs suffice
        return network.fit(inputs, outputs if outputs.shape[1] > 1 else outputs[:, 0])


def _apart(parts: Sequence[_KnownColumn], predicted: Matrix, targets: Records) -> Matrix:
    """(targets,) The distances of predictions to the truth."""
    ends = np.cumsum([part.size for part in parts])[:-1]
    blocks = np.split(predicted, ends, axis=1)
    squares = [part.apart(block, part.of_records(targets)) ** 2 for part, block in zip(parts, blocks, strict=True)]
    return np.asarray(np.sqrt(np.sum(squares, axis=0)))
