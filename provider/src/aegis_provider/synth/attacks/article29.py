"""Singling out, linkability and inference: the three risks of the Article 29 Working Party (Opinion 05/2014).

Source: Giomi, Boenisch, Wehmeyer and Tasnádi, A Unified Framework for Quantifying Privacy Risk in Synthetic Data,
PoPETs 2023, sections 4.1 to 4.3. Ties between released records at equal distance are broken at random.
"""

from collections.abc import Iterator, Sequence
from math import comb
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.check import Interval
from aegis_provider.records import NUMERIC, Column, Records
from aegis_provider.synth.attacks.attack import CONFIDENCE, Case, Outcome, exactly, share_of, wilson
from aegis_provider.synth.released.released import Released, ReleasedColumn
from aegis_sdk.reading import Share

SINGLING_OUT: Final = "singling out"
COLUMNS: Final = 4
"""Maximum columns of a predicate."""

_PREDICATES: Final = 500
_TRIES: Final = 2_500

Part: TypeAlias = tuple[str, NDArray[np.bool_]]
"""A column, and (values,) whether the predicate permits each value."""

Predicate: TypeAlias = Sequence[Part]


def singling_out(case: Case) -> Iterator[Outcome]:
    """Find predicates that single out one released record, and test whether they single out a real one.

    On one column, these are rare and extreme values of the release. On several columns, they describe a random released
    record: its categories, and upper or lower bounds on its numbers. The baseline takes random values. Both sides are
    represented by equally many persons. If the plan says whose records are, a person may have several: predicates
    single out as many released records, and real ones of a single person.
    """
    rng = case.rng(SINGLING_OUT)
    sides = [side for side in case.equal_sides(SINGLING_OUT) if len(side)]
    made = {
        "one column": (univariate(case.release, rng, case.rows), 1),
        f"{min(COLUMNS, len(case.release.columns))} columns": (multivariate(case.release, rng, case.rows), COLUMNS),
    }
    for variant, (predicates, columns) in made.items():
        if predicates:
            blind = [_blind(case.release, columns, rng) for _ in range(_PREDICATES)]
            yield _isolating(variant, predicates, blind, [(side, side.persons(case.persons_by)[1]) for side in sides])


def _isolating(
    variant: str,
    predicates: list[Predicate],
    blind: list[Predicate],
    sides: list[tuple[Records, NDArray[np.intp]]],
) -> Outcome:
    """Return the outcome on the records of each side, given the person of each record."""
    success, *held_out = (_share(isolated(predicates, each), persons) for each, persons in sides)
    searched, persons = sides[0]
    baseline = _share(isolated(blind, searched), persons)
    hits = round(success.value * len(predicates))
    few, real = "a released record", f"one of {len(searched):,} real ones"
    if searched.people is not None:
        few, real = "the released records that one person may have", f"one of {len(np.unique(persons)):,} people"
    return Outcome(
        SINGLING_OUT,
        variant,
        len(predicates),
        "predicates",
        success,
        baseline,
        held_out[0] if held_out else None,
        f"Of {len(predicates):,} predicates that single out {few}, {hits:,} single out {real}; "
        f"{Share(baseline.value)} of random predicates do.",
    )


def univariate(release: Released, rng: np.random.Generator, rows: int = 1) -> list[Predicate]:
    """Return predicates on one column each: values of at most `rows` released records, and extreme numbers."""
    rare = [(column, *each) for column in release.columns for each in _rare(column, rows)]
    chosen = (rare[place] for place in rng.permutation(len(rare))[:_PREDICATES])
    return [[(column.name, _allowed(column, text, extreme))] for column, text, extreme in chosen]


def _rare(column: ReleasedColumn, rows: int) -> Iterator[tuple[int, int]]:
    """Yield texts: with 0 if at most `rows` records have it, and with -1 and 1 for the smallest and largest numbers."""
    counts = np.bincount(column.codes, minlength=len(column.texts))
    yield from ((int(text), 0) for text in np.flatnonzero((counts > 0) & (counts <= rows)))
    occurring = np.flatnonzero((counts > 0) & np.isfinite(column.low[column.starts]))
    if column.is_numeric and len(occurring):
        yield int(occurring[column.middles[occurring].argmin()]), -1
        yield int(occurring[column.middles[occurring].argmax()]), 1


