"""The privacy of an entry that was counted from a table: what follows from it beside the published counts."""

import numpy as np
import pytest

from aegis_advisor.verdict.privacy_steps import STEPS
from aegis_provider import Requirement, find_configurations, load_plan, prepare_entry, write_plan
from aegis_provider.control import RandomRounding
from aegis_provider.disclosure import disclose
from aegis_provider.privacy import CRITERIA
from aegis_sdk.reading import verdict_in_words
from aegis_sdk.wire import ATTACKS
from tests.for_each import for_each

PLAN = """label: y
sensitive: [y]
attributes:
  q: {maskings: {qm: {mapping: {a: A, b: B, c: C, d: D, z: Z}}}}
  r: {maskings: {rm: {mapping: {u: U, v: V}}}}
"""


@pytest.fixture
def table(write):
    """3,000 records; the two with `z` are a class, and one of them is the only one with a rare label."""
    random = np.random.default_rng(0)
    q, y, r = (random.choice(list(each), 3000).tolist() for each in ("abcd", "ny", "uv"))
    q[:2], r[:2], y[:2] = ["z", "z"], ["u", "u"], ["rare", "n"]
    return write("t.csv", "q,r,y\n" + "".join(f"{a},{b},{c}\n" for a, b, c in zip(q, r, y, strict=True)))


def test_every_criterion_that_is_measured_in_classes_is_published_in_steps():
    """`k` and `l` are whole numbers that hold for every class; epsilon and attacks are those of generated tables."""
    assert set(CRITERIA) - set(STEPS) == {"k", "l", "epsilon", *ATTACKS}


def test_no_published_number_tells_the_one_record_of_a_rare_label(table, tmp_path, write):
    """The audit's table: beta is 1,499, which two digits told as 1,500."""
    source = write("p.yaml", PLAN)
    plan = load_plan(source, configurations_needed=False)
    found = find_configurations(table, plan, Requirement({"k": 2, "l": 2, "beta": 100_000}, 0))
    write_plan(source, plan, found.configurations, tmp_path / "f.yaml", "Found.")
    prepared = prepare_entry(table, load_plan(tmp_path / "f.yaml"), [RandomRounding(3)], name="x")
    assert all(each.privacy["beta"] >= 2000 for each in prepared.entry.masked)
    assert disclose(prepared.entry).judged.verdict.passed
    assert [each.privacy["beta"] for each in prepared.plan.configurations] == [1499.0] * len(found.configurations)
    told = [each.model_copy(update={"privacy": {**each.privacy, "beta": 1500.0}}) for each in prepared.entry.masked]
    judged = disclose(prepared.entry.model_copy(update={"configurations": told})).judged
    assert {each.reason for each in judged.verdict.findings} == {"certain"}
    assert judged.places[0] == f"beta of {told[0].id}"
    assert judged.options == ""  # the default mends it


@for_each("base", [3, 5])
def test_listed_values_of_few_records_are_counted_beside_a_pass(write, plan_of, base):
    """The audit's table: 20 values each of 1, 2 and 3 records, which no masking merges."""
    random, sizes = np.random.default_rng(1), [1] * 20 + [2] * 20 + [3] * 20
    a = [value for value, size in enumerate(sizes) for _ in range(size)]
    a += random.integers(60, 66, 900 - len(a)).tolist()
    rows = "".join(f"v{value},y{label}\n" for value, label in zip(a, random.integers(0, 2, 900), strict=True))
    names = ", ".join(f"v{value}: F{value}" for value in range(66))
    plan = plan_of(f"{{a: {{type: string, maskings: {{m: {{mapping: {{{names}}}}}}}}}}}", "{c: {a: m}}")
    entry = prepare_entry(write("t.csv", "a,y\n" + rows), plan, [RandomRounding(base)], name="x").entry
    verdict = disclose(entry).judged.verdict
    [masking] = entry.attributes[0].maskings
    certain = [name for name, row in zip(masking.domain, masking.joint, strict=True) if sum(row) + 2 * (base - 1) <= 4]
    assert verdict.passed
    assert verdict.few == len(certain)
    told = f"; {len(certain)} listed values have 1 to 4 records for certain, but it is not known how many"
    assert verdict_in_words("x", verdict).endswith(told) == bool(certain)
    assert all(1 <= a.count(int(name[1:])) <= 4 for name in certain)
    assert bool(certain) == (base == 3)
