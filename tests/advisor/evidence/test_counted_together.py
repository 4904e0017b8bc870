"""Pair counts in which masked values with few records are counted with their neighbours."""

from dataclasses import replace

import numpy as np

from aegis_advisor.evidence import PairCounts, Perturbation
from aegis_advisor.evidence.checks import find_pair_faults
from tests.advisor.cases import evidence_of
from tests.for_each import for_each

BASE = 5
EXACT = np.array(
    [
        [4, 0, 3, 2],
        [2, 1, 0, 4],
        [90, 40, 30, 50],
        [60, 60, 60, 60],
        [50, 40, 2, 0],
        [3, 0, 0, 30],
    ]
)
WITH = (np.array([2, 2, 2, 3, 5, 5]), np.array([0, 1, 3, 3]))


def evidence():
    """Two attributes, all of whose counts with two label values were rounded once to multiples of the base."""
    tables = [
        np.stack([sums // 2 // BASE * BASE, (sums - sums // 2) // BASE * BASE], axis=1) for sums in sums_of(EXACT)
    ]
    tables[1][0] += tables[0].sum(axis=0) - tables[1].sum(axis=0)  # every attribute has the same sums
    return [
        replace(evidence_of(table, [], joint=True, name=name), rounded_once=BASE)
        for name, table in zip("ab", tables, strict=True)
    ]


def sums_of(counts):
    return counts.sum(axis=1), counts.sum(axis=0)


def pooled(counts, places):
    """The counts, cell by cell, at the places where they are counted."""
    moved = np.zeros_like(counts)
    for row, column in np.ndindex(*counts.shape):
        moved[places[0][row], places[1][column]] += counts[row, column]
    return moved


def pair(joint, counted_with=WITH):
    return PairCounts((0, 1), ("identity", "identity"), joint, Perturbation(rounded_to=BASE), counted_with)


def down(counts):
    return counts - counts % BASE


def test_values_that_are_counted_together_are_compared_together():
    joint = down(pooled(EXACT, WITH))
    assert find_pair_faults(evidence(), [pair(joint)]) == ()
    apart = find_pair_faults(evidence(), [pair(joint, None)])
    assert {fault.path for fault in apart} == {(0, "joint", 4), (0, "joint", 5), (0, "joint")}
    assert "column 2 adds up to 0" in str(apart)


def table_with(row, records):
    """The counts, with as many records in a row as this, all in its first column."""
    joint = down(pooled(EXACT, WITH))
    joint[row] = 0
    joint[row, 0] = records
    return joint


@for_each("row", [2, 3, 5])
@for_each("sign", [-1, 1])
def test_a_row_that_is_off_by_more_than_rounding_explains_is_refused_at_its_place(row, sign):
    known = evidence()[0].joint.sum(axis=1)
    members = np.flatnonzero(WITH[0] == row)
    expected = int(known[members].sum())
    # Each of 4 cells was rounded, and of the 3 values that are counted together at most, both counts with the label.
    most = 4 * (BASE - 1) + 3 * 2 * (BASE - 1)
    within, beyond = (expected + sign * far // BASE * BASE for far in (most, most + BASE))
    paths = [
        {fault.path for fault in find_pair_faults(evidence(), [pair(table_with(row, records))])}
        for records in (within, beyond)
    ]
    assert (0, "joint", row) not in paths[0]
    assert (0, "joint", row) in paths[1]


def test_a_column_is_named_at_the_table():
    joint = down(pooled(EXACT, WITH))
    joint[:, 3] = 0
    columns = [fault for fault in find_pair_faults(evidence(), [pair(joint)]) if "column" in fault.detail]
    assert [fault.path for fault in columns] == [(0, "joint")]
    assert columns[0].detail.startswith("column 3 adds up to 0, but the")
    turned = PairCounts((1, 0), ("identity", "identity"), joint.T, Perturbation(rounded_to=BASE), WITH[::-1])
    assert (0, "joint", 3) in {fault.path for fault in find_pair_faults(evidence(), [turned])}


def test_a_count_that_is_no_multiple_of_its_base_is_refused_whatever_the_entry_declares():
    joint = down(pooled(EXACT, WITH))
    joint[2, 0] += 1
    exact = [replace(one, rounded_once=None) for one in evidence()]
    for known in (evidence(), exact):
        faults = find_pair_faults(known, [pair(joint)])
        assert [(fault.path, fault.detail) for fault in faults] == [
            ((0, "joint", 2, 0), f"{joint[2, 0]} is not a multiple of 5, its `rounded_to`")
        ]


def test_values_that_are_counted_together_have_one_number():
    one = pair(down(pooled(EXACT, WITH)))
    assert [one.pooled(side).tolist() for side in (0, 1)] == [[0, 0, 0, 1, 2, 2], [0, 1, 2, 2]]
    assert [replace(one, counted_with=None).pooled(side).tolist() for side in (0, 1)] == [[*range(6)], [*range(4)]]


def test_pairs_that_keep_the_published_sums_must_have_them():
    both = evidence()
    rows, columns = (each.joint.sum(axis=1) for each in both)
    joint = np.zeros((6, 4), dtype=int)
    for cell in sorted(np.ndindex(6, 4), key=lambda place: -EXACT[place]):
        joint[cell] = min(rows[cell[0]] - joint[cell[0]].sum(), columns[cell[1]] - joint[:, cell[1]].sum())
    kept = replace(pair(joint, None), perturbation=Perturbation(rounded_to=BASE, within=2))
    assert find_pair_faults(both, [kept]) == ()
    joint[2, 0] += BASE
    assert {fault.path for fault in find_pair_faults(both, [kept])} >= {(0, "joint", 2)}
    assert find_pair_faults(both, [replace(kept, perturbation=Perturbation(rounded_to=BASE))]) == ()
