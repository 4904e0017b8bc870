"""Global recoding: given hierarchies, the best of all full-domain recodings by a metric, and fifteen lines of pandas.

A recoding masks all values of an attribute at one level of its hierarchy. Records in classes that break the promise are
left out. Metrics, lower is better, as in the ARX anonymization tool:

* classification: records that are left out or are not of the majority of their class (Iyengar 2002, Transforming data
  to satisfy privacy constraints, section 3.2);
* loss: the share of an attribute's values behind a cell, a mean over all cells (Iyengar 2002, section 3.1);
* entropy: minus the logarithm of a value's share among the records behind its cell (de Waal & Willenborg 1999,
  Information loss through global recoding and local suppression), as a share of its maximum for each attribute.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.arrays import FloatArray, IntArray
from research.rivals.maskings.tables import Split

METRICS = ("classification", "loss", "entropy")
PARTS = (32, 16, 8, 4, 2)
MOST_VALUES = 40
MOST_NODES = 10**6
STARTS = 10
SEED = 0
LEFT_OUT = 0.05

Levels = tuple[IntArray, ...]
"""The groups of an attribute's values, (values,) each, from the finest level to the one with a single group."""
Node = tuple[int, ...]
"""The level of each attribute."""
Judged = tuple[float, float, Node]
"""The value of a recoding by a metric, its entropy, which decides between equal ones, and the recoding."""


@dataclass(frozen=True)
class Promise:
    """At least `k` records in a class, with at least `l` labels among them."""

    k: int
    l: int = 1  # noqa: E741 -- its name in the literature

    @property
    def name(self) -> str:
        """How it is written: `k = 10, l = 2`."""
        return f"k = {self.k}" + (f", l = {self.l}" if self.l > 1 else "")

    def broken(self, counts: FloatArray | IntArray) -> NDArray[np.bool_]:
        """(classes,) Which classes of (classes, labels) counts break it."""
        broken: NDArray[np.bool_] = counts.sum(axis=1) < self.k
        return broken if self.l == 1 else broken | ((counts > 0).sum(axis=1) < self.l)


PROMISES = (Promise(5), Promise(10, 2))
"""Those that are studied."""


@dataclass(frozen=True, eq=False)
class Masked:
    """Both parts of a table as a method masks them.

    Attributes:
        train: (training records, shared attributes) the masked values, by their order where they have one.
        test: (tested records, shared attributes) the same of the others, of which none is left out.
        shown: (training records,) which of them are not left out.
        middles: the middle of the numbers behind each masked value, of both parts, if `train` and `test` have no order.
        exact: whether the method proved that it has the best masking by its own measure.
    """

    train: IntArray
    test: IntArray
    shown: NDArray[np.bool_]
    middles: tuple[FloatArray, FloatArray] | None = None
    exact: bool = True


def given_levels(split: Split, folder: Path | None = None) -> tuple[Levels, ...]:
    """Return the given hierarchy of each attribute, which ignores the label.

    Numbers have quantiles, 32 to 2 of them, from their own values on if these are at most 40; texts their values. A
    file `hierarchy_NAME.csv` in the folder replaces that.
    """
    return tuple(_levels(split, place, folder) for place in range(len(split.names)))


def _levels(split: Split, place: int, folder: Path | None) -> Levels:
    codes, values = split.train[:, place], len(split.domains[place])
    path = None if folder is None else folder / f"hierarchy_{split.names[place]}.csv"
    if path is not None and path.exists():
        levels: list[NDArray[Any]] = list(_read(path, split.domains[place]))
    elif split.numbers[place] is None:
        levels = [np.arange(values)]
    else:
        counts = np.bincount(codes, minlength=values)
        ranks = (np.cumsum(counts) - counts / 2) / len(codes)
        levels = [np.arange(values)] * (values <= MOST_VALUES) + [np.floor(ranks * parts) for parts in PARTS]
    dense = [_in_order(level) for level in (*levels, np.zeros(values, dtype=np.int64))]
    finer = [one for one, after in pairwise(dense) if one.max() > after.max()]
    return (*finer, dense[-1])


