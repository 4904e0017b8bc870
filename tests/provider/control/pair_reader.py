"""A reader of rounded entries: what tables are probable, by the product's own rounding, given all that is published.

The reader knows how the product rounds, and that each value listed has a record. Before reading, all joint counts of
the attribute and the label are equally probable, and given these, all tables with each partner. A Markov chain
(Metropolis et al. 1953) draws tables in proportion to the probability that the product publishes the entry from them:

* of the counts of an attribute, that probability is computed exactly, by following every branch of rounding in pairs;
* of a pair table, it is the share of fixed draws of its cells by which no other table with these sums is cheaper, which
  no cycle of cells tells (Ahuja, Magnanti & Orlin 1993, "Network flows", theorem 9.1).

What comes of the product's other numbers (pools, drawn again until no count is known) is taken as given.
"""

import math
from functools import cache
from itertools import combinations, permutations, product
from random import Random

import numpy as np

from aegis_provider.control.lasting import merging_ranks

DRAWS = 96
"""So many draws of the cells of a pair table."""

_TOLD_APART = 0.1
"""The number of draws that one by which a table never comes is worth: the chain must be able to leave it."""

_BEYOND, _NOT_ZERO, _FURTHER, _NEVER = 1e3, 2e3, 1e6, 1e12
"""As the product prices them: a cell off by a base or more, one without records, each further base; a count below 0."""

BIN = 6
"""Counts of 0 to 4 are told apart, and larger ones are one."""


@cache
def columns(remainders, views, names, base):
    """The probability of each rounding of the counts of one label value, by their remainders, in pairs.

    Args:
        remainders: (values,) of the counts.
        views: (values,) groups, one tuple for each view, in the order in which their groups are settled.
        names: (values,) which values meet depends on them.
        base: the base of the multiples.

    Returns:
        (roundings, values) 0 or the base, -1 for the cell that is left open; and the probability of each.
    """
    states = {remainders: 1.0}
    for view in views:
        for sides in _merges(view, names):
            states, before = {}, states
            for state, chance in before.items():
                for after, share in _branches(state, sides, base):
                    states[after] = states.get(after, 0.0) + chance * share
    ends = np.array(list(states))
    return np.where((ends > 0) & (ends < base), -1, ends), np.array(list(states.values()))


def _merges(view, names):
    """The places on both sides of each merge of a group: of all neighbours, those come first whose later one has the
    lowest rank.
    """
    ranks = merging_ranks(names)
    for group in sorted(set(view)):
        runs = [[place] for place, each in enumerate(view) if each == group]
        while len(runs) > 1:
            at = min(range(1, len(runs)), key=lambda one: ranks[runs[one][0]])
            yield runs[at - 1], runs[at]
            runs[at - 1 : at + 1] = [runs[at - 1] + runs[at]]


def _branches(state, sides, base):
    """What becomes of the open cells of two sides, and with what probability."""
    open_cells = [place for side in sides for place in side if 0 < state[place] < base]
    if len(open_cells) < 2:
        return [(state, 1.0)]
    first, second = open_cells
    together = state[first] + state[second]
    high, low = (together, 0) if together <= base else (base, together - base)
    wins = (state[first] - low) / (high - low)
    branches = []
    for one, two, share in ((high, low, wins), (low, high, 1 - wins)):
        changed = list(state)
        changed[first], changed[second] = one, two
        branches.append((tuple(changed), share))
    return [each for each in branches if each[1] > 0]


