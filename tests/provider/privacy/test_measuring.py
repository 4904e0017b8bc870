"""Privacy criteria compared with pycanon, with plain Python, and with their theory."""

from collections import Counter
from fractions import Fraction
from itertools import accumulate
from math import exp, isclose, log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycanon import anonymity

from aegis_advisor.verdict.privacy_steps import STEPS
from aegis_provider.counting.counted_table import CountedTable, DistinctRecords
from aegis_provider.plan.model import DROP, IDENTITY
from aegis_provider.privacy import CRITERIA, breaks, classes_of, holds, measure_privacy, measured_names
from aegis_provider.table import open_table
from aegis_sdk.wire.configuration import ATTACKS
from tests.examples import at_most
from tests.for_each import for_each
from tests.provider.privacy.privacy_tables import groups_of, records_of, tables


def classes_of_rows(rows, quasi_identifiers, sensitive, mappings=None):
    columns = [f"c{place}" for place in range(len(rows[0]))]
    return classes_of(
        records_of(rows, columns),
        mappings or {},
        [columns[place] for place in quasi_identifiers],
        [columns[place] for place in sensitive],
    )


def assert_as_pycanon(found, frame, quasi_identifiers, sensitive):
    """Compare with pycanon. Its entropy l is an integer. Its t is the equal distance for texts, ordered for numbers."""
    who, what = list(quasi_identifiers), list(sensitive)
    alpha, k = anonymity.alpha_k_anonymity(frame, who, what)
    assert (found["k"], found["l"]) == (k, anonymity.l_diversity(frame, who, what))
    assert found["alpha"] == pytest.approx(alpha)
    assert anonymity.entropy_l_diversity(frame, who, what) in {
        int(found["entropy_l"] + slack) for slack in (-1e-9, 1e-9)
    }
    assert found["t"] == pytest.approx(anonymity.t_closeness(frame, who, what))
    assert found["beta"] == pytest.approx(anonymity.basic_beta_likeness(frame, who, what))
    assert found["delta_disclosure"] == pytest.approx(anonymity.delta_disclosure(frame, who, what))


@pytest.mark.long
@at_most(40)
@given(tables(columns=4))
def test_every_criterion_is_that_of_pycanon(rows):
    frame = pd.DataFrame(rows, columns=list("abst"), dtype="str")
    found = measure_privacy(classes_of_rows(rows, [0, 1], [2, 3]))
    assert_as_pycanon(found, frame, "ab", "st")


@given(tables(columns=3, values=6))
def test_the_ordered_distance_is_that_of_pycanon_for_numbers(rows):
    if len({row[2] for row in rows}) == 1:
        rows = [*rows, (*rows[0][:2], "7")]
    frame = pd.DataFrame(rows, columns=list("abs"), dtype="str").astype({"s": int})
    found = measure_privacy(classes_of_rows(rows, [0, 1], [2]))
    assert found["ordered_t"] == pytest.approx(anonymity.t_closeness(frame, ["a", "b"], ["s"]))


def by_plain_python(group, everyone):
    """Return the criteria of one class, as fractions where possible; both arguments are sensitive values."""
    domain = sorted(set(everyone), key=int)
    q = [Fraction(group.count(value), len(group)) for value in domain]
    p = [Fraction(everyone.count(value), len(everyone)) for value in domain]
    differences = [one - other for one, other in zip(q, p, strict=True)]
    return {
        "k": len(group),
        "l": len(set(group)),
        "entropy_l": exp(-sum(share * log(share) for share in q if share)),
        "t": sum(map(abs, differences)) / 2,
        "ordered_t": sum(map(abs, accumulate(differences))) / max(len(domain) - 1, 1),
        "alpha": max(q),
        "beta": max(difference / share for difference, share in zip(differences, p, strict=True)),
        "delta_disclosure": max(abs(log(one / other)) for one, other in zip(q, p, strict=True) if one),
    }


@given(tables(columns=4))
def test_the_worst_class_and_the_worst_attribute_count(rows):
    expected = [
        by_plain_python(group, [row[place] for row in rows])
        for place in (2, 3)
        for group in groups_of(rows, [0, 1], place)
    ]
    found = measure_privacy(classes_of_rows(rows, [0, 1], [2, 3]))
    assert list(found) == list(measured_names())
    for name in measured_names():
        worst = (min if CRITERIA[name].at_least else max)(each[name] for each in expected)
        assert found[name] == pytest.approx(float(worst), abs=1e-12), name


@given(tables(columns=3), st.data())
def test_a_coarser_table_is_no_less_private(rows, data):
    mapping = data.draw(st.lists(st.integers(0, 2), min_size=4, max_size=4))
    compact = {place: number for number, place in enumerate(sorted(set(mapping)))}
    mappings = {"c0": np.array([compact[place] for place in mapping])}
    fine, coarse = (measure_privacy(classes_of_rows(rows, [0, 1], [2], each)) for each in ({}, mappings))
    for name in measured_names():
        # Only the gain of delta-disclosure is monotone: the merged class may rarely have a value that one part lacked.
        if name != "delta_disclosure":
            assert holds(name, coarse[name], fine[name]), name


def test_delta_disclosure_is_not_monotone_with_absent_values_left_out():
    rows = [("0", "a")] * 8 + [("1", "a")] * 7 + [("1", "b")] + [("2", "b")] * 16
    delta = CRITERIA["delta_disclosure"]
    fine = delta.by_class(classes_of_rows(rows, [0], [1]))
    merged = delta.by_class(classes_of_rows(rows, [0], [1], {"c0": np.array([0, 0, 1])}))
    assert merged.max() == pytest.approx(log(17 / 2))
    assert fine.max() == pytest.approx(log(17 / 4))


