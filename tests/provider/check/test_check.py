"""What models reach, against plain scikit-learn; what is refused; and that time is respected."""

from collections import Counter
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from aegis_provider import Configuration, PlanError, TableError, load_plan, processes
from aegis_provider.check import NOTHING, RAW, check, masked_records
from aegis_provider.draft import merges, start
from aegis_provider.masking import Mapped
from tests.for_each import for_each
from tests.provider.check.checked_tables import PLAN, as_csv, records, trained

CONFIGURATIONS = """
configurations:
  both: {age: decades, town: side}
  age: {age: decades, town: drop}
  some: {age: decades, town: identity}
privacy: {some: {k: 18}}
suppressed: {some: SUPPRESSED}
"""
ROWS = records()
AGES, TOWNS, LABELS = (list(column) for column in zip(*ROWS[1:], strict=True))
DECADES = [f"{age[0]}0" for age in AGES]
SIDES = ["left" if town in "ab" else "right" for town in TOWNS]
CLASSES = Counter(zip(DECADES, TOWNS, strict=True))
SHOWN = [CLASSES[one] >= 18 for one in zip(DECADES, TOWNS, strict=True)]
STATED = f"label: y\n{PLAN}{CONFIGURATIONS}".replace("SUPPRESSED", str(SHOWN.count(False)))
MODELS = ("logistic regression", "gradient boosting")


@pytest.fixture
def plan(write):
    return load_plan(write("plan.yaml", STATED))


@pytest.fixture
def table(write):
    return write("table.csv", as_csv(ROWS))


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checked")
    (folder / "table.csv").write_text(as_csv(ROWS))
    (folder / "plan.yaml").write_text(STATED)
    return check(folder / "table.csv", load_plan(folder / "plan.yaml"), ["both", "age", "some"], seconds=600)


@pytest.mark.long
@for_each("model", MODELS)
def test_every_table_reaches_what_plain_scikit_learn_reaches(result, model):
    expected = {
        RAW: ([AGES, TOWNS], None, [[int(age) for age in AGES]]),
        "both": ([DECADES, SIDES], None),
        "age": ([DECADES], None),
        "some": ([DECADES, TOWNS], SHOWN),
    }
    assert 0 < SHOWN.count(False) < 120
    for name, (columns, *more) in expected.items():
        found = result.of(name, model)
        # Tests with a tolerance, because the solver stops where it is near enough.
        assert (found.auc.value, found.accuracy.value) == pytest.approx(
            trained(model, columns, LABELS, *more), abs=2e-4
        ), name


def test_of_nothing_the_label_is_what_most_records_have(result):
    for model in MODELS:
        nothing = result.of(NOTHING, model)
        assert (nothing.auc.value, nothing.auc.low, nothing.auc.high) == (0.5, 0.5, 0.5)
        assert nothing.accuracy.value == Counter(LABELS).most_common()[0][1] / len(LABELS)


def test_differences_are_those_of_the_numbers(result):
    for model in MODELS:
        raw, winner, other = (result.of(name, model) for name in (RAW, "both", "age"))
        assert other.to_raw.value == pytest.approx(other.auc.value - raw.auc.value)
        assert other.to_winner.value == pytest.approx(other.auc.value - winner.auc.value)
        assert (raw.to_raw, winner.to_winner) == (None, None)


def test_shares_are_of_the_auc_above_chance_by_the_model_that_is_best_on_the_table_as_it_is(result):
    best = max(MODELS, key=lambda model: result.of(RAW, model).auc.value)
    raw = result.of(RAW, best).auc.value
    for name in ("both", "age", "some"):
        share = result.shares[name]
        assert share.value == pytest.approx((result.of(name, best).auc.value - 0.5) / (raw - 0.5))
        assert share.low < share.value < share.high
    assert result.shares.keys() == {"both", "age", "some"}


