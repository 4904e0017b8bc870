"""What the unmasked table tells, against a regression on the records themselves."""

from itertools import product
from operator import itemgetter

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import mutual_info_score

from aegis_advisor.evidence import PairCounts
from aegis_provider import LaplaceNoise, MinimumCell, RandomRounding, load_plan, prepare_entry
from aegis_provider.control import Roles, apply_controls
from aegis_provider.control.rounded_statistics import rounded_traces, step_for
from aegis_provider.counting import unmasked_trace as module
from aegis_provider.counting.coded_table import CodedTable
from aegis_provider.counting.pair_tables import PairsTold
from aegis_provider.counting.unmasked_trace import UnmaskedTrace
from aegis_provider.plan.model import IDENTITY
from aegis_sdk.wire.disclosure_control import JointTrace, is_multiple
from tests.for_each import for_each, for_some
from tests.provider.control.drawing import drawn_by

PLAN = """label: y
attributes:
  a: {maskings: {halves: {bucketize: {width: 4}}, any: {suppress: {}}}}
  b: {maskings: {any: {suppress: {}}}}
  c: {maskings: {any: {suppress: {}}}}
configurations: {%s}
"""
CONFIGURATIONS = {
    "coarse": "one: {a: halves, b: any, c: drop}, other: {a: any, c: any}",
    "fine": "one: {}, other: {a: halves}",
}