def _allowed(column: ReleasedColumn, text: int, extreme: int) -> NDArray[np.bool_]:
    """(values,) The values that a text stands for, or those up to or from it."""
    start = column.starts[text]
    with np.errstate(invalid="ignore"):
        if extreme:
            own = column.high[start] if extreme < 0 else column.low[start]
            return np.asarray(extreme * column.positions >= extreme * own)
    return allowed_by(column, text)


def multivariate(release: Released, rng: np.random.Generator, rows: int = 1) -> list[Predicate]:
    """Return predicates on several columns that at most `rows` released records satisfy."""
    found: list[Predicate] = []
    for _ in range(_TRIES):
        record = int(rng.integers(len(release)))
        places = rng.permutation(len(release.columns))[:COLUMNS]
        parts = [_about(release.columns[place], record) for place in places]
        matching = np.logical_and.reduce([matches for _, matches in parts])
        if matching.sum() <= rows:
            found.append([part for part, _ in parts])
        if len(found) == _PREDICATES:
            break
    return found


def _about(column: ReleasedColumn, record: int) -> tuple[Part, NDArray[np.bool_]]:
    """Return a predicate on one column of a released record, and (released,) the records that satisfy it."""
    text = int(column.codes[record])
    start = column.starts[text]
    if not column.is_numeric or not np.isfinite(column.low[start]):
        return (column.name, allowed_by(column, text)), column.codes == text
    low, high = column.low[column.starts], column.high[column.starts]
    with np.errstate(invalid="ignore"):
        if column.middles[text] > 0.5:  # noqa: PLR2004 - the median, by rank
            return (column.name, column.positions >= low[text]), (low >= low[text])[column.codes]
        return (column.name, column.positions <= high[text]), (high <= high[text])[column.codes]


def allowed_by(column: ReleasedColumn, text: int) -> NDArray[np.bool_]:
    """(values,) The original values that a released text may stand for."""
    allowed = np.zeros(len(column.positions), dtype=bool)
    spans = slice(column.starts[text], np.append(column.starts[1:], len(column.first))[text])
    for first, last in zip(column.first[spans], column.last[spans], strict=True):
        allowed[first : last + 1] = True
    if column.is_numeric and column.original.missing is not None:
        allowed[column.original.missing] = column.missing[text]
    return allowed


def _blind(release: Released, columns: int, rng: np.random.Generator) -> Predicate:
    """Return a predicate about random values of random columns."""
    parts: list[Part] = []
    for place in rng.permutation(len(release.columns))[:columns]:
        column = release.columns[place]
        values = np.arange(len(column.positions))
        value = int(rng.integers(len(values)))
        ways = (values == value, values <= value, values >= value)
        parts.append((column.name, ways[int(rng.integers(3)) if column.is_numeric else 0]))
    return parts


def isolated(predicates: Sequence[Predicate], records: Records) -> NDArray[np.intp]:
    """(predicates,) The only record, or the first of the only person, that satisfies each predicate; -1 without one."""
    people = np.arange(len(records)) if records.people is None else records.people
    places = {column.name: column.places for column in records.columns}
    satisfied = (
        np.logical_and.reduce([allowed[places[name]] for name, allowed in predicate]) for predicate in predicates
    )
    return np.array([_of_one(np.flatnonzero(each), people) for each in satisfied], dtype=np.intp)


def _of_one(rows: NDArray[np.intp], people: NDArray[np.intp]) -> int:
    """Return the first of these records if all are of one person, else -1."""
    return int(rows[0]) if len(rows) and (people[rows] == people[rows[0]]).all() else -1


