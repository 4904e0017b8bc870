"""Inference of a secret from all other attributes, as defined by Giomi et al. (PoPETs 2023, section 4.3)."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.records import NUMERIC, Column, Records
from aegis_provider.synth.attacks.case import Case
from aegis_provider.synth.attacks.linkability import nearest
from aegis_provider.synth.attacks.outcome import Outcome, share_of
from aegis_provider.synth.released import ReleasedColumn
from aegis_sdk.reading import Share

NAME: Final = "inference"
TOLERANCE: Final = 0.05
"""A guessed number is right within this share of it."""

_MOST: Final = 1_000


def inference(case: Case) -> Iterator[Outcome]:
    """Guess each secret of a person from the released record that is nearest in all other attributes.

    A released value that may stand for several is replaced by a random one of them. The baseline guesses the value of a
    random released record.
    """
    for secret in case.secrets:
        if len(case.release.columns) > 1:
            yield _inferred(case, secret)


def _inferred(case: Case, secret: str) -> Outcome:
    rng, column = case.rng(f"{NAME} {secret}"), case.release.column(secret)
    rest = case.release.only(set(case.release.names) - {secret})
    seen, held_out = case.fair_to(secret).targets(f"{NAME} {secret}", _MOST)

    def right(targets: Records, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        return is_right(column.original, drawn_values(column, rows, rng), targets.column(secret).places)

    success = share_of(right(seen, nearest(rest, seen, 1, rng)[:, 0]))
    baseline = share_of(right(seen, rng.integers(len(rest), size=len(seen))))
    return Outcome(
        NAME,
        secret,
        len(seen),
        "guesses",
        success,
        baseline,
        share_of(right(held_out, nearest(rest, held_out, 1, rng)[:, 0])) if len(held_out) else None,
        f"From all other attributes, {Share(success.value)} of the guesses of {secret} are right; with random released "
        f"values, {Share(baseline.value)} are.",
    )


def drawn_values(column: ReleasedColumn, rows: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """(rows,) The place of a random original value that each released record may stand for."""
    counts = np.maximum(column.last - column.first + 1, 0)
    before = np.append(0, np.cumsum(counts))
    ends = np.append(column.starts[1:], len(counts))
    codes = column.codes[rows]
    low, high = before[column.starts[codes]], before[ends[codes]]
    has_missing = column.missing[codes] & (column.original.missing is not None)
    number = high - low + has_missing
    drawn = low + rng.integers(0, np.maximum(number, 1))
    span = np.clip(np.searchsorted(before, drawn, side="right") - 1, 0, len(counts) - 1)
    places = np.clip(column.first[span] + drawn - before[span], 0, len(column.positions) - 1)
    is_missing = has_missing & (drawn == high)
    places = np.where(is_missing, column.original.missing or 0, places)
    return np.where(number > 0, places, -1)


def is_right(column: Column, guesses: NDArray[np.intp], truths: NDArray[np.intp]) -> NDArray[np.bool_]:
    """(guesses,) Whether each guess is the true value, or a number within 5 % of the guessed one.

    Dates have no zero for a relative tolerance, so only the same day is right.
    """
    right = (guesses == truths) & (guesses >= 0)
    if column.domain.value_type not in NUMERIC or column.numbers is None:
        return np.asarray(right)
    guess, truth = column.numbers[np.maximum(guesses, 0)], column.numbers[truths]
    with np.errstate(invalid="ignore"):
        return np.asarray(right | ((guesses >= 0) & (np.abs(guess - truth) <= TOLERANCE * np.abs(guess))))