class Attribute:
    """What is published of an attribute, and how probable that is.

    Args:
        views: (values,) the groups of each masking of which rounding knows.
        shown: those of which the counts are published (groups, labels), with these.
        names: (values,) their names.
        base: the base of the multiples.
    """

    def __init__(self, views, shown, names, base):
        finest_first = sorted(views, key=lambda view: -(int(view.max()) + 1))
        size = len(views[0])
        self._views = tuple(tuple(each.tolist()) for each in (*finest_first, np.zeros(size, dtype=int)))
        self._folds = np.concatenate([np.eye(int(view.max()) + 1, dtype=int)[:, view] for view, _ in shown])
        self._published = np.concatenate([counts for _, counts in shown])
        self._names, self._base, self._known = tuple(names), base, {}

    def logs(self, joint, up):
        """The logarithm of the probability of what is published, from a joint table (values, labels)."""
        return sum(self._column(tuple(joint[:, label].tolist()), label, bool(up[label])) for label in range(len(up)))

    def _column(self, counts, label, up):
        key = counts, label, up
        if key not in self._known:
            remainders = tuple(each % self._base for each in counts)
            ends, shares = columns(remainders, self._views, self._names, self._base)
            rounded = np.array(counts) - remainders + np.where(ends < 0, self._base * up, ends)
            same = (rounded @ self._folds.T == self._published[:, label]).all(axis=1)
            chance = shares[same].sum()
            self._known[key] = np.log(chance) if chance > 0 else -np.inf
        return self._known[key]


class PairTable:
    """A published pair table that keeps its sums, and how probable it is.

    Args:
        rows, columns: (values,) and (partner's values,) the place of each, as counted.
        published: (rows, columns) of the places that are counted.
        base: the base of the multiples.
        within: of how many bases each count is off by less.
        draws: (draws, cells) uniform numbers.
    """

    def __init__(self, rows, columns, published, base, within, draws):
        self._rows = (rows[:, np.newaxis] == np.unique(rows)).astype(int).T
        self._columns = (columns[:, np.newaxis] == np.unique(columns)).astype(int)
        self._published, self._base, self._within = published, base, within
        own, off = np.log(draws / (1 - draws)).T, -np.log(draws).T
        self._drawn = np.stack([own, off, -off, np.zeros_like(own)])
        self._cycles, self._known = cycles(published.shape), {}

    def log(self, table):
        """The logarithm of the probability of what is published, from a table (values, partner's values)."""
        counts = self._rows @ table @ self._columns
        key = counts.tobytes()
        if key not in self._known:
            self._known[key] = self._log(counts.ravel())
        return self._known[key]

    def _log(self, counts):
        base, published = self._base, self._published.ravel()
        if int(np.abs(published - counts).max()) // base + 1 != self._within:
            return -np.inf
        steps = published // base - counts // base
        (up, kind_up), (down, kind_down) = self._step(counts, steps), self._step(counts, steps - 1)
        down = np.where(published <= 0, -_NEVER, down)
        added, taken = self._cycles
        prices = added @ up - taken @ down
        close = np.flatnonzero(prices < _BEYOND / 2)
        if not close.size:
            return 0.0
        cells = np.arange(counts.size)
        drawn = added[close] @ self._drawn[kind_up, cells] - taken[close] @ self._drawn[kind_down, cells]
        fitting = np.count_nonzero((prices[close, np.newaxis] + drawn >= 0).all(axis=0))
        return math.log((fitting + _TOLD_APART) / (drawn.shape[1] + _TOLD_APART))

    def _step(self, counts, level):
        """(cells,) what a step from a level to the next costs, without what is drawn, and which draw counts for it."""
        remainders = counts % self._base
        own = remainders > 0
        cases = [level < 0, (level == 0) & own, (level == 0) | ((level == 1) & own)]
        with np.errstate(divide="ignore"):
            cost = -np.log(remainders / (self._base - remainders))
        return (
            np.select(cases, [-_BEYOND, cost, np.where(counts == 0, _NOT_ZERO, _BEYOND)], _FURTHER),
            np.select(cases, [2, 0, 1], 3),
        )


@cache
def cycles(shape):
    """(cycles, cells) the cells that each cycle of rows and columns adds to, and those that it takes from."""
    rows, columns = shape
    found = []
    for length in range(2, min(shape) + 1):
        for first, *others in combinations(range(rows), length):
            for order in permutations(others):
                ring = (first, *order)
                for across in permutations(range(columns), length):
                    added = np.zeros(shape)
                    added[ring, across] = 1
                    added[ring, (*across[1:], across[0])] = -1
                    found.append(added.ravel())
    every = np.array(found).reshape(-1, rows * columns)
    return np.maximum(every, 0), np.maximum(-every, 0)


