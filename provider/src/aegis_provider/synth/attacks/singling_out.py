"""Singling out, as defined by Giomi et al.: a predicate that is true for exactly one record of the table.

Source: Giomi et al., A Unified Framework for Quantifying Privacy Risk in Synthetic Data, PoPETs 2023, section 4.1.
"""

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.check import Interval
from aegis_provider.records import Records
from aegis_provider.synth.attacks.case import Case
from aegis_provider.synth.attacks.outcome import CONFIDENCE, Outcome, wilson
from aegis_provider.synth.released import Released, ReleasedColumn
from aegis_sdk.reading import Share

NAME: Final = "singling out"
COLUMNS: Final = 4
"""Maximum columns of a predicate."""

_MOST: Final = 500
_TRIES: Final = 2_500

Part: TypeAlias = tuple[str, NDArray[np.bool_]]
"""A column, and (values,) whether the predicate permits each value."""

Predicate: TypeAlias = Sequence[Part]


def singling_out(case: Case) -> Iterator[Outcome]:
    """Find predicates that single out one released record, and test whether they single out a real one.
    On one column, these are rare and extreme values of the release. On several columns, they describe a random released
    record: its categories, and upper or lower bounds on its numbers. The baseline takes random values. Both sides are
    represented by equally many persons.
    """
    rng = case.rng(NAME)
    sides = [side for side in case.equal_sides(NAME) if len(side)]
    made = {
        "one column": (univariate(case.release, rng), 1),
        f"{min(COLUMNS, len(case.release.columns))} columns": (multivariate(case.release, rng), COLUMNS),
    }
    for variant, (predicates, columns) in made.items():
        if predicates:
            blind = [_blind(case.release, columns, rng) for _ in range(_MOST)]
            yield _outcome(variant, predicates, blind, [(side, side.distinct(case.persons_by)[1]) for side in sides])


def _outcome(
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
    return Outcome(
        NAME,
        variant,
        len(predicates),
        "predicates",
        success,
        baseline,
        held_out[0] if held_out else None,
        f"Of {len(predicates):,} predicates that single out a released record, {hits:,} single out one of "
        f"{len(searched):,} real ones; {Share(baseline.value)} of random predicates do.",
    )


def univariate(release: Released, rng: np.random.Generator) -> list[Predicate]:
    """Return predicates on one column each: values of a single released record, and extreme numbers."""
    found = [(column, *rare) for column in release.columns for rare in _rare(column)]
    chosen = (found[place] for place in rng.permutation(len(found))[:_MOST])
    return [[(column.name, _allowed(column, text, extreme))] for column, text, extreme in chosen]


def _rare(column: ReleasedColumn) -> Iterator[tuple[int, int]]:
    """Yield texts: with 0 if only one record has it, and with -1 and 1 for the smallest and the largest numbers."""
    counts = np.bincount(column.codes, minlength=len(column.texts))
    yield from ((int(text), 0) for text in np.flatnonzero(counts == 1))
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


def multivariate(release: Released, rng: np.random.Generator) -> list[Predicate]:
    """Return predicates on several columns that one released record alone satisfies."""
    found: list[Predicate] = []
    for _ in range(_TRIES):
        record = int(rng.integers(len(release)))
        places = rng.permutation(len(release.columns))[:COLUMNS]
        parts = [_about(release.columns[place], record) for place in places]
        matching = np.logical_and.reduce([matches for _, matches in parts])
        if matching.sum() == 1:
            found.append([part for part, _ in parts])
        if len(found) == _MOST:
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
    """(predicates,) The only record that satisfies each predicate; -1 if there is none."""
    places = {column.name: column.places for column in records.columns}
    satisfied = (
        np.logical_and.reduce([allowed[places[name]] for name, allowed in predicate]) for predicate in predicates
    )
    return np.array([each.argmax() if np.count_nonzero(each) == 1 else -1 for each in satisfied], dtype=np.intp)


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
