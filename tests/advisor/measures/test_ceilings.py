"""Ceilings on the utility of the unmasked attribute, checked against every table that fits."""

import csv
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.measures import MEASURES, utility_ceilings
from aegis_advisor.measures.partial_table import GroupLimits, RowLimits
from tests.advisor.cases import counted, evidence_of, mapped, overlapping, random_table
from tests.for_each import for_each

HEALTH = Path(__file__).parents[3] / "examples" / "health" / "health.csv"
ALL = for_each("measure", MEASURES.values())
WITH_ROWS = ("cramers_v", "cramers_v_corrected", "normalised_mutual_information")


def ceiling_of(evidence, measure):
    return utility_ceilings(evidence).get(measure.id)


def excess(measure, ceiling, table):
    """How far the utility of a table is on the wrong side of its ceiling, relative to its size."""
    utility = measure(table.astype(float))
    return (utility - ceiling if measure.better == "higher" else ceiling - utility) / max(1.0, abs(utility))


def entropy(counts):
    share = counts[counts > 0] / counts.sum()
    return float(-np.sum(share * np.log2(share)))


def spread(total, places):
    """All ways to put a number of records into a number of places."""
    if places == 1:
        yield (total,)
        return
    for first in range(total + 1):
        yield from ((first, *rest) for rest in spread(total - first, places - 1))


def every_table(evidence):
    """All tables of integers that fit, by enumeration."""
    rows = evidence.histogram
    if rows is None:
        shape = (evidence.values, evidence.labels)
        tables = (np.reshape(cells, shape) for cells in spread(evidence.records, shape[0] * shape[1]))
    else:
        tables = (np.array(found) for found in product(*(list(spread(int(row), evidence.labels)) for row in rows)))
    return [table for table in tables if fits(evidence, table)]


def fits(evidence, table):
    if not np.array_equal(table.sum(axis=0), evidence.label_histogram):
        return False
    return all(np.array_equal(mapped("", view.mapping, table).joint, view.joint) for view in evidence.maskings)


def tiny(seed, *, histogram):
    rng = np.random.default_rng(seed)
    values, labels = (4, 3) if histogram else (3, 2)
    table = rng.multinomial(8, rng.dirichlet(np.full(values * labels, 0.6))).reshape(values, labels)
    return evidence_of(table, overlapping(rng, table, int(rng.integers(1, 3)), 2), histogram=histogram)


@for_each("histogram", [True, False])
def test_no_table_that_fits_has_more(histogram):
    attained = dict.fromkeys(MEASURES, 0)
    for seed in range(25):
        evidence = tiny(seed, histogram=histogram)
        tables = every_table(evidence)
        assert tables
        for measure in MEASURES.values():
            ceiling = ceiling_of(evidence, measure)
            if ceiling is None:
                assert measure.id in WITH_ROWS
                assert not histogram
                continue
            worst = max(excess(measure, ceiling, table) for table in tables)
            assert worst <= 1e-9, (seed, measure.id)
            attained[measure.id] += worst > -1e-9
    assert min(attained[name] for name in ("mutual_information", "chi_square", "g3")) >= 5


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 5), st.integers(0, 200), st.booleans())
def test_the_truth_is_below_its_ceiling(seed, values, labels, records, histogram):
    rng = np.random.default_rng(seed)
    table = random_table(rng, values, labels, records)
    views = overlapping(rng, table, int(rng.integers(0, 4)), int(rng.integers(1, 4))) if values > 1 else []
    evidence = evidence_of(table, views, histogram=histogram)
    for measure in MEASURES.values():
        ceiling = ceiling_of(evidence, measure)
        if ceiling is not None:
            assert excess(measure, ceiling, table) <= 1e-9, measure.id


@ALL
def test_it_is_the_truth_where_the_views_leave_no_choice(measure):
    table = np.array([[5, 0, 2], [1, 1, 1], [0, 9, 4], [3, 3, 0]])
    evidence = evidence_of(table, [mapped("v", [0, 1, 2, 3], table), mapped("w", [0, 0, 1, 1], table)])
    assert ceiling_of(evidence, measure) == pytest.approx(measure(table.astype(float)))


@for_each("histogram", [True, False])
def test_it_is_below_the_entropies_where_views_say_so(histogram):
    # The first value is alone in its group, so its five labels are fixed, whatever the other values have.
    table = np.array([[20, 20, 20, 20, 20], [3, 0, 0, 0, 0], [0, 3, 0, 0, 0], [0, 0, 3, 0, 0]])
    evidence = evidence_of(table, [mapped("v", [0, 1, 1, 1], table)], histogram=histogram)
    known = min(entropy(table.sum(axis=0)), entropy(table.sum(axis=1)))
    truth = MEASURES["mutual_information"](table.astype(float))
    assert ceiling_of(evidence, MEASURES["mutual_information"]) == pytest.approx(truth)
    assert truth < known / 2


