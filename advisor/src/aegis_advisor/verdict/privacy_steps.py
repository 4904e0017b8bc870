"""The steps to which measured privacy values are rounded, and the small counts that follow from published ones."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import exp, floor, inf, log10
from typing import Final

from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.reconstruction.ipf import never
from aegis_advisor.verdict.class_counts import ClassLimits, Stated, certain_counts, counts_in_all_tables
from aegis_advisor.verdict.model import Finding, PublishedCounts, Reason

_SHARES: Final = tuple(round(0.05 * step, 2) for step in range(21))
_TIMES: Final = (0.0, 0.1, 0.2, 0.5, *(float(digit * 10**power) for power in range(6) for digit in (1, 2, 5)))
_LOGARITHMS: Final = (0.0, 0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 2.5, *map(float, range(3, 21)))
_VALUES: Final = (1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0)

STEPS: Final = {
    "t": _SHARES,
    "ordered_t": _SHARES,
    "alpha": _SHARES,
    "beta": _TIMES,
    "delta_disclosure": _LOGARITHMS,
    "entropy_l": _VALUES,
}
"""By criterion, the steps, ascending. `k` and `l` have none: they are whole numbers, lower limits of every class."""

_LOWER: Final = "entropy_l"
"""The criterion with higher values for more privacy, which is rounded down."""

Totals = tuple[tuple[int, int], ...]
"""For each value of a sensitive attribute, the minimum and maximum number of the table's records with it."""

_LARGEST: Final = 500.0
_DIGITS: Final = 12
_OPEN: Final = 1e-9


def read(name: str, number: float) -> tuple[float, float]:
    """Return the range of the measured value behind a published one: above the first number, up to the second.

    A step means a value between this step and the next. Any other number is assumed to be rounded in its last digit,
    outwards or to the nearest.
    """
    steps, lower = STEPS[name], name == _LOWER
    place = bisect_left(steps, number)
    if place < len(steps) and steps[place] == number:
        if lower:
            return _closed(number, steps[place + 1] if place + 1 < len(steps) else inf)
        return (steps[place - 1] if place else -1.0), number
    unit = 10.0 ** _last_digit(number)
    return _closed(number - unit / 2, number + unit) if lower else (number - unit, number + unit / 2)


def _closed(low: float, high: float) -> tuple[float, float]:
    """Turn the range from `low` on and below `high` into one above the first and up to the second number."""
    return low * (1 - _OPEN), high * (1 - _OPEN)


def _last_digit(number: float) -> int:
    """The power of ten of the last significant digit of a number, with 2 to 12 digits."""
    first = floor(log10(abs(number))) if number else 0
    digits = f"{number:.{_DIGITS - 1}e}".split("e")[0].replace(".", "").lstrip("-").rstrip("0")
    return first - max(2, len(digits)) + 1


def limits_of(privacy: Mapping[str, float], totals: Totals) -> ClassLimits:
    """Return the limits of every class by published privacy, with the totals of the sensitive values."""
    times = min(1 + privacy.get("beta", inf), exp(min(privacy.get("delta_disclosure", inf), _LARGEST)))
    return ClassLimits(
        totals,
        max(1, int(privacy.get("k", 1))),
        max(1, int(privacy.get("l", 1))),
        min(1.0, privacy.get("alpha", 1.0)),
        times if times < exp(_LARGEST) else inf,
    )


def telling_numbers(privacy: Mapping[str, float], totals: Totals) -> dict[str, dict[str, int]]:
    """Return the published values that imply small counts, with these counts.

    They are counts of the class behind one value (`certain_counts`), or of any class of a small table, which follow
    from a value and earlier harmless ones (`counts_in_all_tables`).

    Args:
        privacy: The published values of a configuration, by criterion.
        totals: For each sensitive value, the minimum and maximum number of the table's records with it.
    """
    telling = {}
    for name in (each for each in STEPS if each in privacy):
        others = limits_of({other: number for other, number in privacy.items() if other != name}, totals)
        if certain := certain_counts(name, *read(name, privacy[name]), others):
            telling[name] = certain
    return telling | _disclosing_together({name: each for name, each in privacy.items() if name not in telling}, totals)


def _disclosing_together(privacy: Mapping[str, float], totals: Totals) -> dict[str, dict[str, int]]:
    telling, limits = {}, limits_of(_least_of_classes(privacy), totals)
    kept: Stated = ()
    for name in (each for each in STEPS if each in privacy):
        low, high = read(name, privacy[name])
        certain = counts_in_all_tables((*kept, (name, low, high)), limits)
        if certain:
            telling[name] = certain
        elif certain is not None:  # a value that no table reaches is a promise
            kept = (*kept, (name, low, high))
    return telling


def _least_of_classes(privacy: Mapping[str, float]) -> dict[str, float]:
    return {name: number for name, number in privacy.items() if name not in STEPS}


def _discloses(name: str, between: tuple[float, float], limits: ClassLimits) -> bool:
    return bool(certain_counts(name, *between, limits) or counts_in_all_tables(((name, *between),), limits))


