"""What promises nothing, and the warning that some people's sensitive values are certain."""

import pytest

from aegis_provider import load_plan
from aegis_provider.privacy import CRITERIA, assess, certain_values_warning, plan_of_roles, promises_nothing
from tests.for_each import for_each

CERTAIN = [("30", "no"), ("30", "no"), ("40", "yes"), ("40", "no")]
OPEN = [("30", "no"), ("30", "yes"), ("40", "yes"), ("40", "no")]
PLAN = """label: sick
attributes: {age: {maskings: {gone: {suppress: {}}}}}
configurations: {raw: {}, gone: {age: gone}}
"""


@pytest.fixture
def assessed(write):
    def measure(rows, configuration=None, promise=""):
        table = write("t.csv", "\n".join(["age,sick", *map(",".join, rows)]) + "\n")
        plan = write("plan.yaml", PLAN + promise)
        return assess(table, load_plan(plan), configuration=configuration)

    return measure


def test_a_class_with_one_label_value_is_a_warning(assessed):
    said = "the label of some people is certain: in {} all records have the same sick (l = 1)"
    assert assessed(CERTAIN, "raw").certain_values == said.format("classes with 2 records")
    assert assessed(CERTAIN).certain_values == f"{said.format('some classes')}, as raw masks it"
    assert assessed(CERTAIN, "gone").certain_values is None
    assert assessed(OPEN).certain_values is None


def test_the_records_are_counted_of_which_any_sensitive_value_is_certain(write):
    rows = ["1,a,x", "1,a,y", "2,a,x", "2,b,x", "3,a,x", "3,b,y", "3,b,y", "4,c,z"]
    table = write("two.csv", "place,age,sick\n" + "\n".join(rows) + "\n")
    found = assess(table, plan_of_roles(["place"], ["age", "sick"])).as_it_is
    assert (found.privacy["l"], found.certain) == (1, 5)


def test_the_share_is_told_of_which_a_guess_is_over_95_percent_right(write):
    rows = [*["1,x"] * 20, "1,y", *["2,x"] * 19, "2,y", "3,z", "3,z"]  # 20 of 21, 19 of 20, 2 of 2
    table = write("guessed.csv", "place,sick\n" + "\n".join(rows) + "\n")
    found = assess(table, plan_of_roles(["place"], ["sick"])).as_it_is
    assert (found.certain, found.guessable) == (2, pytest.approx(23 / 43))


def test_the_warning_says_if_everybody_s_value_is_certain():
    plan = plan_of_roles(["place"], ["sick"])
    everybody = certain_values_warning({"k": 2, "l": 1}, plan, 8, 8)
    assert everybody is not None
    assert everybody.startswith("the label of everybody is certain: in each class ")
    some = certain_values_warning({"k": 2, "l": 1}, plan, 7, 8)
    assert some is not None
    assert "of some people is certain: in classes with 7 records" in some


def test_another_sensitive_attribute_is_not_called_the_label():
    plan = plan_of_roles(["place"], ["age", "sick"])
    said = "a sensitive value of some people is certain: in some classes all records have the same age or sick (l = 1)"
    assert certain_values_warning({"k": 3, "l": 1}, plan) == said
    assert certain_values_warning({"k": 1, "l": 2}, plan) is None
    assert certain_values_warning({"k": 1}, plan) is None


def test_a_number_that_every_table_reaches_is_never_held(assessed):
    [release] = assessed(CERTAIN, "raw", "privacy: {raw: {k: 2, l: 1, alpha: 1}}\n").releases
    assert release.in_words() == "holds k = 2"
    [release] = assessed(CERTAIN, "raw", "privacy: {raw: {l: 1}}\n").releases
    assert release.in_words() == "promises nothing"


@for_each(
    ("name", "number", "nothing"),
    [("k", 1, True), ("k", 2, False), ("l", 1, True), ("alpha", 1.0, True), ("alpha", 0.99, False), ("beta", 1, False)],
)
def test_what_promises_nothing(name, number, nothing):
    assert promises_nothing(name, number) == nothing


@for_each(("name", "number"), [("beta", 24495.33), ("delta_disclosure", 10.1)])
def test_a_vast_gain_of_confidence_is_no_useful_limit(name, number):
    assert CRITERIA[name].consequence(number).startswith("no useful limit: ")
    assert "24" not in CRITERIA[name].consequence(number)
    assert "2 times" in CRITERIA["beta"].consequence(1.0)