def test_without_views_the_margins_bound_it():
    table = np.array([[6, 0], [0, 2], [1, 1]])
    ceiling = ceiling_of(evidence_of(table, []), MEASURES["mutual_information"])
    assert ceiling <= min(entropy(table.sum(axis=0)), entropy(table.sum(axis=1)))
    assert ceiling_of(evidence_of(table, [], histogram=False), MEASURES["g3"]) == 0.0


@ALL
def test_every_further_view_can_only_lower_it(measure):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        table = random_table(rng, 7, 3, 60)
        views = overlapping(rng, table)
        ceilings = [ceiling_of(evidence_of(table, views[:known]), measure) for known in range(4)]
        ordered = sorted(ceilings, reverse=measure.better == "higher")
        assert ceilings == pytest.approx(ordered, abs=1e-9), seed


@ALL
def test_only_views_whose_values_are_known_count(measure):
    table = np.array([[5, 1], [1, 5], [2, 2]])
    noise = counted("noisy", [[6, 0], [0, 6], [2, 2]], deterministic=False)
    unmapped = counted("unmapped", table, deterministic=True)
    promised = mapped("promised", [0, 0, 1], table, counted=False)
    plain = ceiling_of(evidence_of(table, []), measure)
    assert ceiling_of(evidence_of(table, [noise, unmapped, promised]), measure) == plain


@ALL
def test_one_class_tells_nothing(measure):
    table = np.array([[3], [0], [4]])
    ceiling = ceiling_of(evidence_of(table, [mapped("v", [0, 0, 1], table)]), measure)
    assert ceiling == pytest.approx(measure(table.astype(float)))


@ALL
def test_one_value_tells_nothing(measure):
    table = np.array([[3, 4, 5]])
    assert ceiling_of(evidence_of(table, []), measure) == pytest.approx(measure(table.astype(float)), abs=1e-12)


@ALL
def test_no_records(measure):
    assert ceiling_of(evidence_of(np.zeros((3, 2)), []), measure) in (0.0, None)


def test_there_is_none_where_none_is_wanted():
    table = np.array([[3, 1], [1, 4]])
    measure = MEASURES["mutual_information"]
    unknown = replace(measure, id="unheard_of")
    assert ceiling_of(evidence_of(table, [], joint=True), measure) is None
    assert ceiling_of(evidence_of(table, []), unknown) is None


def test_there_is_none_where_views_contradict_each_other():
    view = Masking("v", 2, np.array([0, 1]), np.array([[4, 0], [0, 4]]), deterministic=True)
    evidence = AttributeEvidence("a", 2, np.array([4, 4]), np.array([5, 3]), None, (view,))
    assert ceiling_of(evidence, MEASURES["g3"]) is None


@for_each("seed", range(30))
def test_the_limits_hold_for_every_table_that_fits(seed):
    evidence = tiny(seed, histogram=True)
    rows = RowLimits.of(evidence, evidence.histogram)
    majorant = np.cumsum(rows.majorant, axis=1)
    for table in every_table(evidence):
        cells = table[rows.kind_of]
        assert np.all((rows.lower <= cells) & (cells <= rows.upper))
        assert np.all(np.cumsum(-np.sort(-cells, axis=1), axis=1) <= majorant + 1e-9)


@for_each("seed", range(10))
def test_merging_a_label_by_hand_is_never_more_even(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 9, 4).astype(float)
    for values in (1, 2, 3, 4, 6):
        even = np.cumsum(GroupLimits(counts[np.newaxis], np.array([values]), None).merged[0])
        assert even[-1] == pytest.approx(counts.sum())
        for classes in product(range(values), repeat=4):
            merged = -np.sort(-np.bincount(classes, counts, minlength=4))[:4]
            assert np.all(even <= np.cumsum(merged) + 1e-9)


def test_counts_near_the_largest():
    table = np.array([[2**50, 1], [3, 2**50], [0, 7]])
    evidence = evidence_of(table, [mapped("v", [0, 1, 1], table)])
    for measure in MEASURES.values():
        assert excess(measure, ceiling_of(evidence, measure), table) <= 1e-9


def test_real_data_is_told_more_of_than_by_its_entropies():
    with HEALTH.open(newline="") as file:
        seen = Counter((row["max_expenditure"], row["health"]) for row in csv.DictReader(file))
    domain, classes = (sorted({pair[place] for pair in seen}) for place in (0, 1))
    table = np.array([[seen[value, label] for label in classes] for value in domain])
    views = [mapped(f"by-{width}", np.arange(len(domain)) // width, table) for width in (2, 3, 5)]
    measure = MEASURES["mutual_information"]
    ceiling = ceiling_of(evidence_of(table, views), measure)
    truth = measure(table.astype(float))
    known = min(entropy(table.sum(axis=0)), entropy(table.sum(axis=1)))
    assert truth < ceiling < truth + (known - truth) / 10