def published_privacy(
    measured: Mapping[str, float], promised: Mapping[str, float], sensitive: Sequence[Totals]
) -> dict[str, float]:
    """Return the values to publish for measured ones, so that no small count of a class follows from them.

    A value is rounded to the next step that is not stronger, unless the promise is stronger: then the promise is
    published unchanged. Where a step would disclose a count, a weaker one replaces it. A value without a remaining step
    is not published. All this depends only on what else is published.

    Args:
        measured: The values that a configuration reaches, by criterion: upper limits, for `entropy_l` lower limits.
        promised: The values promised for it, whatever is measured.
        sensitive: For each sensitive attribute, its totals as known to readers.
    """
    privacy = _least_of_classes(measured)
    for name in (each for each in STEPS if each in measured):
        if sensitive:
            known = tuple(limits_of(privacy, totals) for totals in sensitive)
            published = _published(name, measured[name], promised.get(name), known)
        else:
            published = measured[name]
        if published is not None:
            privacy[name] = published
    for totals in sensitive:  # values rounded later say more about the class behind earlier ones
        for name in telling_numbers(privacy, totals):
            del privacy[name]
    return {name: float(privacy[name]) for name in measured if name in privacy}


def _published(name: str, measured: float, promised: float | None, known: tuple[ClassLimits, ...]) -> float | None:
    bounds = _bounds(name, promised, known)
    if name == _LOWER:
        return max((bound for bound in bounds if bound <= measured * (1 + _OPEN)), default=None)
    return min((bound for bound in bounds if bound >= measured * (1 - _OPEN)), default=None)


@lru_cache(maxsize=4096)
def _bounds(name: str, promised: float | None, known: tuple[ClassLimits, ...]) -> tuple[float, ...]:
    """Return all values that may be published for a criterion, the weakest first.

    No count follows from any of them as it is read, nor from the range between two neighbours: readers who know these
    values know that the next stronger one was not reached. Anything weaker than all of them is not published.
    """
    lower = name == _LOWER

    def discloses(cell: tuple[float, float]) -> bool:
        return any(_discloses(name, cell, limits) for limits in known)

    def between(weaker: float, stronger: float) -> tuple[float, float]:
        return _closed(weaker, stronger) if lower else (stronger, weaker)

    weakest, strongest = (0.0, inf) if lower else (inf, -1.0)
    bounds = [] if promised is None else [_unsuspicious(name, promised, known)]
    last = weakest if promised is None else promised
    for step in STEPS[name] if lower else reversed(STEPS[name]):
        is_stronger = step > last if lower else step < last
        if is_stronger and not discloses(between(last, step)) and not discloses(read(name, step)):
            bounds.append(step)
            last = step
    while len(bounds) > 1 and discloses(between(bounds[-1], strongest)):
        bounds.pop()
    return tuple(bounds)


def _unsuspicious(name: str, promised: float, known: tuple[ClassLimits, ...]) -> float:
    """Return the promise, or the next weaker step that does not seem to imply a count."""
    steps = STEPS[name] if name != _LOWER else tuple(reversed(STEPS[name]))
    weaker = (each for each in steps if (each < promised if name == _LOWER else each > promised))
    for number in (promised, *weaker):
        if not any(_discloses(name, read(name, number), limits) for limits in known):
            return number
    return promised


_DEVIATIONS: Final = 5
"""Noise beyond this many times its scale is not expected."""


def find_in_privacy(published: PublishedCounts, stop: Callable[[], bool] = never) -> Iterator[Finding]:
    """Yield the privacy values from which small counts follow, if the label is sensitive.

    The sensitive attributes are not published; readers are assumed to know that the label is one. Of an entry that
    counts people nothing follows here: the people with each label value, some with several, are not published.

    Args:
        stop: called for each distinct configuration; if true, the others are undecided.
    """
    if published.rows_per_person > 1:
        return
    totals, releases = label_totals(published.evidence[0]), published.releases
    names, columns = tuple(releases.privacy), tuple(releases.privacy.values())
    known: dict[tuple[float | None, ...], Mapping[str, Mapping[str, int]]] = {}
    for place, numbers in enumerate(zip(*columns, strict=True)):
        if numbers not in known:
            if stop():
                yield Finding(Reason.UNDECIDED, releases.place_of(place, names[0]), 1)
                return
            stated = zip(names, numbers, strict=True)
            known[numbers] = telling_numbers({name: each for name, each in stated if each is not None}, totals)
        for name, counts in known[numbers].items():
            yield Finding(Reason.CERTAIN, releases.place_of(place, name), len(counts))


def label_totals(evidence: AttributeEvidence) -> Totals:
    """Return the minimum and maximum records of each label value; a listed one has a record."""
    off = evidence.label_perturbation
    if off.noise_scale is not None:
        slack = int(_DEVIATIONS * off.noise_scale)
    else:
        slack = (off.rounded_to or evidence.rounded_once or 1) - 1
    return tuple((max(1, count - slack), max(1, count + slack)) for count in evidence.label_histogram.tolist())
