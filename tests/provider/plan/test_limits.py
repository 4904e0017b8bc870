"""What a plan demands of attributes: those that are kept, limits of their maskings, and weights."""

import pytest

from aegis_provider import Configuration, PlanError, load_plan, write_plan
from aegis_provider.draft import start
from aegis_provider.plan.limits import with_demands
from aegis_provider.plan.model import Limits
from tests.for_each import for_each

MASKINGS = (
    "{tens: {bucketize: {width: 10}}, twenties: {bucketize: {width: 20}}, some: {randomised_response: {keep: 0.5}}}"
)
PLAN = f"""
seed: 123
label: y
quasi_identifiers: [a, b, hidden]
left_out: {{id: a number}}
attributes:
  a: {{type: integer, maskings: {MASKINGS}}}
  b: {{default: drop}}
  c: {{identity: false}}
  hidden: {{identity: false}}
"""


@pytest.fixture
def load(write):
    def load_with(more="", text=PLAN):
        return load_plan(write("plan.yaml", f"{text}{more}\n"), configurations_needed=False)

    return load_with


@for_each(
    ("said", "limits"),
    [
        ("keep: [a]", Limits(kept=True)),
        ("keep: {a: tens}", Limits(kept=True, coarsest="tens")),
        ("keep: [{a: tens}]", Limits(kept=True, coarsest="tens")),
        ("keep: {a: identity}", Limits(kept=True, coarsest="identity")),
    ],
)
def test_what_is_kept_has_three_forms(load, said, limits):
    assert load(said).attributes[0].limits == limits


def test_an_attribute_states_its_own_limits_and_the_plan_its_weights(load):
    plan = load("weights: {a: 2, hidden: 0}", PLAN.replace("a: {type", "a: {finest: tens, coarsest: twenties, type"))
    assert plan.attributes[0].limits == Limits(finest="tens", coarsest="twenties")
    assert plan.weights == {"a": 2, "hidden": 0}


@for_each(
    ("said", "why"),
    [
        ("keep: [nobody]", "keep: unknown attribute 'nobody'; available: a, b"),
        ("keep: [y]", "keep: 'y' is the label, which is always shared"),
        ("keep: [id]", "keep: 'id' is left out: a number; describe it under `attributes` instead"),
        ("keep: [a, a]", "keep.1: 'a' appears twice"),
        ("keep: a", "keep: expected a list"),
        ("keep: {a: fives}", "keep: unknown masking 'fives' of 'a'"),
        ("keep: {a: drop}", "keep: unknown masking 'drop' of 'a'"),
        ("keep: {a: some}", "keep: 'a' as some: it does not mask by value, so no masking is finer"),
        ("keep: [b]", "attributes.b: the plan keeps it, but it has `default: drop`"),
        ("keep: [hidden]", "keep: 'hidden' has `identity: false` and no masking by value, so it can only be dropped"),
        ("keep: {hidden: identity}", "keep: 'hidden' has `identity: false`"),
        (
            "keep: [a]\nconfigurations: {old: {a: drop, c: drop, hidden: drop}}",
            "attributes.a: the plan keeps it, but old drops it",
        ),
        ("weights: {nobody: 2}", "weights: unknown attribute 'nobody'"),
        ("weights: {a: -1}", "weights: 'a': a weight must be 0 or more, not -1"),
    ],
)
def test_a_line_says_why_something_cannot_be_demanded(load, said, why):
    with pytest.raises(PlanError) as refused:
        load(said)
    assert str(refused.value).startswith(f"plan.yaml: {why}")


@for_each("limit", ["finest: fives", "coarsest: drop", "coarsest: some"])
def test_a_limit_is_a_masking_by_value(load, limit):
    name = limit.partition(":")[0]
    with pytest.raises(PlanError, match=rf"^plan.yaml: attributes.a.{name}: .* is no masking by value"):
        load("", PLAN.replace("a: {type", f"a: {{{limit}, type"))


def test_an_option_must_not_contradict_the_plan(load):
    plan = load("keep: {a: tens}\nweights: {a: 2}")
    assert with_demands(plan, {"a": None}, {"a": 2}) == plan
    with pytest.raises(PlanError, match=r"keep: 'a' as twenties, but the plan says tens; change one of them"):
        with_demands(plan, {"a": "twenties"}, {})
    with pytest.raises(PlanError, match=r"weights: 'a' has 2, not 3"):
        with_demands(plan, {}, {"a": 3})


@for_each("said", ["", "keep: [a]  # the works council wants it\n", "keep: {a: twenties}\nweights: {a: 2}\n"])
def test_what_options_demand_is_in_the_plan_that_is_written(load, tmp_path, said):
    for demanded in (({}, {}), ({"a": None}, {}), ({"a": "twenties"}, {"a": 2.0, "hidden": 0.5})):
        plan = with_demands(load(said), *demanded)
        found = Configuration("c1", {"a": "tens", "b": "drop", "c": "drop", "hidden": "drop"}, {"k": 5})
        write_plan(tmp_path / "plan.yaml", plan, [found], tmp_path / "found.yaml", "Found.")
        again = load_plan(tmp_path / "found.yaml").attributes
        assert [(each.limits, each.weight) for each in again] == [
            (each.limits, each.weight) for each in plan.attributes
        ]
    write_plan(tmp_path / "plan.yaml", load(said), [found], tmp_path / "found.yaml", "Found.")
    assert said in (tmp_path / "found.yaml").read_text()


def test_a_draft_adds_to_a_plan_and_leaves_what_it_demands(write, tmp_path):
    table = write("t.csv", "a,b,y\n" + "".join(f"{n % 7},{n % 5},{'mn'[n % 3 > 0]}\n" for n in range(210)))
    write("plan.yaml", "label: y\nkeep: [a]  # asked for\nattributes:\n  a:\n    coarsest: identity\n")
    start(table, "y", tmp_path / "plan.yaml", add=["b"])
    plan = load_plan(tmp_path / "plan.yaml", configurations_needed=False)
    assert [each.limits.kept for each in plan.attributes] == [True, False]
    assert "keep: [a]  # asked for\n" in (tmp_path / "plan.yaml").read_text()
