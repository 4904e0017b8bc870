"""Attribute disclosure: an attacker who knows a person's quasi-identifiers guesses a sensitive attribute.

Source: Bagad et al., Data-Sharing Economy: Value-Addition from Data meets Privacy, WSDM 2021, section 3.
"""

from collections.abc import Iterator
from functools import reduce
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.check import Interval
from aegis_provider.records import Column, Records
from aegis_provider.synth.attacks.case import Case
from aegis_provider.synth.attacks.outcome import CONFIDENCE, Outcome, exactly
from aegis_provider.synth.released.released import Distances, Released, positions_of
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


NAME: Final = "attribute disclosure"
NEIGHBOURS: Final = tuple(range(1, 11))

_MOST: Final = 1_000


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
        sides = [target for target in case.fair_to(secret).targets(f"{NAME} {secret}", _MOST) if len(target)]
        guesses = [guessed(known, side, votes) for side in sides]
        truths = [of_value[side.column(secret).places] for side in sides]
        frequent = int(np.bincount(of_value[case.seen.column(secret).places]).argmax())
        for place, k in enumerate(NEIGHBOURS):
            yield _outcome(secret, k, [guess[place] for guess in guesses], truths, frequent)


def guessed(release: Released, targets: Records, votes: NDArray[np.float32]) -> NDArray[np.intp]:
    """(ks, targets) The class with the most votes among the k nearest released records.

    Args:
        release: The columns that the attacker knows.
        targets: The records.
        votes: (released, classes) The votes of each released record for each class.
    """
    blocks = [[_votes(block, k, votes).argmax(axis=1) for k in NEIGHBOURS] for _, block in release.distances(targets)]
    return np.concatenate([np.array(block) for block in blocks], axis=1)


def _votes(block: Distances, k: int, votes: NDArray[np.float32]) -> NDArray[np.float32]:
    """(targets, classes) The votes of the k nearest; records tied for the last place share the remaining votes."""
    k = min(k, block.shape[1])
    last = np.partition(block, k - 1, axis=1)[:, k - 1 : k]
    nearer, as_near = block < last, block == last
    left = (k - nearer.sum(axis=1)) / as_near.sum(axis=1)
    return np.asarray(nearer.astype(np.float32) @ votes + left[:, None] * (as_near.astype(np.float32) @ votes))


def _outcome(
    secret: str, k: int, guesses: list[NDArray[np.intp]], truths: list[NDArray[np.intp]], frequent: int
) -> Outcome:
    classes = reduce(np.intersect1d, map(np.unique, truths))
    if not len(classes):  # the sides cannot be compared
        guesses, truths, classes = guesses[:1], truths[:1], np.unique(truths[0])
    success, *held_out = (macro_recall(one, true, classes) for one, true in zip(guesses, truths, strict=True))
    truth, guess = truths[0], guesses[0]
    accuracy, majority = float((guess == truth).mean()), float((truth == frequent).mean())
    return Outcome(
        NAME,
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
