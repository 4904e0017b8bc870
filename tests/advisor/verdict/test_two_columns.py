"""Counts that tables of masked values and masked labels determine together, against integer programs over all tables.

The label is masked in two ways that cross, and so are the values. An integer program finds the least and the most that
a count can be in any table of whole numbers with the published sums.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import scipy

from aegis_advisor.atoms import common_refinement
from aegis_advisor.evidence import (
    AttributeContent,
    ConfigurationContent,
    EntryContent,
    LabelContent,
    MaskingContent,
    PairContent,
)
from tests.advisor.verdict.test_masked_label import verdict
from tests.for_each import for_each, for_some

SMALL = range(1, 5)
COUNTS = [0, 0, 0, 1, 2, 3, 4, 5, 5, 6, 6, 7, 8, 12, 12, 30, 30]


def is_pinned(table, sums, cells):
    """Whether the count of these cells of a table is small, and the same in all tables with these sums of cells."""
    known = [(np.ravel(one), int(table[one].sum())) for one in sums]
    same = scipy.optimize.LinearConstraint([one for one, _ in known], *([count for _, count in known],) * 2)
    whole, truth = np.ones(table.size), int(table[cells].sum())

    def reached(sign):
        return round(scipy.optimize.milp(sign * np.ravel(cells), integrality=whole, constraints=same).fun * sign)

    return truth in SMALL and reached(1) == reached(-1)


def groups(rows, columns):
    """The cells of each group, by groups of rows and of columns."""
    rows, columns = np.array(rows)[:, np.newaxis], np.array(columns)
    return [
        (rows == one) & (columns == other) for one, other in product(range(rows.max() + 1), range(columns.max() + 1))
    ]


def plan(random):
    """A random small table, ways to mask its rows and columns, and which of them are published together."""

    def partition(size):
        found = np.zeros(size, dtype=int)
        while len(np.unique(found)) in (1, size):
            found = np.unique(random.integers(3, size=size), return_inverse=True)[1]
        return found.tolist()

    values, labels = random.integers(3, 6), random.integers(3, 5)
    rows = {"identity": list(range(values)), "left": partition(values), "right": partition(values)}
    columns = {"identity": list(range(labels)), "p": partition(labels), "q": partition(labels)}
    ways = list(product(rows, columns))[1:]
    shown = [ways[at] for at in random.choice(len(ways), random.integers(2, 5), replace=False)]
    return random.choice(COUNTS, (values, labels)), rows, columns, shown


def with_masked_label(table, rows, columns, shown):
    """An entry with these counts of an attribute, the rows, and of the label, the columns."""
    joints = {row: _counts(table, rows[row], columns[column]) for row, column in shown if column == "identity"}
    pairs = [
        PairContent(attributes=["x", "y"], maskings=[row, column], joint=_counts(table, rows[row], columns[column]))
        for row, column in shown
        if column != "identity"
    ]
    maskings = [replace(one, joint=joints.get(one.id)) for one in _maskings(rows)]
    label = LabelContent(
        name="y", domain=_names(columns["identity"]), histogram=table.sum(0), maskings=_maskings(columns)
    )
    attribute = AttributeContent(name="x", type="string", domain=_names(rows["identity"]), maskings=maskings)
    return EntryContent(
        records=int(table.sum()), label=label, attributes=[attribute], pairs=pairs, configurations=[unmasked("x", "y")]
    )


def of_two_attributes(table, rows, columns, shown):
    """An entry with these counts of two attributes and of the second alone, and a label that says nothing."""
    of_second = {"joint": table.sum(axis=0)[:, np.newaxis], "maskings": _maskings(columns)}
    attributes = [
        AttributeContent(name="x", type="string", domain=_names(rows["identity"]), maskings=_maskings(rows)),
        AttributeContent(name="y", type="string", domain=_names(columns["identity"]), **of_second),
    ]
    label = LabelContent(name="z", domain=["0"], histogram=[table.sum()])
    pairs = [
        PairContent(attributes=["x", "y"], maskings=(row, column), joint=_counts(table, rows[row], columns[column]))
        for row, column in shown
    ]
    return EntryContent(
        records=int(table.sum()), label=label, attributes=attributes, pairs=pairs, configurations=[unmasked("x", "y")]
    )


def _counts(table, rows, columns):
    counts = np.zeros((max(rows) + 1, max(columns) + 1), dtype=np.int64)
    np.add.at(counts, np.ix_(rows, columns), table)
    return counts


def _names(mapping):
    return list(map(str, range(max(mapping) + 1)))


def _maskings(ways):
    return [MaskingContent(id=name, domain=_names(ways[name]), mapping=ways[name]) for name in list(ways)[1:]]


def unmasked(*names):
    return ConfigurationContent(id="one", maskings=dict.fromkeys(names, "identity"))


def published_plan(seed):
    """A plan none of whose published counts is small, and the cells of each of them."""
    random = np.random.default_rng(seed)
    while True:
        table, rows, columns, shown = plan(random)
        whole = groups([0] * len(table), columns["identity"]) + groups(rows["identity"], [0] * table.shape[1])
        sums = whole[: table.shape[1]] + [one for row, column in shown for one in groups(rows[row], columns[column])]
        if all(table[one].any() for one in whole) and not any(table[one].sum() in SMALL for one in sums):
            return table, rows, columns, shown, sums


@for_some(4, "seed", range(300))
def test_no_count_that_all_tables_have_in_common_passes(seed):
    table, rows, columns, shown, sums = published_plan(seed)
    atoms = common_refinement([np.array(rows[row]) for row, _ in shown], len(table))
    every = product([atoms, *(rows[row] for row in ("left", "right"))], columns.values())
    cells = [one for both in every for one in groups(*both)]
    if any(is_pinned(table, sums, one) for one in cells):
        assert not verdict(with_masked_label(table, rows, columns, shown)).passed
        assert not verdict(of_two_attributes(table, rows, columns, shown)).passed


@for_each(
    ("table", "passes"),
    [([[6, 5, 4], [6, 30, 5]], False), ([[6, 5, 9], [6, 30, 5]], True), ([[16, 15, 14], [26, 30, 25]], True)],
)
def test_crossing_maskings_of_the_label_give_away_a_label_that_none_shows(table, passes):
    """Of three labels, one masking shows the first and another the last: their difference to all records is known."""
    table, rows = np.array(table), {"identity": [0, 1]}
    columns = {"identity": [0, 1, 2], "p": [0, 1, 1], "q": [0, 0, 1]}
    found = verdict(with_masked_label(table, rows, columns, [("identity", "p"), ("identity", "q")]))
    assert found.passed == passes


def test_large_tables_whose_maskings_cross_are_decided():
    """More cells depend on each other than a search by branch and bound takes."""
    random, ways = np.random.default_rng(4), []
    table = random.multinomial(14_000, random.dirichlet(np.full(210, 4.0))).reshape(21, 10)
    for size in table.shape:
        cut = {"identity": np.arange(size), "left": np.arange(size) // 2, "right": np.arange(1, size + 1) // 2}
        ways.append({name: one.tolist() for name, one in cut.items()})
    assert verdict(with_masked_label(table, *ways, [("left", "left"), ("right", "right")])).passed