class Reader:
    """A reader of an entry of one attribute and its partners.

    Args:
        entry: the entry as published.
        base: the base of the multiples.
        rng: draws all that is random.
    """

    def __init__(self, entry, base, rng):
        self._random, self._base = Random(int(rng.integers(2**32))), base
        self._label = np.array(entry.label.histogram)
        first, *others = entry.attributes
        self._first = attribute_of(first, base)
        self._others = [attribute_of(each, base) for each in others]
        names = {each.name: place for place, each in enumerate(others)}
        self._pairs, self._known = [[] for _ in others], [({}, {}) for _ in others]
        for pair in entry.pairs:
            place = names[pair.attributes[1]]
            views = [view_of(each, pair.maskings[side]) for side, each in enumerate((first, others[place]))]
            pooled = pair.counted_with or [range(int(view.max()) + 1) for view in views]
            rows, columns = (np.array(each)[view] for each, view in zip(pooled, views, strict=True))
            published = np.array(pair.joint)[np.ix_(np.unique(rows), np.unique(columns))]
            draws = rng.random((DRAWS, published.size))
            self._pairs[place].append(PairTable(rows, columns, published, base, pair.within, draws))

    def _ups(self, joint):
        """Which label values were rounded up, and the logarithm of the probability that they were."""
        totals = joint.sum(axis=0)
        chances = 1 - np.abs(totals - self._label) / self._base
        return self._label > totals, np.log(chances).sum() if (chances > 0).all() else -np.inf

    def log_of_joint(self, joint, attribute=None):
        """The logarithm of the probability of what is published of an attribute, the first by default."""
        attribute = attribute or self._first
        up, chance = self._ups(joint)
        listed = joint.any(axis=0).all() and joint.any(axis=1).all()
        of_label = chance if attribute is self._first else 0.0  # it is published once
        return of_label + attribute.logs(joint, up) if listed and np.isfinite(chance) else -np.inf

    def log_of_partner(self, place, table):
        """The same of a partner and its pair tables, from a table (values, partner's values, labels)."""
        if table.min() < 0:
            return -np.inf
        attributes, pairs = self._known[place]
        joint, both = table.sum(axis=0), table.sum(axis=2)
        if (own := joint.tobytes()) not in attributes:
            attributes[own] = self.log_of_joint(joint, self._others[place])
        if attributes[own] == -np.inf:
            return -np.inf
        if (key := both.tobytes()) not in pairs:
            pairs[key] = sum(pair.log(both) for pair in self._pairs[place])
        return attributes[own] + pairs[key]

    def read(self, tables, steps):
        """Draw tables with the probability that they have after reading, from some from which the entry may come.

        Args:
            tables: for each partner, (values, values of the partner, labels).
            steps: how many are drawn; the first fifth is thrown away.
        """
        tables, joint = [each.copy() for each in tables], tables[0].sum(axis=1)
        logs = [self.log_of_joint(joint), *(self.log_of_partner(place, each) for place, each in enumerate(tables))]
        assert np.isfinite(sum(logs)), "the entry cannot come from these tables"
        for step in range(steps):
            for place in range(len(tables)):
                for _ in range(12):
                    self._move_within(place, tables, logs)
            for _ in range(3):
                self._move_joint(tables, joint, logs)
            if step >= steps // 5:
                yield tables

    def _move_within(self, place, tables, logs):
        """Move records of a value and label to another value of the partner, maybe in turn with another cell."""
        table, random = tables[place], self._random
        size, width, labels = table.shape
        a, y, b = random.randrange(size), random.randrange(labels), random.randrange(width)
        other = (b + random.randrange(1, width)) % width
        moved = table.copy()
        moved[a, b, y] -= 1
        moved[a, other, y] += 1
        if random.random() < 0.6:
            a, y = (a, random.randrange(labels)) if random.random() < 0.4 else (random.randrange(size), y)
            moved[a, b, y] += 1
            moved[a, other, y] -= 1
        log = self.log_of_partner(place, moved)
        if log - logs[1 + place] >= math.log(random.random()):
            tables[place], logs[1 + place] = moved, log

    def _move_joint(self, tables, joint, logs):
        """Add or take a record of a value and label, or move it to another, in the tables with all partners.

        Where it goes with each partner is drawn by how probable that is (Liu, Liang & Wong 2000, "The multiple-try
        method": all places are tried from both ends).
        """
        random, (size, labels) = self._random, joint.shape
        a, y, sign = random.randrange(size), random.randrange(labels), random.choice((-1, 1))
        apart = random.random() < 0.2
        cells = [(a, y, sign)]
        if (kind := random.random()) < 0.7:
            cells.append((*((random.randrange(size), y) if kind < 0.4 else (a, random.randrange(labels))), -sign))
        after = joint.copy()
        for a, y, change in cells:
            after[a, y] += change
        own = self.log_of_joint(after) if after.min() >= 0 else -np.inf
        if own == -np.inf:
            return
        gain, found = own - logs[0], []
        for place, table in enumerate(tables):
            moved, chances = self._places(place, table, cells, apart)
            most = max(chances)
            if most == -np.inf:
                return
            shares = [math.exp(each - most) for each in chances]
            [chosen] = random.choices(range(len(moved)), shares)
            back = self._places(place, moved[chosen], [(a, y, -change) for a, y, change in cells], apart)[1]
            highest = max(back)
            gain += most + math.log(sum(shares)) - highest - math.log(sum(math.exp(each - highest) for each in back))
            gain += _log_tables(joint, table.shape[1]) - _log_tables(after, table.shape[1])
            found.append((moved[chosen], chances[chosen]))
        if gain >= math.log(random.random()):
            joint[:], logs[0] = after, own
            for place, (table, log) in enumerate(found):
                tables[place], logs[1 + place] = table, log

    def _places(self, place, table, cells, apart):
        """The tables that come of changes of cells with each value of a partner, and the logs of their chances."""
        width = table.shape[1]
        several = product(range(width), repeat=len(cells)) if apart else ([b] * len(cells) for b in range(width))
        moved = []
        for values in several:
            each = table.copy()
            for b, (a, y, change) in zip(values, cells, strict=True):
                each[a, b, y] += change
            moved.append(each)
        return moved, [self.log_of_partner(place, each) for each in moved]


