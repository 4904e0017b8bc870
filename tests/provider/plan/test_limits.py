"""Plan files that are made to break the reader: each soon gives an error of one line."""

from pathlib import Path

import pytest

from aegis_provider import PlanError, load_plan
from tests.for_each import for_each

PLAN = "label: y\nattributes: {a: {}}\nconfigurations: {c: {}}\n"


def refusal(path):
    with pytest.raises(PlanError) as raised:
        load_plan(path)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 500
    return str(raised.value)


def doubled(times):
    """Return lists that each contain the previous list twice: 2 ** times texts in a few lines."""
    lines = [f"  - &l{place} [*l{place - 1}, *l{place - 1}]" for place in range(1, times + 1)]
    return "keywords:\n  - &l0 [x]\n" + "\n".join(lines) + "\n"


@for_each("times", [19, 30, 200])
def test_aliases_that_repeat_too_much_are_refused(write, times):
    path = write("plan.yaml", PLAN + doubled(times))
    assert refusal(path) == "plan.yaml: its aliases (*name) repeat more than 1000000 values; write fewer of them"


def test_aliases_that_repeat_what_a_person_means_are_read(write):
    maskings = "  a: {maskings: &both {tens: {bucketize: {width: 10}}, gone: {suppress: {}}}}\n  b: {maskings: *both}\n"
    plan = load_plan(write("plan.yaml", f"label: y\nattributes:\n{maskings}configurations: {{c: {{a: tens}}}}\n"))
    first, second = ([(each.id, each.function) for each in attribute.maskings] for attribute in plan.attributes)
    assert [name for name, _ in first] == ["tens", "gone"]
    assert second == first


def test_an_alias_within_itself_is_refused(write):
    assert "not YAML" in refusal(write("plan.yaml", PLAN + "keywords: &all [*all]\n"))


def test_a_plan_that_never_ends_is_refused():
    assert refusal(Path("/dev/zero")) == "zero: larger than 64 MiB; is it a plan?"


def test_a_salt_that_never_ends_is_refused(write):
    text = "label: y\nattributes: {a: {maskings: {m: {token: {salt_file: /dev/zero}}}}}\nconfigurations: {c: {}}\n"
    expected = "attributes.a.maskings.m.token.salt_file: /dev/zero is larger than 1 MiB; is it a salt?"
    assert refusal(write("plan.yaml", text)) == f"plan.yaml: {expected}"


@for_each("value", ["[{x: y}]", "{x: y}", "[integer]"])
@for_each(
    "text",
    [
        "label: y\nattributes: {{a: {{type: {}}}}}\nconfigurations: {{c: {{}}}}\n",
        "label: y\nattributes: {{a: {{}}}}\nconfigurations: {{c: {{a: {}}}}}\n",
        "label: y\nattributes: {{a: {{discretize: {{rule: {}}}}}}}\nconfigurations: {{c: {{}}}}\n",
        "label: y\nattributes: {{a: {{maskings: {{m: {{bucketize: {{width: {}}}}}}}}}}}\nconfigurations: {{c: {{}}}}\n",
    ],
)
def test_what_should_be_a_text_and_is_none_is_named(write, text, value):
    assert refusal(write("plan.yaml", text.format(value))).endswith(": expected a text")
