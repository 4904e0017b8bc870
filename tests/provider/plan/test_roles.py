"""The sensitive attributes and quasi-identifiers of a plan, and the promises of its configurations."""

import pytest

from aegis_provider import PlanError, load_plan
from tests.for_each import for_each

PLAN = """
label: health
attributes: {age: {}, zip: {}, diagnosis: {}}
configurations:
  c01: {age: drop}
  c02: {}
"""


@pytest.fixture
def load(write):
    def load_with(more=""):
        return load_plan(write("plan.yaml", PLAN + more))

    return load_with


def test_the_label_is_sensitive_and_all_attributes_identify_unless_the_plan_says_otherwise(load):
    plan = load()
    assert (plan.sensitive, plan.quasi_identifiers) == (("health",), ("age", "zip", "diagnosis"))


def test_a_sensitive_attribute_is_no_quasi_identifier(load):
    plan = load("sensitive: [diagnosis, health]")
    assert (plan.sensitive, plan.quasi_identifiers) == (("diagnosis", "health"), ("age", "zip"))


def test_the_label_may_identify_where_something_else_is_sensitive(load):
    plan = load("sensitive: [diagnosis]\nquasi_identifiers: [zip, health]")
    assert (plan.sensitive, plan.quasi_identifiers) == (("diagnosis",), ("zip", "health"))


def test_a_plan_lists_labels_of_which_all_but_the_first_are_attributes_and_all_are_sensitive(write):
    listed = PLAN.replace("label: health", "labels: [health, diagnosis, smoker]")
    plan = load_plan(write("plan.yaml", listed))
    assert (plan.label, plan.labels) == ("health", ("health", "diagnosis", "smoker"))
    assert [attribute.name for attribute in plan.attributes] == ["age", "zip", "diagnosis", "smoker"]
    assert (plan.sensitive, plan.quasi_identifiers) == (plan.labels, ("age", "zip"))
    assert plan.configurations[0].maskings["smoker"] == "identity"
    assert load_plan(write("one.yaml", PLAN.replace("label: health", "labels: [health]"))).labels == ("health",)


@for_each(
    ("labels", "more", "message"),
    [
        ("labels: [health, zip, zip]", "", "plan.yaml: labels.2: 'zip' appears twice"),
        ("labels: []", "", "plan.yaml: labels: 1 to 20 labels are possible, not 0"),
        (f"labels: [{', '.join(map(str, range(200)))}]", "", "labels: 1 to 20 labels are possible, not 200"),
        ("labels: health", "", "plan.yaml: labels: expected a list, [a, b, ...]"),
        ("label: health\nlabels: [health]", "", "plan.yaml: label: the plan has `labels`, too; delete `label`"),
        (
            "labels: [age, health]",
            "",
            "plan.yaml: configurations.c01: unknown key 'age'",
        ),
        ("labels: [health, smoker]", "left_out: {smoker: asked}", "plan.yaml: left_out.smoker: the column is shared"),
        ("labels: [health, smoker]", "person: smoker", "plan.yaml: person: 'smoker' is a label, which is shared"),
    ],
)
def test_faulty_labels_are_refused_with_their_place(write, labels, more, message):
    with pytest.raises(PlanError) as raised:
        load_plan(write("plan.yaml", PLAN.replace("label: health", labels) + more))
    assert message in str(raised.value)


def test_a_label_that_every_configuration_drops_is_refused(write):
    dropped = PLAN.replace("label: health", "labels: [health, age]").replace("c02: {}", "c02: {age: drop}")
    with pytest.raises(PlanError, match=r"plan\.yaml: labels: every configuration drops 'age'; let one show it"):
        load_plan(write("plan.yaml", dropped))


def test_a_plan_may_have_no_sensitive_attribute(load):
    plan = load("sensitive: []")
    assert (plan.sensitive, plan.quasi_identifiers) == ((), ("age", "zip", "diagnosis"))


@for_each(
    ("more", "message"),
    [
        ("sensitive: [helth]", "plan.yaml: sensitive: unknown attribute 'helth'; did you mean 'health'?"),
        ("quasi_identifiers: [age, age]", "plan.yaml: quasi_identifiers: 'age' appears twice"),
        ("quasi_identifiers: age", "plan.yaml: quasi_identifiers: expected a list, [a, b, ...]"),
        (
            "quasi_identifiers: [age, health]",
            "plan.yaml: quasi_identifiers: 'health' is sensitive, so it cannot be a quasi-identifier too",
        ),
        ("suppressed: {c03: 2}", "plan.yaml: suppressed: unknown configuration 'c03'; did you mean 'c02'?"),
        ("suppressed: {c01: -2}", "plan.yaml: suppressed.c01: expected an integer of at least 0, not '-2'"),
        ("seed: x", "plan.yaml: seed: expected a whole number of at most 40 digits"),
    ],
)
def test_what_breaks_a_rule_is_named(load, more, message):
    with pytest.raises(PlanError) as raised:
        load(more)
    assert str(raised.value) == message


def test_a_configuration_has_its_promise_and_its_suppressed_records(load):
    plan = load("privacy: {c01: {k: 5, ordered_t: 0.2}}\nsuppressed: {c01: 12}\nseed: 7")
    first, second = plan.configurations
    assert (first.privacy, first.suppressed) == ({"k": 5, "ordered_t": 0.2}, 12)
    assert (second.privacy, second.suppressed) == ({}, None)
    assert plan.seed == 7
