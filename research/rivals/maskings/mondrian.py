"""Local recoding: Mondrian, which cuts the records into boxes, by information gain or at medians.

LeFevre, DeWitt & Ramakrishnan 2006, Mondrian multidimensional k-anonymity (cuts at medians); 2008, Workload-aware
anonymization techniques for large-scale datasets, section 3.1 (cuts by information gain). Cuts are strict, so equal
values stay together, and go on while both parts keep the promise. The consumer gets for each attribute the range of its
values in the box. No record is left out. Texts are in the order of the share of the most frequent label; for medians,
which ignore the label, in that of the alphabet.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from aegis_advisor.arrays import FloatArray, IntArray
from research.rivals.maskings.recoding import Masked, Promise
from research.rivals.maskings.tables import Split


@dataclass(frozen=True, eq=False)
class Box:
    """Training records with their range of each attribute, and the tested records that fall into the box."""

    train: IntArray
    test: IntArray
    low: IntArray
    high: IntArray


def mondrian(split: Split, promise: Promise, *, by_gain: bool) -> Masked:
    """Return both parts as Mondrian masks them."""
    ordered = _ordered(split) if by_gain else split
    boxes = list(_boxes(ordered, promise, by_gain=by_gain))
    ranges: list[IntArray] = []
    for part, records in (("train", len(split.train)), ("test", len(split.test))):
        of = np.zeros((records, len(split.names), 2), dtype=np.int64)
        for box in boxes:
            of[getattr(box, part)] = np.stack([box.low, box.high], axis=1)
        ranges.append(of)
    size = max(map(len, split.domains))
    train, test = (of[:, :, 0] * size + of[:, :, 1] for of in ranges)
    shown = np.ones(len(train), dtype=np.bool_)
    middles = (ranges[0].mean(axis=2), ranges[1].mean(axis=2))
    return Masked(train, test, shown, middles)


def _ordered(split: Split) -> Split:
    """Return the split with texts in the order of the share of the most frequent label among their records."""
    usual = split.classes == np.bincount(split.classes).argmax()
    train, test = split.train.copy(), split.test.copy()
    for place, numbers in enumerate(split.numbers):
        if numbers is None:
            codes = split.train[:, place]
            shares = np.bincount(codes, usual) / np.bincount(codes)
            ranks = np.argsort(np.argsort(shares, kind="stable"))
            train[:, place], test[:, place] = ranks[codes], ranks[split.test[:, place]]
    return Split(split.names, split.domains, split.numbers, train, test, split.classes, split.truth)


def _boxes(split: Split, promise: Promise, *, by_gain: bool) -> Iterator[Box]:
    """Cut the records until no part can be cut, and yield the parts."""
    widths = np.maximum(split.train.max(axis=0) - split.train.min(axis=0), 1)
    waiting = [(np.arange(len(split.train)), np.arange(len(split.test)))]
    while waiting:
        train, test = waiting.pop()
        records = split.train[train]
        cut = _cut(records, split, train, promise, widths, by_gain=by_gain)
        if cut is None:
            yield Box(train, test, records.min(axis=0), records.max(axis=0))
            continue
        place, after = cut
        below, tested_below = records[:, place] <= after, split.test[test, place] <= after
        waiting += [(train[below], test[tested_below]), (train[~below], test[~tested_below])]


def _cut(
    records: IntArray, split: Split, train: IntArray, promise: Promise, widths: IntArray, *, by_gain: bool
) -> tuple[int, int] | None:
    """Return the attribute to cut and the last value of the lower part; None if no cut keeps the promise."""
    if len(records) < 2 * promise.k:
        return None
    found: list[tuple[float, int, int]] = []
    wide = (records.max(axis=0) - records.min(axis=0)) / widths
    for place in np.argsort(-wide, kind="stable").tolist():
        values, codes = np.unique(records[:, place], return_inverse=True)
        counts = np.zeros((len(values), split.labels))
        np.add.at(counts, (codes, split.classes[train]), 1)
        lower = np.cumsum(counts, axis=0)[:-1]
        upper = counts.sum(axis=0) - lower
        allowed = np.flatnonzero(~(promise.broken(lower) | promise.broken(upper)))
        if len(allowed) and by_gain:
            kept = _purity(lower[allowed]) + _purity(upper[allowed])
            found.append((float(kept.max()), -place, int(values[allowed[kept.argmax()]])))
        elif len(allowed):
            middle = np.abs(lower[allowed].sum(axis=1) - len(records) / 2).argmin()
            return place, int(values[allowed[middle]])
    if not found:
        return None
    _, place, after = max(found)
    return -place, after


def _purity(counts: FloatArray) -> NDArray[np.float64]:
    """(parts,) The records of each part times its negative entropy, in nats."""
    purity: NDArray[np.float64] = xlogy(counts, counts).sum(axis=1) - xlogy(counts.sum(axis=1), counts.sum(axis=1))
    return purity
