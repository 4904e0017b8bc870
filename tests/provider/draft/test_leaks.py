"""Columns that give the label away are left out and named; what was known before stays."""

import numpy as np
import pytest
from sklearn import datasets

from aegis_provider import PlanError, load_plan
from aegis_provider.draft import start
from aegis_provider.errors import TableError
from tests.provider.draft.court_records import KNOWN, LABEL, LEAKING, columns
from tests.provider.draft.made_up import write


def drafted(path, table, label="y", **options):
    return start(write(path / "t.csv", table), label, path / "plan.yaml", **options)


def leaking(started):
    return {name for name, why in started.left_out.items() if why.startswith("leaks the label")}


def names(started):
    return {each.column.name for each in started.attributes}


@pytest.mark.parametrize("last", [760, 930])  # hardly anybody, or a fifth, offended again after two years
def test_what_exists_since_the_second_offence_is_left_out_of_court_records(tmp_path, last):
    started = drafted(tmp_path, columns(last=last), LABEL)
    assert leaking(started) == set(LEAKING)
    assert names(started) == {*KNOWN}
    assert started.left_out["sex_code"] == "a copy of sex, which is enough"
    notes = {each.column.name: each.notes for each in started.attributes if each.notes}
    assert notes == {"age_cat": ("follows from age: age is enough",)}
    plan = load_plan(started.plan, configurations_needed=False)
    assert plan.left_out.keys() == {*LEAKING, "case_number", "sex_code"}


def test_a_column_kept_by_name_is_drafted_and_a_warning(tmp_path):
    started = drafted(tmp_path, columns(2_000), LABEL, keep_leaks=["is_recid"])
    assert leaking(started) == {*LEAKING} - {"is_recid"}
    assert started.leaks.telling.keys() == {"is_recid"}
    again = drafted(tmp_path, columns(2_000), LABEL, keep_leaks=["is_recid", "end"])
    assert (names(again), set(again.kept)) == ({"end"}, names(started))
    added = drafted(tmp_path, columns(2_000), LABEL, add=["sex_code"])
    assert names(added) == {"sex_code"}
    with pytest.raises(TableError, match="nobody"):
        drafted(tmp_path, columns(100), LABEL, keep_leaks=["nobody"])


def made(seed=1):
    """A label, and columns that tell nothing about it."""
    random = np.random.default_rng(seed)
    one, two = random.integers(0, 2, (2, 600))
    table = {"one": one, "two": two, "three": random.integers(0, 5, 600), "many": random.integers(0, 500, 600)}
    return {name: list(map(str, each)) for name, each in table.items()}, one ^ two, random


def test_of_two_columns_that_tell_all_together_one_is_left_out(tmp_path):
    table, both, _ = made()
    started = drafted(tmp_path, {**table, "y": list(map(str, both))})
    assert len(leaking(started)) == 1
    assert leaking(started) < {"one", "two"}
    (tmp_path / "plan.yaml").unlink()
    kept = drafted(tmp_path, {**table, "y": list(map(str, both))}, keep_leaks=["one"])
    assert names(kept) == {*table}


def test_what_leaks_any_of_several_labels_is_left_out_and_no_label_is(tmp_path):
    table, both, _ = made()
    three = {"3rd": [f"n{value}" for value in table["three"]], "y": list(map(str, both))}
    started = drafted(tmp_path, {**table, **three}, other_labels=["three"])
    assert leaking(started) == {"3rd", "two"}
    assert names(started) == {"one", "many", "three"}
    plan = load_plan(started.plan, configurations_needed=False)
    assert plan.labels == plan.sensitive == ("y", "three")
    assert [each.maskings for each in plan.attributes if each.name == "three"] == [()]
    with pytest.raises(PlanError, match="add 'many' to its `labels`"):
        drafted(tmp_path, {**table, **three}, other_labels=["many"])


def test_two_of_twenty_columns_that_tell_all_only_together_are_seen(tmp_path):
    """Only the eight that tell the most were looked at in pairs, and each of these tells nothing by itself."""
    table, both, random = made()
    others = {f"x{n}": [str(int(each) ^ int(random.random() < 0.4)) for each in both] for n in range(15)}
    started = drafted(tmp_path, {**others, **table, "y": list(map(str, both))})
    assert len(leaking(started)) == 1
    assert leaking(started) < {"one", "two"}


def test_a_copy_is_left_out_only_if_its_maskings_merge_the_same(tmp_path):
    """Numbers are merged in their order and texts are not, so of such a pair the search needs both."""
    random = np.random.default_rng(1)
    many = random.integers(0, 12, 600)
    texts = ["qwertzuiopas"[each] for each in many]
    y = [str(int(random.random() < 0.2 + each % 3 / 4)) for each in many]
    table = {"number": list(map(str, many)), "text": texts, "text again": [f"n{each}" for each in texts], "y": y}
    started = drafted(tmp_path, table)
    assert names(started) == {"number", "text"}
    assert dict(started.left_out) == {"text again": "a copy of text, which is enough"}


def test_a_column_over_80_percent_stays_and_one_over_95_is_left_out(tmp_path):
    table, y, random = made()
    wrong = {"much": 0.02, "all": 0.002}
    table |= {name: [str(each ^ (random.random() < share)) for each in y] for name, share in wrong.items()}
    columns = {"three": table["three"], **{name: table[name] for name in wrong}, "y": [*map(str, y)]}
    started = drafted(tmp_path, columns)
    assert leaking(started) == {"all"}
    assert started.leaks.telling == pytest.approx({"much": 0.85}, abs=0.05)
    again = drafted(tmp_path, columns)
    assert (names(again), set(again.kept)) == (set(), {"three", "much"})
    assert again.leaks.telling == started.leaks.telling
    added = drafted(tmp_path, columns, add=["all"])
    assert set(added.leaks.telling) == {"much", "all"}


def test_a_column_that_is_empty_exactly_at_one_of_several_values_is_named(tmp_path):
    table, _, random = made()
    y = random.integers(0, 6, 600)
    table["when"] = ["" if each == 3 else str(random.integers(0, 4)) for each in y]
    started = drafted(tmp_path, {**table, "y": [f"v{each}" for each in y]})
    [when] = [each for each in started.attributes if each.column.name == "when"]
    assert when.notes == ("is empty exactly where y is v3",)


def test_records_without_a_label_make_no_leak(tmp_path):
    table, _, random = made()
    y = random.integers(0, 2, 600)
    empty = {name: [*column, *[""] * 60] for name, column in table.items()}
    started = drafted(tmp_path, {**empty, "y": [*(f"v{each}" for each in y), *[""] * 60]})
    assert not leaking(started)
    assert not started.leaks.telling


def test_where_every_column_leaks_all_are_drafted_with_the_warning(tmp_path):
    started = drafted(tmp_path, {"a": ["n", "m"] * 50, "y": ["0", "1"] * 50})
    assert names(started) == set(started.leaks.telling) == {"a"}


@pytest.mark.parametrize("made", [datasets.load_wine, datasets.load_iris])
def test_nothing_is_left_out_of_real_tables_whose_columns_tell_much(tmp_path, made):
    real = made()
    table = {str(name): list(map(str, column)) for name, column in zip(real.feature_names, real.data.T, strict=True)}
    started = drafted(tmp_path, {**table, "y": list(map(str, real.target))})
    assert names(started) == {*table}
    assert not started.left_out
