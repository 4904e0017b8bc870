"""What an entry promises: the promise of the plan as it stands, and of what was measured beyond it a little less."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider import Requirement, find_configurations, load_plan, write_plan
from aegis_provider.control import Beside, MinimumCell, RandomRounding, Roles, apply_controls
from aegis_provider.prepare import prepare_entry
from aegis_sdk.wire import EntryDocument
from tests.for_each import for_each
from tests.provider.control.counted_entries import entry_of

#: 200 records of each of two values of `a`, 40 of each combination with `b`.
ROWS = [(a, b, y) for a in "uv" for b in "12345" for y in "ny" for _ in range(20)]
STATED = {"k": 5, "l": 2, "entropy_l": 1.125, "t": 0.625, "alpha": 0.875, "beta": 1.005, "epsilon": 1.005}


@pytest.fixture
def table(write):
    return write("t.csv", "a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in ROWS))


def vouched(prepared):
    return [each.privacy for each in prepared.entry.masked]


@for_each("controls", [[], [RandomRounding(7)], [MinimumCell(5)], [MinimumCell(5), RandomRounding(6)]])
def test_a_promise_is_published_as_the_plan_states_it(table, plan_of, controls):
    """The smallest class has 40 records, and counts are rounded to multiples of 3, 7, or 6."""
    numbers = ", ".join(f"{name}: {number}" for name, number in STATED.items())
    plan = plan_of("{a: {}, b: {}}", f"{{c: {{}}, d: {{a: drop}}}}\nprivacy: {{c: {{{numbers}}}, d: {{k: 124}}}}")
    prepared = prepare_entry(table, plan, controls, name="e")
    assert vouched(prepared) == [STATED, {"k": 124}]
    assert prepared.plan.configurations == plan.configurations


@pytest.mark.long
@for_each(
    ("privacy", "required", "published"),
    [
        ({"k": 5}, {"k": 5}, {"k": 5}),
        ({"k": 7}, {"k": 5}, {"k": 5}),
        ({"k": 8}, {"k": 5}, {"k": 8}),
        ({"k": 40}, {"k": 5}, {"k": 38}),
        ({"k": 40, "l": 2}, {"l": 2}, {"k": 39, "l": 2}),
        ({"k": 2, "l": 2}, {"l": 2}, {"k": 1, "l": 2}),
        ({"k": 1000, "t": 0.123456}, {"t": 0.125}, {"k": 999, "t": 0.125}),
        ({"t": 0.1134}, {"t": 0.125}, {"t": 0.125}),
        ({"t": 0.0934}, {"t": 0.125}, {"t": 0.1}),
        ({"entropy_l": 1.9876}, {"entropy_l": 1.95}, {"entropy_l": 1.95}),
        ({"entropy_l": 1.9876}, {"entropy_l": 1.5}, {"entropy_l": 1.8}),
    ],
)
def test_of_what_was_measured_beyond_it_less_is_published(table, plan_of, privacy, required, published):
    stated = (", ".join(f"{name}: {number}" for name, number in each.items()) for each in (privacy, required))
    plan = plan_of("{a: {}, b: {}}", "{{c: {{}}}}\nprivacy: {{c: {{{}}}}}\nrequired: {{c: {{{}}}}}".format(*stated))
    assert vouched(prepare_entry(table, plan, [RandomRounding(3)], name="e")) == [published]


@given(st.integers(1, 60), st.integers(1, 60), st.integers(2, 9))
def test_k_keeps_its_promise_and_may_be_that_of_as_many_sizes_as_before(promised, beyond, base):
    """Someone who knows the promise and the base cannot tell the smallest class from `base` other sizes."""
    entry = entry_of([("0", "xa", "n"), ("1", "xb", "y")] * 9, [])
    maskings = {"a": "drop", "b": "drop"}
    sizes = range(promised, promised + beyond + base)
    entry["configurations"] = [{"id": f"c{k}", "maskings": maskings, "privacy": {"k": k}} for k in sizes]
    beside = Beside(promised={f"c{k}": {"k": promised} for k in sizes})
    document = EntryDocument.model_validate(entry)
    held = apply_controls(document, [RandomRounding(base)], Roles((), ()), beside=beside).entry
    published = [(each.privacy or {})["k"] for each in held.masked]
    assert all(promised <= told <= size < told + base for size, told in zip(sizes, published, strict=True))
    assert published.count(published[0]) == base


def test_what_a_search_finds_is_published_with_what_was_required(table, tmp_path, write):
    """The strictest of several requirements counts, and a plan that is written and read again says it too."""
    source = write("plan.yaml", "label: y\nattributes: {a: {}, b: {type: string, maskings: {g: {suppress: {}}}}}\n")
    plan = load_plan(source, configurations_needed=False)
    found = find_configurations(table, plan, [Requirement({"k": number}) for number in (2, 38, 50, 123)])
    numbers = {(each.privacy["k"], each.required["k"]) for each in found.configurations}
    assert numbers == {(40, 38), (80, 50), (200, 123), (400, 123)}
    write_plan(source, plan, found.configurations, tmp_path / "found.yaml", "Found.")
    again = load_plan(tmp_path / "found.yaml")
    assert again.configurations == found.configurations
    prepared = prepare_entry(table, again, [RandomRounding(7)], name="e")
    assert sorted({each["k"] for each in vouched(prepared)}) == [38, 78, 200, 396]