def test_of_further_configurations_only_the_share_is_found(table, plan, result):
    found = check(table, plan, ["both"], further=["age", "some"], seconds=600)
    assert found.shares == result.shares
    assert {each.table for each in found.performances} == {RAW, "both", NOTHING}
    assert (found.configurations, found.left_out, found.held) == (("both",), {"both": 0}, None)


def test_further_configurations_are_tested_on_no_more_folds_than_are_enough(table, plan, monkeypatch, result):
    monkeypatch.setattr(import_module("aegis_provider.check.check"), "_ENOUGH_TESTED", 50)  # a fold has 48 records
    seen = []
    found = check(table, plan, ["both"], further=["age"], seconds=600, progress=lambda *done: seen.append(done))
    best = max(MODELS, key=lambda model: found.of(RAW, model).auc.value)
    raw, _ = trained(best, [AGES, TOWNS], LABELS, None, [[int(age) for age in AGES]], folds=2)
    age, _ = trained(best, [DECADES], LABELS, folds=2)
    assert found.shares["age"].value == pytest.approx((age - 0.5) / (raw - 0.5), abs=2e-3)
    assert found.shares["both"] == result.shares["both"]
    assert seen[-1] == (2, 2)


def test_it_says_what_was_used(result):
    assert (result.records, result.of_records, result.classes, dict(result.rare)) == (240, 240, 2, {})
    assert result.left_out == {"both": 0, "age": 0, "some": SHOWN.count(False)}
    assert (result.unfinished, result.refitted) == ({}, ())


def test_equal_questions_have_equal_answers(table, plan, result):
    assert check(table, plan, ["both", "age", "some"], seconds=600) == result


def test_numbers_with_many_values_are_numbers_to_both_models(write):
    """Two columns of 200 different numbers: nothing is learnt from values, but all from their order."""
    random = np.random.default_rng(0)
    numbers = random.permutation(200)
    rows = [[str(n / 8), "", "yes" if n >= 100 else "no"] if n % 9 else ["", str(n), "no"] for n in numbers.tolist()]
    table = write("table.csv", as_csv([["a", "b", "y"], *rows]))
    text = "label: y\nattributes: {a: {maskings: {}}, b: {maskings: {}}}\nconfigurations: {c: {}}\n"
    result = check(table, load_plan(write("plan.yaml", text)), ["c"], seconds=600)
    assert all(result.of(RAW, model).auc.value > 0.85 for model in MODELS)
    assert [result.of("c", model).auc for model in MODELS] == [result.of(RAW, model).auc for model in MODELS]


def test_what_was_not_finished_is_named(table, plan):
    result = check(table, plan, ["both", "age"], seconds=0)
    assert result.unfinished == dict.fromkeys(MODELS, (RAW, "both", "age"))
    assert {each.table for each in result.performances} == {NOTHING}
    assert (result.held, result.best_model, result.share("both"), result.shares) == (None, None, None, {})
    assert "not known" in result.verdict


def test_no_model_begins_that_would_end_too_late_if_it_took_as_long_as_the_longest(table, plan, monkeypatch):
    """A clock moves ten seconds with each fold: three end within 35 seconds, and a fourth would not."""
    now = [0.0]
    for module in ("check.check", "classifiers", "processes"):
        monkeypatch.setattr(import_module(f"aegis_provider.{module}"), "monotonic", lambda: now[0])

    def trained_one(_done, _all):
        now[0] += 10

    result = check(table, plan, ["both"], seconds=35, folds=2, progress=trained_one)
    assert {(each.table, each.model) for each in result.performances if each.table != NOTHING} == {(RAW, MODELS[0])}
    assert result.unfinished == {MODELS[0]: ("both",), MODELS[1]: (RAW, "both")}
    assert result.left_out == {}


def test_rare_label_values_are_left_out_and_named(write, plan):
    rows = [*ROWS, *([["30", "a", "maybe"]] * 4), ["31", "b", ""]]
    result = check(write("table.csv", as_csv(rows)), plan, ["both"], seconds=600)
    assert dict(result.rare) == {"": 1, "maybe": 4}
    assert (result.records, result.of_records, result.classes) == (240, 245, 2)
    assert len(check(write("table.csv", as_csv(rows)), plan, ["both"], seconds=0, folds=4).rare) == 1