def records(seed=0, number=600):
    """Three attributes, two of which nearly agree, and a label of three values."""
    random = np.random.default_rng(seed)
    a = random.integers(0, 8, number)
    b = np.where(random.random(number) < 0.1, random.integers(0, 8, number), a)
    c = random.choice(["x", "y", "", "z"], number)
    y = np.clip((a + random.integers(0, 6, number)) // 5, 0, 2)
    return {"a": a, "b": b, "c": c, "y": y}


def told(columns, label):
    """What a table tells: all of its columns together, or the best of them if that is more."""
    return max(regressed(some, label) for some in (columns, *([each] for each in columns)))


def regressed(columns, label):
    """Pillai's trace by least squares on the indicators, adjusted by Ezekiel's formula."""
    x, y = (
        np.hstack([(each[:, None] == np.unique(each)).astype(float) for each in some]) for some in (columns, [label])
    )
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    explained = x @ np.linalg.lstsq(x, y, rcond=None)[0]
    trace = float(np.trace(np.linalg.pinv(y.T @ y, rcond=1e-9) @ (y.T @ explained)))
    most, rank, number = len(np.unique(label)) - 1, np.linalg.matrix_rank(x), len(label)
    return most - (most - trace) * (number - 1) / (number - 1 - rank)


@pytest.fixture(scope="module")
def plans(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plans")
    for name, listed in CONFIGURATIONS.items():
        (folder / f"{name}.yaml").write_text(PLAN % listed, encoding="utf-8")
    return {name: load_plan(folder / f"{name}.yaml") for name in CONFIGURATIONS}


def trace_of(plan, columns, controls=(), **how):
    how = {"exact": not controls, "pairs": True, **how}
    return prepare_entry(pa.table(columns), plan, controls, name="t", **how).entry.joint_trace


@for_some(1, "seed", range(3))
@for_each("configurations", CONFIGURATIONS)
def test_it_is_that_of_the_records_whatever_the_configurations(plans, seed, configurations):
    columns = records(seed)
    trace = trace_of(plans[configurations], columns)
    expected = told([columns[name] for name in "abc"], columns["y"])
    assert trace.value == pytest.approx(expected, rel=1e-9)
    assert trace.rounded_to is None


def test_many_attributes_need_no_query_for_each_two(tmp_path, monkeypatch):
    random, asked, codes = np.random.default_rng(4), [], CodedTable.codes
    monkeypatch.setattr(CodedTable, "codes", lambda *of: asked.append(len(of[1])) or codes(*of))
    names = [f"a{place}" for place in range(12)]
    columns = {name: random.choice(["", "x", "y"], 900) for name in names}
    columns["y"] = np.where(random.random(900) < 0.4, columns["a3"] == columns["a7"], random.random(900) < 0.5)
    chosen = ", ".join(f"{name}: drop" for name in names[2:])
    attributes = ", ".join(f"{name}: {{}}" for name in names)
    path = tmp_path / "plan.yaml"
    path.write_text(f"label: y\nattributes: {{{attributes}}}\nconfigurations: {{c: {{{chosen}}}}}\n")
    trace = trace_of(load_plan(path), columns)
    assert trace.value == pytest.approx(told([columns[name] for name in names], columns["y"]), rel=1e-9)
    assert len(asked) == 2  # for the pair that the entry has, and for all 66


def test_rare_values_are_merged_unless_they_tell_more_than_chance(plans, monkeypatch):
    monkeypatch.setattr(module, "MOST_GROUPS", 4)
    columns = records(1) | {"c": np.array(["x", "z"] * 300)}
    runs = {name: runs_of(columns[name], columns["y"], least=150, fewest=20) for name in "ab"}
    assert len(np.unique(runs["a"])) < 8
    expected = told([runs["a"], runs["b"], columns["c"]], columns["y"])
    assert trace_of(plans["coarse"], columns).value == pytest.approx(expected, rel=1e-9)


@for_each(("most", "sizes"), [(8, [3, 3, 2]), (7, [1, 1, 2])])
def test_all_attributes_together_have_no_more_values_than_the_limit(plans, monkeypatch, most, sizes):
    seen, whole_values = [], module.whole_values
    monkeypatch.setattr(module, "MOST_DIMENSIONS", most)
    monkeypatch.setattr(module, "whole_values", lambda counted: seen.append(whole_values(counted)) or seen[-1])
    trace_of(plans["coarse"], records(1) | {"c": np.array(["x", "z"] * 300)})
    assert [view.size for view in seen[0]] == sizes


def runs_of(values, labels, least, fewest):
    """Number the runs of neighbouring values that tell most about the labels; short ones must tell more than chance."""
    number, cost = len(labels), (0.5 * (len(np.unique(labels)) - 1) + 1) * np.log(len(labels))
    partitions = []
    for chosen in product([0, 1], repeat=len(np.unique(values)) - 1):
        runs = np.concatenate([[0], np.cumsum(chosen)])[np.unique(values, return_inverse=True)[1]]
        sizes = np.bincount(runs)
        if sizes.min() >= fewest:
            partitions.append((number * mutual_info_score(runs, labels) - cost * np.sum(sizes < least), runs))
    return max(partitions, key=itemgetter(0))[1]


def test_numbers_that_the_plan_discretises_are_in_its_bins(tmp_path):
    columns = records(2)
    binned = PLAN.replace("a: {maskings", "a: {discretize: {rule: equal_width, width: 2}, maskings")
    (tmp_path / "plan.yaml").write_text(binned % CONFIGURATIONS["coarse"], encoding="utf-8")
    expected = told([columns["a"] // 2, columns["b"], columns["c"]], columns["y"])
    assert trace_of(load_plan(tmp_path / "plan.yaml"), columns).value == pytest.approx(expected, rel=1e-9)


def test_a_table_that_tells_nothing_tells_nothing(plans):
    number = 240
    a, y = np.arange(number) % 8, np.arange(number) // 8 % 2
    columns = {"a": a, "b": np.zeros(number), "c": np.full(number, "x"), "y": y}
    assert trace_of(plans["coarse"], columns).value == 0


@for_each("controls", [[RandomRounding(5)], [MinimumCell(5)], [MinimumCell(5), RandomRounding(5)]])
def test_controlled_counts_have_a_rounded_trace(plans, controls):
    columns = records()
    exact = told([columns[name] for name in "abc"], columns["y"])
    trace = trace_of(plans["coarse"], columns, controls)
    assert trace.rounded_to in {0.02, 0.05, 0.1}
    assert is_multiple(trace.value, trace.rounded_to)
    assert 0 < abs(trace.value - exact) < trace.rounded_to


def test_by_default_it_is_rounded(plans):
    assert trace_of(plans["coarse"], records(), exact=False).rounded_to in {0.02, 0.05}


def test_noise_does_not_cover_it_so_it_is_left_out(plans):
    prepared = prepare_entry(pa.table(records()), plans["coarse"], [LaplaceNoise(1.0)], name="t", pairs=True)
    assert prepared.entry.joint_trace is None
    assert "the trace of the unmasked table (joint_trace)" in prepared.controlled.changes.tables


def test_without_pairs_there_is_none(plans):
    assert trace_of(plans["coarse"], records(), pairs=False) is None


@for_each(
    ("number", "step"),
    [(10, 1), (100, 0.1), (1_000, 0.01), (3_000, 0.005), (5_001, 0.002), (10**4, 0.001), (10**7, 0.001)],
)
def test_the_step_is_coarser_for_small_tables(number, step):
    assert step_for(number) == step


@for_each(("slope", "spread", "step"), [(0.0, 0.0, 0.001), (0.01, 0.0, 0.05), (0.01, 0.001, 0.05), (0.01, 0.01, 0.001)])
def test_the_step_hides_a_record_that_the_rounding_of_other_counts_does_not(entry, slope, spread, step):
    drawn = [rounded(entry, slope, spread, seed) for seed in range(400)]
    assert {each.rounded_to for each in drawn} == {step}
    values = np.array([each.value for each in drawn])
    assert np.ptp(values) == pytest.approx(step, abs=1e-9)
    assert values.mean() == pytest.approx(TRACE, abs=4 * step / 2 / np.sqrt(400))


def test_without_a_step_that_leaves_a_reference_there_is_none(entry):
    assert rounded(entry, slope=0.1, spread=0.0, seed=0) is None


@for_each("control", [MinimumCell(5), RandomRounding(5)])
def test_a_control_that_does_not_know_how_much_a_record_moves_it_leaves_it_out(entry, control):
    assert apply_controls(entry, [control], Roles((), ())).entry.joint_trace is None


def test_a_rare_label_value_leaves_none(plans):
    columns = records() | {"y": np.where(np.arange(600) < 8, "u", "v")}
    assert trace_of(plans["coarse"], columns, [MinimumCell(5)]) is None


@for_each("seed", range(4))
def test_slope_and_spread_are_derivatives_of_the_trace(seed):
    """Against differences of the trace of tables in which one count is larger by a ten-thousandth of the records."""
    random = np.random.default_rng(seed)
    a, y = random.integers(0, 3, 4000), random.integers(0, 2, 4000)
    b = np.where(random.random(4000) < 0.5, a, random.integers(0, 4, 4000))
    y = np.where(random.random(4000) < 0.2, a == 1, y)
    joints = [np.array([[np.sum((x == v) & (y == w)) for w in (0, 1)] for v in np.unique(x)], float) for x in (a, b)]
    both = np.array([[np.sum((a == v) & (b == w)) for w in range(4)] for v in range(3)], float)
    moves = np.zeros((7, 2))
    for cell in product(range(7), (0, 1)):
        by_label = np.concatenate(joints)
        by_label[cell] += 0.4
        moves[cell] = (trace_by(by_label, both) - trace_by(np.concatenate(joints), both)) / 0.4
    centred = [m - m.mean(axis=0) - m.mean(axis=1, keepdims=True) + m.mean() for m in (moves[:3], moves[3:])]
    squares = np.concatenate([np.square(m).ravel() for m in centred])
    pairs = [PairCounts((0, 1), (IDENTITY, IDENTITY), both.astype(np.int64))]
    assert module._spread(joints, pairs, None) == pytest.approx(np.sqrt(squares.sum() - squares.max()), rel=0.01)


def trace_by(by_label, both):
    """The trace by counts with the label that need not agree with the counts of the two attributes."""
    number, groups = both.sum(), np.concatenate([both.sum(axis=1), both.sum(axis=0)])
    together = np.block([[np.diag(groups[:3]), both], [both.T, np.diag(groups[3:])]])
    labels = np.array([by_label[:3].sum(axis=0)])
    covariance = together / number - np.outer(groups, groups) / number**2
    with_label = by_label / number - np.outer(groups, labels / number) / number
    return float(
        np.sum(np.diagonal(with_label.T @ np.linalg.pinv(covariance, rcond=1e-9) @ with_label) / (labels / number))
    )


TRACE = 0.3217


@pytest.fixture(scope="module")
def entry(plans):
    entry = prepare_entry(pa.table(records(0, 20_000)), plans["coarse"], name="t", pairs=True, exact=True).entry
    return entry.model_copy(update={"joint_trace": JointTrace(value=TRACE)})


def rounded(entry, slope, spread, seed):
    chance = drawn_by(np.random.default_rng(seed))
    told = PairsTold(trace=UnmaskedTrace(TRACE, slope, spread))
    return rounded_traces(entry, told, 5, chance)["joint_trace"]


@pytest.mark.long
@for_each("seed", range(3))
def test_one_record_more_or_less_hardly_ever_moves_it(plans, seed):
    columns = records(seed)
    whole = trace_of(plans["coarse"], columns).value
    for record in range(5):
        fewer = {name: np.delete(values, record) for name, values in columns.items()}
        assert abs(trace_of(plans["coarse"], fewer).value - whole) < step_for(600) / 2
