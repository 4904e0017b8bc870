"""A release beside its table: which records are held out, and what cannot be opened."""

import numpy as np
import pytest

from aegis_provider import load_plan
from aegis_provider.errors import TableError
from aegis_provider.synth.generate.generating import generate
from aegis_provider.synth.generate.prepared import Wish
from aegis_provider.synth.released.opening import open_release
from tests.for_each import for_each

PLAN = "label: sick\nattributes:\n  age: {}\n  name: {identity: false}\n  town: {}\n"


@pytest.fixture
def table(people):
    made = people(400, 1)
    return made.append_column("name", [[f"n{each}" for each in range(len(made))]])


def rows(records, names):
    """The texts of records, sorted."""
    texts = [np.array(records.column(name).domain.texts)[records.column(name).places] for name in names]
    return sorted(zip(*texts, strict=True))


def test_the_held_out_records_are_those_that_the_generator_held_out(table, write):
    """A column that is never generated has no say in it."""
    plan = load_plan(write("plan.yaml", PLAN), configurations_needed=False)
    generated = generate(table, plan, method="cart", wish=Wish(seed=1))
    opened = open_release(generated.table, table, plan=plan)
    assert len(opened.held_out) == generated.held_out > 0
    assert len(opened.seen) == generated.learnt_from + generated.validated
    assert opened.lacking == ("name",)
    without = open_release(generated.table, table.drop_columns(["name", "income"]), label="sick")
    names = ("age", "town", "sick")
    assert rows(without.held_out, names) == rows(opened.held_out, names)


def test_what_is_held_out_follows_from_the_release_unless_it_is_said(table):
    masked = table.set_column(0, "age", [["*"] * len(table)])
    assert len(open_release(masked, table, label="sick").held_out) == 0
    assert len(open_release(table, table, label="sick").held_out) > 0
    assert open_release(table, table).label == table.column_names[-1]


def test_nothing_is_held_out_from_a_masked_table(table):
    masked = table.set_column(0, "age", [["*"] * len(table)])
    with pytest.raises(TableError, match="a masked table has seen all records, so none can be held out; leave"):
        open_release(masked, table, label="sick", holdout=0.5)


@for_each(("share", "is_as_large"), [(1.0, True), (0.95, True), (0.8, False)])
def test_a_release_as_large_as_the_table_may_be_made_of_all_of_it(table, share, is_as_large):
    """A fifth is held out, so one made of the others has at most four fifths of the records."""
    release = table.slice(0, round(share * len(table)))
    assert open_release(release, table, label="sick").is_as_large == is_as_large


def test_a_configuration_of_as_many_records_has_seen_those_that_are_said_to_be_held_out(table, write):
    """What is masked of the records that are not held out alone can be judged by the others."""
    plan = load_plan(write("plan.yaml", f"{PLAN}configurations:\n  c: {{name: drop}}\n"))
    told = {"plan": plan, "configuration": "c"}
    masked = table.drop_columns(["name"])
    with pytest.raises(TableError, match="a masked table has seen all records"):
        open_release(masked, table, **told, holdout=0.5)
    opened = open_release(masked.slice(0, len(table) // 2), table, **told, holdout=0.5)
    assert len(opened.held_out) > 100
    assert (opened.is_masked, opened.is_as_large) == (True, False)


def test_what_cannot_be_opened_is_one_line(table):
    for release, original, words in (
        (table.slice(0, 0), table, "no record"),
        (table.rename_columns([*"abcde"]), table, "no column of"),
        (table, table.slice(0, 9), "9 records; at least 10 are needed"),
    ):
        with pytest.raises(TableError, match=words) as error:
            open_release(release, original)
        assert "\n" not in str(error.value)