@for_each(
    ("rows", "told"),
    [
        ([row for row in ROWS if row[2] != "yes"], "fewer than two values with 5 records"),
        ([["age", "town"], ["30", "a"]], "no column 'y'"),
        ([ROWS[0]], "no records"),
        ([*ROWS, ["30", "z", "yes"]], "'z' is not in the mapping"),
    ],
)
def test_a_table_that_cannot_be_checked_is_an_error(write, plan, rows, told):
    with pytest.raises(TableError, match=told):
        check(write("table.csv", as_csv(rows)), plan, ["both"])


@for_each(
    ("ids", "further", "folds", "told"),
    [
        ([], ["both"], 5, "name a configuration"),
        (["both", "both"], [], 5, "named twice"),
        (["both"], ["both"], 5, "named twice"),
        (["boht"], [], 5, "did you mean 'both'"),
        (["both"], ["ega"], 5, "no configuration 'ega'"),
        (["both"], [], 1, "at least 2 folds"),
    ],
)
def test_a_question_that_makes_no_sense_is_an_error(table, plan, ids, further, folds, told):
    with pytest.raises(PlanError, match=told):
        check(table, plan, ids, further=further, folds=folds)


def codes_and_noise():
    """300 records with 100 codes and a label that is drawn without looking at them."""
    random = np.random.default_rng(1)
    codes, labels = random.integers(0, 100, 300).tolist(), random.choice(["no", "yes"], 300).tolist()
    return [["code", "y"], *([f"n{code}", label] for code, label in zip(codes, labels, strict=True))]


def by_majority(plan, rows):
    """Return the plan with each code masked by the label that most of its records have, which is `no` without any."""
    labels: dict[str, Counter[str]] = {f"n{code}": Counter() for code in range(100)}
    for code, label in rows:
        labels[code][label] += 1
    masked = {code: max(sorted(counted), key=counted.get, default="no") for code, counted in labels.items()}
    [attribute] = plan.attributes
    [masking] = attribute.maskings
    fitted = replace(attribute, maskings=(replace(masking, function=Mapped(masked)),), fitted_to_label=True)
    return replace(plan, attributes=(fitted,))


def test_a_masking_that_has_seen_the_label_is_refitted_in_each_fold(write, plan_of):
    """A masking fitted to noise tells the label of the records that it was fitted to, but of no others."""
    rows = codes_and_noise()
    table = write("noise.csv", as_csv(rows))
    plan = by_majority(plan_of("{code: {maskings: {m: {mapping: {x: x}}}}}", "{c: {code: m}}"), rows[1:])

    def refit(known, training):
        assert training.num_rows == 240
        return by_majority(known, zip(*training.to_pydict().values(), strict=True))

    leaking = check(table, plan, ["c"], seconds=600, refit=lambda known, _: known)
    honest = check(table, plan, ["c"], seconds=600, refit=refit)
    assert honest.refitted == ("code",)
    for model in MODELS:
        assert leaking.of("c", model).auc.value > 0.7
        assert abs(honest.of("c", model).auc.value - 0.5) < 0.08
        assert honest.of(RAW, model).auc == leaking.of(RAW, model).auc


def test_a_refitted_masking_without_a_value_of_the_table_is_an_error(write, plan_of):
    rows = codes_and_noise()
    plan = by_majority(plan_of("{code: {maskings: {m: {mapping: {x: x}}}}}", "{c: {code: m}}"), rows[1:])

    def forgetful(known, _):
        [attribute] = known.attributes
        [masking] = attribute.maskings
        masked = {code: text for code, text in masking.function.values.items() if code != "n7"}
        return replace(known, attributes=(replace(attribute, maskings=(replace(masking, function=Mapped(masked)),)),))

    with pytest.raises(TableError, match="'n7' is not in the mapping"):
        check(write("noise.csv", as_csv(rows)), plan, ["c"], seconds=600, refit=forgetful)


