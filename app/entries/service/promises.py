"""Promises of privacy that the published numbers refute, for every choice of quasi-identifiers.

An entry does not state which attributes are quasi-identifiers or sensitive. So a masked value with three records does
not refute `k = 5`: the attribute may not be a quasi-identifier. A fault is only a promise that is false for every
choice of roles. Each rule has its proof.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.evidence import DROP, IDENTITY
from app.entries.model.published import Path, PublishedEntry
from app.platform.errors import Fault, pointer

#: The largest number of faults reported for an upload.
SHOWN = 100

#: Relative tolerance of numbers that a provider computed from logarithms and fractions.
TOLERANCE = 1e-9

#: The criteria that require a number of different sensitive values in each class.
_OF_VALUES = ("l", "entropy_l", "alpha")


def promise_faults(entry: PublishedEntry) -> tuple[Fault, ...]:
    """The first 100 promises that the published numbers refute, without counts."""
    return tuple(islice(_faults(entry), SHOWN))


def _faults(entry: PublishedEntry) -> Iterator[Fault]:
    records = _most_records(entry)
    yield from _more_suppressed_than_all(entry, records)
    yield from _more_than_records(entry, records)
    yield from _more_than_values(entry, records)


def _most_records(entry: PublishedEntry) -> float:
    """The largest possible number of records of the table; infinite if noise leaves it open.

    The label's counts add up to the records. Rounding changes each of them by less than the base.
    """
    label = entry.evidence[0]
    if label.label_perturbation.noise_scale is not None:
        return math.inf
    once = entry.control.rounded_to if entry.control.drawn_once else None
    base = label.label_perturbation.rounded_to or once or 1
    return int(label.label_histogram.sum()) + len(label.label_histogram) * (base - 1)


def _left_out(entry: PublishedEntry) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(configurations,) The least and the largest number of suppressed records that rounding allows."""
    published = np.zeros(len(entry.configurations.ids))
    given = np.array(entry.configurations.suppressed, dtype=np.float64)  # None becomes NaN
    published[: len(given)] = np.nan_to_num(given)
    slack = (entry.control.rounded_to or 1) - 1
    return np.maximum(published - slack, 0), published + slack


def _more_suppressed_than_all(entry: PublishedEntry, records: float) -> Iterator[Fault]:
    """Suppressed records are records of the table, so not more than the table has."""
    least, _ = _left_out(entry)
    for index in np.flatnonzero(least > records)[:SHOWN].tolist():
        yield Fault(pointer("configurations", index, "suppressed"), "These are more records than the entry has")


def _more_than_records(entry: PublishedEntry, records: float) -> Iterator[Fault]:
    """A class is a part of the release, so it has at most as many records as the table without the suppressed ones.

    With `k`, every class has `k` records. A class with `n` different values has at least `n` records. A release without
    any record has no class, and keeps every promise.
    """
    for criterion in ("k", *_OF_VALUES):
        for index in np.flatnonzero(_beyond_records(entry, criterion, records))[:SHOWN].tolist():
            detail = "A class would need more records than this release has"
            yield Fault(pointer(*_place(entry, criterion, index)), detail)


def _beyond_records(entry: PublishedEntry, criterion: str, records: float) -> NDArray[np.bool_]:
    """(configurations,) Whether each promises larger classes than its release, which certainly has records."""
    least, most = _left_out(entry)
    published = float(entry.evidence[0].label_histogram.sum())
    fewest = 2 * published - records  # the errors of rounding have the same bound in both directions
    return (fewest - most > 0) & _exceeds(_needed(entry, criterion), records - least)


def _more_than_values(entry: PublishedEntry, records: float) -> Iterator[Fault]:
    """A class has no more values of a sensitive attribute than the release has of that attribute.

    The sensitive attribute is a column of the release: an attribute, which has at most the values of its masking, or
    the label. So the column with the most values is a bound for all. With several sensitive attributes the worst
    counts, so the bound still holds. The rule does not apply where the number of a column's values is open (`_values`),
    nor where `_more_than_records` does.
    """
    sizes = [_values(entry, place) for place in range(len(entry.evidence))]
    for criterion in _OF_VALUES:
        needed = _needed(entry, criterion)
        more = _exceeds(needed, len(entry.evidence[0].label_histogram)) & ~_beyond_records(entry, criterion, records)
        for index in np.flatnonzero(more).tolist():
            if not _has_values(entry, sizes, index, needed[index]):
                detail = "A class would need more different values than any column of this release has"
                yield Fault(pointer(*_place(entry, criterion, index)), detail)


def _needed(entry: PublishedEntry, criterion: str) -> NDArray[np.float64]:
    """(configurations,) The records or different values that each class must have; NaN without a promise.

    `k` and `l` are this number. The entropy of a distribution on n values is at most ln n, so `entropy_l` is at most n.
    Of n shares that add up to 1, one is at least 1 / n, so `alpha` is at least 1 / n.
    """
    promised = entry.configurations.privacy.get(criterion, np.full(len(entry.configurations.ids), np.nan))
    numbers = np.array(promised, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return 1 / numbers if criterion == "alpha" else numbers


def _values(entry: PublishedEntry, place: int) -> Mapping[str, float]:
    """The largest number of values of an attribute in a release, given the configuration's masking.

    With disclosure control, the published domain may be coarser than the shared unmasked values. A dropped attribute is
    not a column, but a provider may still have measured it as sensitive.
    """
    known = entry.evidence[place]
    unmasked = math.inf if entry.control.is_declared else known.values
    return {IDENTITY: unmasked, DROP: math.inf, **{one.id: one.groups for one in known.maskings}}


def _has_values(entry: PublishedEntry, sizes: Sequence[Mapping[str, float]], index: int, needed: float) -> bool:
    """Whether a configuration shares an attribute that may have the required number of values."""
    chosen = (entry.configurations.maskings[known.name][index] for known in entry.evidence)
    return any(needed <= size[masking] * (1 + TOLERANCE) for size, masking in zip(sizes, chosen, strict=True))


def _exceeds(numbers: NDArray[np.float64], most: NDArray[np.float64] | float) -> NDArray[np.bool_]:
    """Whether numbers exceed a bound, except for rounding; false for NaN."""
    return numbers > most * (1 + TOLERANCE)


def _place(entry: PublishedEntry, criterion: str, index: int) -> Path:
    """The place of the number in the document."""
    if entry.configurations.in_columns:
        return "configuration_table", "privacy", criterion, index
    return "configurations", index, "privacy", criterion