def _log_tables(joint, width):
    """The logarithm of the number of tables with this many values of a partner that have this joint table."""
    return _log_binomials(width)[joint].sum()


@cache
def _log_binomials(width):
    counts = np.arange(2_000)
    return sum(np.log((counts + each) / each) for each in range(1, width)) + np.zeros(counts.size)


def view_of(attribute, masking):
    """(values,) the group of each value."""
    if masking == "identity":
        return np.arange(len(attribute.domain))
    return np.array(next(each.mapping for each in attribute.maskings if each.id == masking))


def attribute_of(attribute, base):
    views = [np.array(each.mapping) for each in attribute.maskings]
    shown = [(np.array(each.mapping), np.array(each.joint)) for each in attribute.maskings]
    if attribute.joint is not None:
        shown.append((np.arange(len(attribute.domain)), np.array(attribute.joint)))
    return Attribute(views or [np.arange(len(attribute.domain))], shown, attribute.domain, base)


def counts_of(tables):
    """All counts that a reader may want to know: of runs of values, with each value of a partner and label, or all."""
    for table in tables:
        sums = np.concatenate([np.zeros((1, *table.shape[1:]), dtype=int), np.cumsum(table, axis=0)])
        lows, highs = np.triu_indices(len(sums), 1)
        runs = sums[highs] - sums[lows]
        runs = np.concatenate([runs, runs.sum(axis=1, keepdims=True)], axis=1)
        yield np.concatenate([runs, runs.sum(axis=2, keepdims=True)], axis=2).ravel()


def shares_of(draws):
    """(counts, BIN) the share of draws by which each count is 0, 1, 2, 3, 4 or more, and how many draws there were."""
    total, number = None, 0
    for tables in draws:
        counts = np.concatenate(list(counts_of(tables)))
        each = np.minimum(counts, BIN - 1)[:, np.newaxis] == np.arange(BIN)
        total = each.astype(float) if total is None else total + each
        number += 1
    return total / number