def test_what_is_not_masked_is_not_refitted(write, plan_of):
    rows = codes_and_noise()
    configurations = "{c: {code: identity}, d: {code: drop}}"
    plan = by_majority(plan_of("{code: {maskings: {m: {mapping: {x: x}}}}}", configurations), rows[1:])
    result = check(write("noise.csv", as_csv(rows)), plan, ["c", "d"], seconds=600)
    assert result.refitted == ()
    assert result.of("d", MODELS[0]).auc.value == 0.5


@pytest.mark.long
def test_a_drafted_plan_is_refitted_by_itself(write, tmp_path, monkeypatch):
    """A draft that believes what noise shows keeps that, which is nothing in other records."""
    random = np.random.default_rng(5)
    numbers, codes = random.integers(0, 40, 800).tolist(), random.integers(0, 30, 800).tolist()
    labels = random.choice(["no", "yes"], 800).tolist()
    rows = [[str(n), f"n{code}", label] for n, code, label in zip(numbers, codes, labels, strict=True)]
    table = write("noise.csv", as_csv([["visits", "code", "y"], *rows]))
    with monkeypatch.context() as believing:
        believing.setattr(merges, "_held_out", lambda *given: (np.arange(len(given[3]) + 1, 0, -1), 0))
        drafted = load_plan(start(table, "y", tmp_path / "plan.yaml").plan, configurations_needed=False)
    coarsest = {each.name: each.maskings[-1].id for each in drafted.attributes}
    plan = replace(drafted, configurations=(Configuration("c", coarsest, {}),))
    honest = check(table, plan, ["c"], seconds=600)
    leaking = check(table, plan, ["c"], seconds=600, refit=lambda known, _: known)
    assert honest.refitted == ("visits", "code")
    for model in MODELS:
        assert leaking.of("c", model).auc.value - honest.of("c", model).auc.value > 0.04
        assert abs(honest.of("c", model).auc.value - 0.5) < 0.08


@pytest.mark.long
def test_other_processes_find_the_same(table, plan, result, monkeypatch):
    monkeypatch.setattr(processes, "_WORTH", 1)
    monkeypatch.setattr("loky.cpu_count", lambda: 2)
    assert check(table, plan, ["both", "age", "some"], seconds=600) == result


def test_of_a_large_table_records_are_drawn(table, plan, monkeypatch):
    monkeypatch.setattr(masked_records, "MOST_RECORDS", 150)
    once, again = (check(table, plan, ["both"], seconds=600) for _ in range(2))
    assert (once.records, once.of_records, once == again) == (150, 240, True)


@pytest.mark.long
def test_a_masked_label_is_predicted_as_it_is_shown(write):
    """As in a table that has the masked label: the oracle is a plan that masks nothing of it."""
    rows = [ROWS[0], *((age, town, f"{label}{n % 2}") for n, (age, town, label) in enumerate(ROWS[1:]))]
    merged = {label: label[0] for *_, label in rows[1:]}
    masked = [rows[0], *((age, town, merged[label]) for age, town, label in rows[1:])]
    mapping = ", ".join(f"{label}: {of}" for label, of in merged.items())
    label = f"  y: {{maskings: {{one: {{mapping: {{{mapping}}}}}}}}}\n"
    chosen = "configurations:\n  both: {age: decades, town: side%s}\n  age: {age: decades%s}\n  raw: {}\n"
    plan = write("plan.yaml", f"label: y\n{PLAN}{label}{chosen % (', y: one', ', y: one')}")
    whole = write("whole.yaml", f"label: y\n{PLAN}{chosen % ('', '')}")
    own = check(write("table.csv", as_csv(rows)), load_plan(plan), ["both", "age", "raw"], seconds=600)
    told = check(write("masked.csv", as_csv(masked)), load_plan(whole), ["both", "age"], seconds=600)
    assert (own.shown_as, own.apart, own.classes) == ("one", ("raw",), 2)
    assert own.performances == told.performances
    assert own.shares == told.shares