@given(tables(columns=3), st.integers(1, 6), st.floats(0.05, 1.0))
def test_what_is_left_after_suppression_holds_the_promise(rows, k, t):
    promise = {"k": k, "t": t, "alpha": 0.9}
    classes = classes_of_rows(rows, [0, 1], [2])
    broken = breaks(classes, promise)
    everyone = [row[2] for row in rows]
    groups = sorted(groups_of(rows, [0, 1], 2), key=lambda group: (len(group), sorted(group)))
    measured = [by_plain_python(group, everyone) for group in groups]
    assert sum(broken) == sum(each["k"] < k or each["t"] > t + 1e-9 or each["alpha"] > 0.9 + 1e-9 for each in measured)
    left = classes.without(broken)
    assert (len(left), left.records) == (len(classes) - sum(broken), classes.sizes[~broken].sum())
    reached = measure_privacy(left)
    assert all(holds(name, reached[name], limit) for name, limit in promise.items() if reached)


@given(tables(columns=3))
def test_classes_left_by_suppression_are_those_of_the_table_without_these_records(rows):
    classes = classes_of_rows(rows, [0, 1], [2])
    broken = breaks(classes, {"k": 3})
    sizes = Counter(row[:2] for row in rows)
    kept = [row for row in rows if sizes[row[:2]] >= 3]
    if not kept:
        assert measure_privacy(classes.without(broken)) == {}
        return
    left, direct = classes.without(broken), classes_of_rows(kept, [0, 1], [2])
    of_classes = ("k", "l", "entropy_l", "alpha")  # the others compare with the whole table
    assert measure_privacy(left, of_classes) == pytest.approx(measure_privacy(direct, of_classes))


@for_each("values", [2, 3, 5, 7, 11])
def test_rounding_breaks_no_promise(values):
    rows = [("a", str(value)) for value in range(values)] * 3
    classes = classes_of_rows(rows, [0], [1])
    promise = {
        "k": 3 * values,
        "l": values,
        "entropy_l": values,
        "t": 0,
        "ordered_t": 0,
        "alpha": 1 / values,
        "beta": 0,
    }
    assert not breaks(classes, promise).any()
    for name, limit in promise.items():
        stricter = limit + 1e-6 if CRITERIA[name].at_least else limit - 1e-6
        assert breaks(classes, {name: stricter}).all(), name


def test_what_a_table_cannot_show_breaks_nothing():
    rows = [("a", "x"), ("b", "y")]
    assert not breaks(classes_of_rows(rows, [0], [1]), {"epsilon": 0.1}).any()
    assert not breaks(classes_of_rows(rows, [0], []), {"l": 9, "alpha": 0.1}).any()
    assert measure_privacy(classes_of_rows(rows, [0], [])) == {"k": 1}


def test_without_quasi_identifiers_all_records_are_one_class():
    found = measure_privacy(classes_of_rows([("a", "x"), ("b", "y"), ("b", "y")], [], [1]))
    assert (found["k"], found["l"], found["t"]) == (3, 2, 0)


def test_keys_of_many_wide_columns_do_not_overflow():
    generator = np.random.default_rng(5)
    rows = [tuple(map(str, row)) for row in generator.integers(0, 200, (300, 12))]
    rows += rows[:7]
    sizes = Counter(rows)
    classes = classes_of_rows(rows, range(12), [])
    assert sorted(classes.sizes) == sorted(sizes.values())
    assert 200**11 > 2**63


@pytest.mark.long
@for_each("place", [20, 40, 60])
def test_configurations_of_the_example_are_measured_as_by_pycanon(health_table, health_plan, place):
    plan, configuration = health_plan, health_plan.configurations[place]
    frame = pd.read_csv(health_table, dtype="str", keep_default_na=False)
    with open_table(health_table) as table:
        counted = CountedTable.of(table, plan)
        mappings = {}
        for each in counted.attributes:
            name, choice = each.attribute.name, configuration.maskings[each.attribute.name]
            if choice not in {IDENTITY, DROP}:
                domain = counted.masked_domains(each)[choice]
                mappings[name] = np.array(domain.mapping)
                masked = [domain.texts[code] for code in domain.mapping]
                frame[name] = frame[name].map(dict(zip(each.domain.texts, masked, strict=True)))
        records = DistinctRecords.of(counted, plan.columns)
    kept = [name for name in plan.quasi_identifiers if configuration.maskings[name] != DROP]
    found = measure_privacy(classes_of(records, mappings, kept, plan.sensitive))
    assert found["k"] == configuration.privacy["k"]
    assert_as_pycanon(found, frame, kept, plan.sensitive)


def test_the_numbers_are_plain():
    found = measure_privacy(classes_of_rows([("a", "1"), ("a", "2")], [0], [1]))
    assert {name: type(value) for name, value in found.items()} == {
        name: int if CRITERIA[name].is_whole else float for name in measured_names()
    }
    assert isclose(found["entropy_l"], 2)


def test_no_measured_criterion_is_published_as_it_is():
    promised = {"epsilon", *ATTACKS}  # by the method that made a generated table, not measured
    assert set(CRITERIA) - promised == {*STEPS, "k", "l"}  # a new one needs steps, or to be a whole number
