"""Promises of privacy that the published numbers refute, whatever attributes identify people.

An entry does not say which attributes are quasi-identifiers and which are sensitive. So a masked value with three
records does not refute `k = 5`: nobody may know this attribute of a person. Only what is false for every choice of
roles is a fault. Each rule has its proof.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.evidence import DROP, IDENTITY
from app.entries.model.published import Path, PublishedEntry
from app.platform.errors import Fault, pointer

#: The most faults reported for an upload.
SHOWN = 100

#: Relative tolerance of numbers that a provider computed from logarithms and fractions.
TOLERANCE = 1e-9

#: The criteria that need a number of different sensitive values in each class.
_OF_VALUES = ("l", "entropy_l", "alpha")


def promise_faults(entry: PublishedEntry) -> tuple[Fault, ...]:
    """The first 100 promises that the published numbers refute, without any count."""
    return tuple(islice(_faults(entry), SHOWN))


def _faults(entry: PublishedEntry) -> Iterator[Fault]:
    records = _most_records(entry)
    yield from _more_suppressed_than_all(entry, records)
    yield from _more_than_records(entry, records)
    yield from _more_than_values(entry, records)


def _most_records(entry: PublishedEntry) -> float:
    """The most records that the table can have; infinity if noise leaves that open.

    The label's counts add up to the records. Rounding changes each of them by less than the base.
    """
    label = entry.evidence[0]
    if label.label_perturbation.noise_scale is not None:
        return math.inf
    once = entry.control.rounded_to if entry.control.drawn_once else None
    base = label.label_perturbation.rounded_to or once or 1
    return int(label.label_histogram.sum()) + len(label.label_histogram) * (base - 1)


def _left_out(entry: PublishedEntry) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(configurations,) The least and the most records that each release leaves out, which rounding allows."""
    published = np.zeros(len(entry.configurations.ids))
    given = np.array(entry.configurations.suppressed, dtype=np.float64)  # None becomes NaN
    published[: len(given)] = np.nan_to_num(given)
    slack = (entry.control.rounded_to or 1) - 1
    return np.maximum(published - slack, 0), published + slack


def _more_suppressed_than_all(entry: PublishedEntry, records: float) -> Iterator[Fault]:
    """A release leaves out records of the table, so not more than the table has."""
    least, _ = _left_out(entry)
    for index in np.flatnonzero(least > records)[:SHOWN].tolist():
        yield Fault(pointer("configurations", index, "suppressed"), "These are more records than the entry has")


def _more_than_records(entry: PublishedEntry, records: float) -> Iterator[Fault]:
    """A class is a part of the release, so it has at most as many records as the table without those left out.

    With `k`, every class has `k` records. A class with `n` different values has at least `n` records. A release without
    any record has no class, and keeps every promise.
    """
    for criterion in ("k", *_OF_VALUES):
        for index in np.flatnonzero(_beyond_records(entry, criterion, records))[:SHOWN].tolist():
            detail = "A class would need more records than this release has"
            yield Fault(pointer(*_place(entry, criterion, index)), detail)


def _beyond_records(entry: PublishedEntry, criterion: str, records: float) -> NDArray[np.bool_]:
    """(configurations,) Whether each promises classes of more records than its release has, which surely has some."""
    least, most = _left_out(entry)
    published = float(entry.evidence[0].label_histogram.sum())
    fewest = 2 * published - records  # rounding took as many records as it may have added
    return (fewest - most > 0) & _exceeds(_needed(entry, criterion), records - least)


def _more_than_values(entry: PublishedEntry, records: float) -> Iterator[Fault]:
    """A class has no more values of a sensitive attribute than the release has of that attribute.

    The sensitive attribute is a column of the release: an attribute, which has at most the values of its masking, or
    the label. So the column with the most values bounds all. With several sensitive attributes the worst counts, which
    is no better. The rule says nothing where the number of a column's values is open (`_values`), and not again what
    `_more_than_records` says.
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
    """(configurations,) How many records, or different values, each class must have; NaN if nothing is promised.

    `k` and `l` say it. The entropy of a distribution on n values is at most ln n, so `entropy_l` is at most n. Of n
    shares that add up to 1, one is at least 1 / n, so `alpha` is at least 1 / n.
    """
    promised = entry.configurations.privacy.get(criterion, np.full(len(entry.configurations.ids), np.nan))
    numbers = np.array(promised, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return 1 / numbers if criterion == "alpha" else numbers


def _values(entry: PublishedEntry, place: int) -> Mapping[str, float]:
    """The most values that a release has of an attribute, by the masking that the configuration uses.

    With disclosure control, the domain may be coarser than what is shared unmasked. What is dropped is no column, but a
    provider may still measure it as sensitive.
    """
    known = entry.evidence[place]
    unmasked = math.inf if entry.control.is_declared else known.values
    return {IDENTITY: unmasked, DROP: math.inf, **{one.id: one.groups for one in known.maskings}}


def _has_values(entry: PublishedEntry, sizes: Sequence[Mapping[str, float]], index: int, needed: float) -> bool:
    """Whether a configuration shares an attribute that may have so many values."""
    chosen = (entry.configurations.maskings[known.name][index] for known in entry.evidence)
    return any(needed <= size[masking] * (1 + TOLERANCE) for size, masking in zip(sizes, chosen, strict=True))


def _exceeds(numbers: NDArray[np.float64], most: NDArray[np.float64] | float) -> NDArray[np.bool_]:
    """Whether numbers are larger than they can be; NaN is not."""
    return numbers > most * (1 + TOLERANCE)


def _place(entry: PublishedEntry, criterion: str, index: int) -> Path:
    """Where the document has the number."""
    if entry.configurations.in_columns:
        return "configuration_table", "privacy", criterion, index
    return "configurations", index, "privacy", criterion