def _share(of_predicate: NDArray[np.intp], persons: NDArray[np.intp]) -> Interval:
    """Return the share of the predicates that isolate a record.

    Many predicates may isolate a record of the same person, so the interval is that of a sum over randomly assigned
    persons, or that of a share of predicates if this is wider.
    """
    hits = persons[of_predicate[of_predicate >= 0]]
    share = wilson(len(hits), len(of_predicate))
    half = CONFIDENCE * float(np.sqrt(np.sum(np.bincount(hits) ** 2))) / len(of_predicate)
    low, high = min(share.low, share.value - half), max(share.high, share.value + half)
    return Interval(share.value, max(0.0, low), min(1.0, high))


LINKABILITY: Final = "linkability"
LINKED_AMONG: Final = (1, 5, 10)

_MOST: Final = 1_000
_TIES: Final = np.float32(1e-6)


def linkability(case: Case) -> Iterator[Outcome]:
    """Link two parts of a person's attributes, each known from elsewhere, through the release.

    The attack succeeds on a person if a released record is among the k nearest in both parts: here every other column,
    and the rest. The baseline is the chance that two random choices of k records overlap.
    """
    first, second = case.release.names[::2], case.release.names[1::2]
    if not second:
        return
    rng = case.rng(LINKABILITY)
    sides = [target for target in case.targets(LINKABILITY, _MOST) if len(target)]
    ranks, released = [first_links(case.release, side, (first, second), rng) for side in sides], len(case.release)
    for k in (each for each in LINKED_AMONG if each <= released):
        success, *held_out = (share_of(rank <= k) for rank in ranks)
        yield Outcome(
            LINKABILITY,
            f"k = {k}",
            len(sides[0]),
            "persons",
            success,
            exactly(1 - comb(released - k, k) / comb(released, k)),
            held_out[0] if held_out else None,
            f"For {Share(success.value)} of the persons, one released record is among the {k} nearest in both parts of "
            "their attributes, which links the parts.",
        )


def first_links(
    release: Released, targets: Records, parts: tuple[Sequence[str], Sequence[str]], rng: np.random.Generator
) -> NDArray[np.intp]:
    """(targets,) The least k for which a released record is among the k nearest in both parts; 11 if above 10."""
    most = min(LINKED_AMONG[-1], len(release))
    first, second = (nearest(release.only(part), targets, most, rng) for part in parts)
    same = first[:, :, None] == second[:, None, :]
    ranks = np.maximum.outer(np.arange(1, most + 1), np.arange(1, most + 1))
    return np.asarray(np.where(same, ranks, LINKED_AMONG[-1] + 1).min(axis=(1, 2)))


def nearest(release: Released, targets: Records, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """(targets, k) The k nearest released records, the nearest first; equally near ones in a random order."""
    blocks = []
    for _, block in release.distances(targets):
        # Noise smaller than any relevant difference of distances breaks ties at random.
        drawn = block + _TIES * rng.random(block.shape, dtype=np.float32)
        chosen = np.argpartition(drawn, k - 1, axis=1)[:, :k]
        order = np.take_along_axis(drawn, chosen, axis=1).argsort(axis=1)
        blocks.append(np.take_along_axis(chosen, order, axis=1))
    return np.concatenate(blocks)


INFERENCE: Final = "inference"
TOLERANCE: Final = 0.05
"""A guessed number is right within this share of it."""


def inference(case: Case) -> Iterator[Outcome]:
    """Guess each secret of a person from the released record that is nearest in all other attributes.

    A released value that may stand for several is replaced by a random one of them. The baseline guesses the value of a
    random released record.
    """
    if len(case.release.columns) > 1:
        yield from (_inferred(case, secret) for secret in case.secrets)


def _inferred(case: Case, secret: str) -> Outcome:
    rng, column = case.rng(f"{INFERENCE} {secret}"), case.release.column(secret)
    rest = case.release.only(set(case.release.names) - {secret})
    seen, held_out = case.fair_to(secret).targets(f"{INFERENCE} {secret}", _MOST)

    def right(targets: Records, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        return is_right(column.original, drawn_values(column, rows, rng), targets.column(secret).places)

    success = share_of(right(seen, nearest(rest, seen, 1, rng)[:, 0]))
    baseline = share_of(right(seen, rng.integers(len(rest), size=len(seen))))
    return Outcome(
        INFERENCE,
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
