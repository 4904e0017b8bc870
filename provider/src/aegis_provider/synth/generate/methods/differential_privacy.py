"""Zero-concentrated differential privacy (zCDP): budgets rho, the implied (epsilon, delta), and levels chosen with it.

Levels are the frequent categories, and the intervals of numbers. Every record has one value in each column, so it is in
one cell of each histogram here, and noise of deviation s on all cells uses 1 / 2s^2 of the budget (Bun and Steinke
2016, proposition 1.6). Budgets add up (lemma 1.7).

Categories come from the table, so an additional record can bring a new one. A category becomes a level only if its
noisy count reaches a threshold that 1 plus noise hardly ever reaches (Korolova, Kenthapadi, Mishra and Ntoulas 2009,
"Releasing search queries and clicks privately"; with Gaussian noise, Wilson et al. 2020, "Differentially private SQL
with bounded user contribution"). All other categories share a level, which always exists.

Numbers lie on a grid independent of the table: 0, and on both sides intervals between powers of 2. Intervals with many
records are halved repeatedly. The type of numbers is the plan's; a text of another type counts as missing.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Self

import numpy as np
import opendp.prelude as dp
import scipy
from numpy.typing import NDArray

from aegis_provider.errors import TableError, UnmaskableValueError, shortened
from aegis_provider.records import Column
from aegis_provider.synth.generate.levels import (
    FEWEST,
    MOST,
    Codes,
    Levels,
    Stretches,
    Units,
    of_frequent,
    of_nothing,
    positions_of,
)
from aegis_provider.table.values import IN_ORDER, MISSING, ValueType, key_of

# Otherwise OpenDP offers only functions with fully vetted proofs.
dp.enable_features("contrib")


def noisy(counts: NDArray[np.int64], deviation: float) -> NDArray[np.float64]:
    """Return counts with exact discrete Gaussian noise (Canonne, Kamath and Steinke 2020)."""
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    measurement = dp.m.make_gaussian(*space, scale=deviation)
    return np.array(measurement(counts.ravel().tolist()), dtype=np.float64).reshape(counts.shape)


def noisy_largest(scores: Sequence[int], rho: float) -> int:
    """Return the place of a large score by the exponential mechanism.

    Args:
        scores: One record changes each by at most 1.
        rho: The budget. A choice with probabilities as exp(epsilon score / 2) is epsilon^2 / 8-zCDP (Cesar and Rogers
            2021, "Bounding, concentrating, and truncating"); Gumbel noise of scale 2 / epsilon makes it.
    """
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    scale = 2 / np.sqrt(8 * rho)
    return int(dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=float(scale))(list(scores)))


_LEAST: Final = 1e-15
"""Relative step for lowering a budget that rounding made too large."""


_ROUNDING: Final = 1e-12
"""Unused share of the budget, so that rounding never exceeds it."""

STEPS: Final[Mapping[str, float]] = {
    "how many records there are": 0.02,
    "the levels of each column": 0.23,
    "the counts of each column": 0.25,
    "the choice of pairs": 0.25,
    "the counts of these pairs": 0.25,
}
"""The share of rho of each step that looks at records. All other steps use only the results of these."""

_RARE: Final = 0.5
"""The share of delta for values of a single record; see `private_levels`."""


@dataclass(frozen=True)
class Budget:
    """The budgets of the steps.

    Attributes:
        rare: The probability that a value of a single record becomes a level.
        tree: The rho of the tree: the counts of columns, the choice of pairs, and their counts.
    """

    records: float
    levels: float
    rare: float
    tree: float

    @classmethod
    def of(cls, epsilon: float, delta: float) -> Self:
        """Divide (epsilon, delta).

        If all but an event of the probability `rare` is rho-zCDP, the whole is (epsilon, rare + delta')-differentially
        private for each (epsilon, delta') that rho implies (Bun and Steinke 2016, section 8: rho and `rare` add up).
        """
        rare = _RARE * delta
        rho = rho_of(epsilon, delta - rare) * (1 - _ROUNDING)
        records, levels, *tree = (share * rho for share in STEPS.values())
        return cls(records, levels, rare, sum(tree))


def log_delta_of(rho: float, epsilon: float) -> float:
    """Return the logarithm of a delta such that rho-zCDP implies (epsilon, delta)-differential privacy.

    Canonne, Kamath and Steinke 2020, section 2.3: any alpha > 1 gives one,

        delta = exp((alpha - 1)(alpha rho - epsilon)) / (alpha - 1) * (1 - 1 / alpha)^alpha,

    and the least is where (2 alpha - 1) rho - epsilon + log(1 - 1 / alpha) is 0. It is less than the delta of Bun and
    Steinke 2016, proposition 1.3.

    Args:
        rho: The budget of zCDP, more than 0.
        epsilon: At least 0.
    """

    def slope(log: float) -> float:
        return (1 + 2 * math.exp(log)) * rho - epsilon + log - math.log1p(math.exp(log))

    # The variable is log(alpha - 1), since alpha may be 1 + 1e-10 or 1e10. The slope is negative at the first bound
    # and positive at the second.
    log = scipy.optimize.brentq(slope, -3 * rho - 1, math.log1p((epsilon + 1) / (2 * rho)), xtol=1e-12)
    over, ratio = math.exp(log), log - math.log1p(math.exp(log))
    return min(0.0, over * ((1 + over) * rho - epsilon) + (1 + over) * ratio - log)


def rho_of(epsilon: float, delta: float) -> float:
    """Return the largest rho, up to rounding, such that rho-zCDP implies (epsilon, delta)-differential privacy.

    Args:
        epsilon: More than 0.
        delta: In (0, 1).
    """

    def excess(log_rho: float) -> float:
        return log_delta_of(math.exp(log_rho), epsilon) - math.log(delta)

    low = high = math.log(epsilon)
    while excess(low) > 0:
        low -= 1
    while excess(high) < 0:
        high += 1
    rho, step = math.exp(scipy.optimize.brentq(excess, low, high, xtol=1e-12)), _LEAST
    while log_delta_of(rho, epsilon) > math.log(delta):
        rho, step = rho * (1 - step), 2 * step
    return rho


HALVINGS: Final = 10
"""Maximum number of halvings of an interval: to a thousandth of a power of 2."""

_DIGITS: Final = 18
_LARGEST: Final = 10**_DIGITS - 1
_BITS: Final = 60
_POWERS: Final[NDArray[np.int64]] = 2 ** np.arange(_BITS, dtype=np.int64)
_LOW: Final = np.concatenate([1 - 2 * _POWERS[::-1], [0], _POWERS])
_HIGH: Final = -_LOW[::-1]
_CERTAIN: Final = 5
"""Of 122 empty cells, hardly ever one has a noisy count of this many standard deviations."""

_LIKELY: Final = 3
"""An interval with this many standard deviations is halved."""

_LEAST_COUNT: Final = 0.5
"""Minimum count of a level, whatever the noise."""

_EPOCH: Final = 719_163
"""The ordinal of 1970-01-01, the origin of days; the grid is finer near 0."""

_LAST_DAY: Final = 3_652_059

Histogram = Callable[[Codes, int], NDArray[np.float64]]
"""Returns the noisy counts of this many cells, given the cell of each value of the domain, or -1 for none."""


def private_levels(
    columns: Sequence[Column], types: Sequence[ValueType | None], rho: float, delta: float
) -> tuple[list[Levels], list[str]]:
    """Return the levels of columns, and the texts of the label's levels, except the last, which has none.

    All together are delta-approximately rho-zCDP (Bun and Steinke 2016, section 8).

    Args:
        columns: The columns of the training records, each value as written; the label is the last.
        types: The types of the attributes in the plan. Without one, and for the label, values are categories.
        rho: The budget, shared equally by all columns.
        delta: The probability that a value of only one record becomes a level in some column.

    Raises:
        TableError: No category of a column, or fewer than two of the label, stand out from the noise.
    """
    parts = rho / len(columns), delta / len(columns)
    *attributes, label = columns
    levels = [
        _of_numbers(column, kind, parts[0]) if kind in IN_ORDER else _of_categories(column, *parts)[0]
        for column, kind in zip(attributes, types, strict=False)
    ]
    of_label, labels = _of_categories(label, *parts)
    if len(labels) < 2:  # noqa: PLR2004 - one class
        raise TableError(
            f"the label {shortened(label.name)} has fewer than two values that stand out from the noise, so there is "
            "nothing to predict; choose another label, or a larger epsilon"
        )
    return [*levels, of_label], [*labels, ""]


def threshold_of(deviation: float, delta: float) -> int:
    """Return the smallest count that 1 plus discrete Gaussian noise reaches with a probability of at most delta.

    Such noise is at least m with at most the probability that continuous noise is at least m - 1, for whole m above 0
    (Canonne, Kamath and Steinke 2020, proposition 25).
    """
    return 2 + math.ceil(deviation * float(scipy.stats.norm.isf(delta)))


def _of_categories(column: Column, rho: float, delta: float) -> tuple[Levels, list[str]]:
    """Return a level for each category that stands out, one for any others, and the former categories."""
    present, deviation = np.flatnonzero(column.counts), math.sqrt(1 / (2 * rho))
    counts = noisy(column.counts[present], deviation)
    stands_out = counts >= max(FEWEST, threshold_of(deviation, delta))
    frequent, weights = present[stands_out], counts[stands_out]
    if not len(frequent):
        raise TableError(
            f"{shortened(column.name)}: no value stands out from the noise; leave the column out of the plan, state "
            "its type if it has numbers or dates, or choose a larger epsilon"
        )
    levels = of_frequent(column, frequent, weights, np.append(weights, 0.0) / weights.sum())
    return levels, [column.domain.texts[place] for place in frequent]


def _of_numbers(column: Column, kind: ValueType | None, rho: float) -> Levels:
    """Return a level for missing numbers, if they stand out, and levels for intervals of the grid."""
    queries = 1 + HALVINGS + 2 * (kind == ValueType.NUMBER)
    deviation = math.sqrt(queries / (2 * rho))
    sure = max(FEWEST, _CERTAIN * deviation)

    def histogram(cells: Codes, size: int) -> NDArray[np.float64]:
        inside = cells >= 0
        return noisy(np.bincount(cells[inside], column.counts[inside], size).astype(np.int64), deviation)

    keys = [_key(text, kind) for text in column.domain.texts]
    known = np.array([key is not None for key in keys], dtype=bool)
    decimals = _decimals(keys, histogram, sure) if kind == ValueType.NUMBER else 0
    units = np.array([_unit(key, decimals) for key in keys], dtype=np.int64)
    bits = np.searchsorted(_POWERS, np.abs(units), side="right") * np.sign(units)
    counts = histogram(np.where(known, bits + _BITS, len(_LOW)), len(_LOW) + 1)
    held, is_missing_frequent = np.flatnonzero(counts[:-1] >= sure), bool(counts[-1] >= sure)
    if is_missing_frequent and not len(held):
        return of_nothing(column)
    held = held if len(held) else np.array([counts[:-1].argmax()])
    units = _nearest(units, _LOW[held], _HIGH[held])
    low, high, of_stretches = _halved(held, counts, units, known, histogram, max(FEWEST, _LIKELY * deviation))
    first = int(is_missing_frequent)
    of_value = np.where(known, first + np.searchsorted(low, units, side="right") - 1, 0)
    weights = np.maximum(np.append(counts[-1:][:first], of_stretches), _LEAST_COUNT)
    shares = weights / weights.sum()
    if kind == ValueType.DATE:
        low, high = (np.clip(each + _EPOCH, 1, _LAST_DAY) for each in (low, high))
    decoder = Stretches(
        Units(units, ~known, None if kind == ValueType.DATE else decimals),
        np.append(low[:first], low),  # of what is missing, nothing is written
        np.append(high[:first], high),
        first,
    )
    return Levels(column.name, of_value, shares, positions_of(shares, first), 0 if first else None, decoder)


def _key(text: str, kind: ValueType | None) -> Decimal | None:
    """Return a number, for a date its days since 1970, or `None` if the text is missing or of another type."""
    if text == MISSING or kind is None:
        return None
    try:
        key = key_of(text, kind)
    except UnmaskableValueError:
        return None
    return Decimal(key.toordinal() - _EPOCH) if kind == ValueType.DATE else key


def _decimals(keys: Sequence[Decimal | None], histogram: Histogram, sure: float) -> int:
    """Return the maximum decimals that several numbers certainly have, limited by the digits of the largest number."""
    decimals, digits = np.full((2, len(keys)), -1, dtype=np.intp)  # of no number
    for place, key in enumerate(keys):
        if key is not None:
            decimals[place] = min(max(-int(key.as_tuple().exponent), 0), _DIGITS - 1)
            digits[place] = min(max(key.adjusted() + 1 if key else 0, 0), _DIGITS)
    both = (decimals, _DIGITS), (digits, _DIGITS + 1)
    of_decimals, of_digits = (int(np.flatnonzero(histogram(*each) >= sure).max(initial=0)) for each in both)
    return min(of_decimals, _DIGITS - of_digits)


def _unit(key: Decimal | None, decimals: int) -> int:
    return 0 if key is None else min(max(round(key.scaleb(decimals)), -_LARGEST), _LARGEST)


def _nearest(units: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int64]:
    """(values,) Return each number, or the nearest end of an interval if it is in none."""
    place = np.searchsorted(low, units, side="right") - 1
    below, above = high[np.maximum(place, 0)], low[np.minimum(place + 1, len(low) - 1)]
    moved = np.where((place == len(low) - 1) | (units - below <= above - units), below, above)
    return np.where(place < 0, low[0], np.where(units <= below, units, moved))


def _halved(
    held: Codes,
    counts: NDArray[np.float64],
    units: NDArray[np.int64],
    known: NDArray[np.bool_],
    histogram: Histogram,
    enough: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Halve intervals of the grid with enough records repeatedly; return their ends and their noisy counts."""
    low, high, counts = _LOW[held], _HIGH[held], counts[held]
    enough = max(enough, float(counts.sum()) / MOST)
    is_new = np.ones(len(low), dtype=bool)
    for _ in range(HALVINGS):
        halved = is_new & (counts >= enough) & (low < high)
        if not halved.any():
            break
        middle = low + (high - low) // 2
        order = np.argsort(np.append(low, middle[halved] + 1), kind="stable")
        low = np.append(low, middle[halved] + 1)[order]
        high = np.append(np.where(halved, middle, high), high[halved])[order]
        is_new = np.append(halved, halved[halved])[order]
        cells = np.searchsorted(low, units, side="right") - 1
        cells = np.where(known & is_new[cells], cells, -1)
        counts = np.where(is_new, histogram(cells, len(low)), np.append(counts, counts[halved])[order])
    return low, high, counts