def _in_order(groups: NDArray[np.generic]) -> IntArray:
    """Return (values,) the groups numbered in the order of their first values."""
    _, first, groups = np.unique(groups, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[groups]


def _read(path: Path, domain: Sequence[str]) -> Iterator[NDArray[np.str_]]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = {row[0]: row for row in csv.reader(file, delimiter=";")}
    for column in zip(*(rows[value] for value in domain), strict=True):
        yield np.array(column)


def nodes_of(levels: Sequence[Levels]) -> int:
    """Return the number of all recodings."""
    return prod(map(len, levels))


def recoded(split: Split, levels: Sequence[Levels], node: Node, promise: Promise, *, exact: bool = True) -> Masked:
    """Return both parts as a recoding masks them; attributes with a single group are not shared."""
    chosen = [(place, levels[place][level]) for place, level in enumerate(node) if levels[place][level].max() > 0]
    train, test = (
        np.stack([mapping[part[:, place]] for place, mapping in chosen], axis=1)
        if chosen
        else np.zeros((len(part), 1), dtype=np.int64)
        for part in (split.train, split.test)
    )
    return Masked(train, test, shown_of(train, split, promise), exact=exact)


def shown_of(train: IntArray, split: Split, promise: Promise) -> NDArray[np.bool_]:
    """(training records,) Which records are in a class that keeps the promise."""
    _, classes = np.unique(train, axis=0, return_inverse=True)
    counts = np.bincount(classes * split.labels + split.classes, minlength=(classes.max() + 1) * split.labels)
    shown: NDArray[np.bool_] = ~promise.broken(counts.reshape(-1, split.labels))[classes]
    return shown


@dataclass(eq=False)
class Recodings:
    """All recodings of the training records, judged by a promise and the metrics.

    Attributes:
        best: by metric, its least value among the recodings judged, with their node.
        judged: how many recodings were judged.
    """

    split: Split
    levels: Sequence[Levels]
    promise: Promise
    best: Mapping[str, Judged] = field(default_factory=dict)
    judged: int = 0

    @cached_property
    def _distinct(self) -> tuple[IntArray, FloatArray]:
        """The distinct records at the finest levels, with the records of each class of the label."""
        finest = np.stack([levels[0][codes] for levels, codes in zip(self.levels, self.split.train.T, strict=True)], 1)
        _, first, places = np.unique(finest, axis=0, return_index=True, return_inverse=True)
        labels = self.split.labels
        counts = np.bincount(places * labels + self.split.classes, minlength=len(first) * labels)
        return self.split.train[first], counts.reshape(-1, labels).astype(np.float64)

    @cached_property
    def _masked(self) -> list[list[IntArray]]:
        return [[one[codes] for one in levels] for levels, codes in zip(self.levels, self._distinct[0].T, strict=True)]

    @cached_property
    def _costs(self) -> list[list[FloatArray]]:
        """By attribute and level, (2, distinct records) the loss and the entropy of the cell of each."""
        return [
            [self._cost(place, level, self.levels[place][0]) for level in self.levels[place]]
            for place in range(len(self.levels))
        ]

    def _cost(self, place: int, level: IntArray, finest: IntArray) -> FloatArray:
        """Values are what the finest level tells apart."""
        codes = self.split.train[:, place]
        values = finest.max() + 1
        leaf = np.bincount(finest[codes], minlength=values).astype(np.float64)
        group = np.zeros(values, dtype=np.int64)
        group[finest] = level
        behind, together = np.bincount(group), np.bincount(group, leaf)
        loss = (behind[group] - 1) / max(values - 1, 1)
        bits = np.log(np.maximum(together[group], 1) / np.maximum(leaf, 1))
        most = float(leaf @ np.log(len(codes) / np.maximum(leaf, 1))) / len(codes)
        at = finest[self._distinct[0][:, place]]
        return np.stack([loss[at], bits[at] / most if most else bits[at]]) / len(self.levels)

    def judge(self, node: Node) -> Mapping[str, Judged]:
        """Return the value of a recoding by each metric; nothing if it leaves out more than 5 % of the records."""
        ids = np.zeros(len(self._distinct[1]), dtype=np.int64)
        for place, level in enumerate(node):
            ids = _refined(ids, self._masked[place][level])
        return self._judged(node, ids, np.sum([self._costs[place][level] for place, level in enumerate(node)], axis=0))

    def _judged(self, node: Node, ids: IntArray, costs: FloatArray) -> Mapping[str, Judged]:
        self.judged += 1
        counts = self._counts(ids)
        broken = self.promise.broken(counts)
        left_out = float(counts[broken].sum())
        if left_out > LEFT_OUT * len(self.split.classes):
            return {}
        wrong = left_out + float((counts.sum(axis=1) - counts.max(axis=1))[~broken].sum())
        loss, entropy = costs @ (self._distinct[1].sum(axis=1) * ~broken[ids]) + left_out
        values = (wrong, float(loss), float(entropy))
        found = {name: (round(value, 6), values[-1], node) for name, value in zip(METRICS, values, strict=True)}
        self.best = {name: min(self.best.get(name, one), one) for name, one in found.items()}
        return found

    def _counts(self, ids: IntArray) -> FloatArray:
        groups = int(ids.max()) + 1
        return np.stack([np.bincount(ids, column, groups) for column in self._distinct[1].T], axis=1)

    def enumerate(self) -> None:
        """Judge every recoding that can keep the promise.

        The attributes that are not chosen yet have a single group: if too many records are left out then, so they are
        in all finer recodings.
        """
        groups = len(self._distinct[1])
        self._descend((), np.zeros(groups, dtype=np.int64), np.zeros((2, groups)))

    def _descend(self, node: Node, ids: IntArray, costs: FloatArray) -> None:
        place = len(node)
        if place == len(self.levels):
            self._judged(node, ids, costs)
            return
        for level in reversed(range(len(self.levels[place]))):
            finer = _refined(ids, self._masked[place][level])
            counts = self._counts(finer)
            if counts[self.promise.broken(counts)].sum() > LEFT_OUT * len(self.split.classes):
                break  # finer levels leave out more
            self._descend((*node, level), finer, costs + self._costs[place][level])

    def climb(self, metric: str) -> None:
        """Change one level at a time, always the change that the metric likes best, while there is one.

        It starts from the coarsest recoding, and from random ones that keep the promise.
        """
        rng = np.random.default_rng(SEED)
        self._climb(metric, self._coarsest)
        for _ in range(STARTS):
            self._climb(metric, self._random(rng))

    def _climb(self, metric: str, start: Node) -> None:
        there = self.judge(start)[metric]
        while True:
            near = [found[metric] for node in self._neighbours(there[2]) if (found := self.judge(node))]
            best = min(near, default=there)
            if best >= there:
                return
            there = best

    @property
    def _coarsest(self) -> Node:
        return tuple(len(levels) - 1 for levels in self.levels)

    def _neighbours(self, node: Node) -> Iterator[Node]:
        """Yield the nodes that differ in the level of one attribute."""
        for place, of in enumerate(self.levels):
            for level in set(range(len(of))) - {node[place]}:
                yield (*node[:place], level, *node[place + 1 :])

    def _random(self, rng: np.random.Generator) -> Node:
        """Refine random attributes, while that keeps the promise."""
        node = self._coarsest
        for place in rng.permutation(len(node)).tolist():
            tried = (*node[:place], int(rng.integers(len(self.levels[place]))), *node[place + 1 :])
            node = tried if self.judge(tried) else node
        return node


def _refined(ids: IntArray, codes: IntArray) -> IntArray:
    """Return which records have the same id and the same code, as ids from 0."""
    size = int(codes.max()) + 1
    pairs = ids * size + codes
    if size == 1:
        return ids
    held = np.bincount(pairs) > 0
    return (np.cumsum(held) - 1)[pairs]


def best_recodings(split: Split, levels: Sequence[Levels], promise: Promise) -> dict[str, Masked]:
    """Return the best recoding by each metric: of all, up to a million nodes, else what climbing finds."""
    recodings, exact = Recodings(split, levels, promise), nodes_of(levels) <= MOST_NODES
    if exact:
        recodings.enumerate()
    else:
        for metric in METRICS:
            recodings.climb(metric)
    return {
        metric: recoded(split, levels, node, promise, exact=exact) for metric, (_, _, node) in recodings.best.items()
    }


def fifteen_lines(split: Split, promise: Promise) -> Masked:
    """What fifteen lines of pandas do: quartiles, columns greedily by mutual information, small classes dropped."""
    levels = given_levels(split)
    quarters = [
        next((level for level in of if level.max() < 4), of[-1]) if split.numbers[place] is not None else of[0]
        for place, of in enumerate(levels)
    ]
    codes = [level[column] for level, column in zip(quarters, split.train.T, strict=True)]
    told = [_information(column, split.classes) for column in codes]
    chosen: list[int] = []
    for place in np.argsort(-np.array(told), kind="stable").tolist():
        tried = np.stack([codes[each] for each in (*chosen, place)], axis=1)
        if (~shown_of(tried, split, promise)).mean() <= LEFT_OUT:
            chosen.append(place)
    pairs = tuple((quarters[place], np.zeros_like(quarters[place])) for place in range(len(levels)))
    return recoded(split, pairs, tuple(int(place not in chosen) for place in range(len(levels))), promise)


def _information(column: IntArray, classes: IntArray) -> float:
    """Return the mutual information of two columns, in nats."""
    joint = np.zeros((int(column.max()) + 1, int(classes.max()) + 1))
    np.add.at(joint, (column, classes), 1 / len(column))
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    held = joint > 0
    return float(joint[held] @ np.log(joint[held] / expected[held]))
