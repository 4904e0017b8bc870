"""By default, masked values that may be those of single records are listed in groups."""

import numpy as np
import pytest

from aegis_provider import load_plan, prepare_entry
from aegis_provider.disclosure import disclose
from tests.for_each import for_each

RECORDS = 400
ROWS = "a,code,y\n" + "".join(f"{n * 7 % 1000},{'often' if n % 3 else f'c{n}'},{'mn'[n % 2]}\n" for n in range(RECORDS))
PLAN = """label: y
seed: 4
attributes:
  a:
    maskings:
      shuffled: {shuffle: {}}
      elsewhere: {masked_table: {file: t.csv}}
      answered: {randomised_response: {keep: 0.5}}
  code: {maskings: {shuffled: {shuffle: {}}}}
configurations: {c1: {a: shuffled, code: shuffled}, c2: {a: elsewhere}, c3: {a: answered}}
"""


@pytest.fixture
def prepared(write):
    """Entries of a table with codes of single records, which are shared although they identify."""
    how = {"name": "t", "accept_identifiers": True}
    return lambda **more: prepare_entry(write("t.csv", ROWS), load_plan(write("plan.yaml", PLAN)), **how, **more)


def maskings(prepared):
    return {(each.name, one.id): one for each in prepared.entry.attributes for one in each.maskings}


def test_numbers_are_listed_as_intervals_and_rare_texts_as_one(prepared):
    entry = maskings(prepared())
    least = np.ceil(np.sqrt(10 * RECORDS))
    for name in ("shuffled", "elsewhere"):
        listed = entry["a", name]
        assert 1 < len(listed.domain) <= RECORDS // least
        assert all(text.startswith(("[", "(-inf")) for text in listed.domain)
        assert np.sum(listed.joint) == pytest.approx(RECORDS, abs=6)
    assert entry["code", "shuffled"].domain == ["rare values", "often"]


def test_a_transition_is_that_between_listed_values(prepared):
    answered = maskings(prepared())["a", "answered"]
    transition = np.array(answered.transition)
    assert transition.shape[1] == len(answered.domain) < 20
    assert np.allclose(transition.sum(axis=1), 1)
    # Half of the answers are kept, and each interval has its share of the others. Intervals of answers and of values
    # end where they tell most about the label, and so at different numbers.
    answers = np.sum(answered.joint, axis=1) / RECORDS
    assert np.all(transition >= answers / 2 - 0.02)


def test_exact_entries_list_every_masked_value(prepared):
    entry = maskings(prepared(exact=True))
    assert {len(each.domain) for (name, _), each in entry.items() if name == "a"} == {RECORDS}


NEARLY_UNIQUE = """label: y
attributes:
  a: {type: integer, maskings: {same: {round: {to: 1}}, hundred: {bucketize: {width: 100}}}}
  code: {maskings: {prefix: {blur: {keep: 6}}}}
configurations: {c1: {a: same, code: prefix}, c2: {a: hundred, code: drop}}
"""


def test_functions_that_leave_values_nearly_unique_are_listed_as_unmasked_values_are(write):
    rows = "a,code,y\n" + "".join(f"{n * 7 % 1000},c{n % 10}{n:04},{'mn'[n % 2]}\n" for n in range(RECORDS))
    table, plan = write("t.csv", rows), load_plan(write("plan.yaml", NEARLY_UNIQUE))
    held = prepare_entry(table, plan, name="t", pairs=True)
    entry = maskings(held)
    assert len(entry["a", "same"].domain) == len(entry["a", "hundred"].domain) == 10
    assert all(text.startswith(("[", "(-inf")) for text in entry["a", "same"].domain)
    assert entry["a", "hundred"].domain == [f"{n}00-{n}99" if n else "0-99" for n in range(10)]
    assert entry["code", "prefix"].domain == ["rare values"]
    published = held.entry.model_dump_json()
    assert not any(f"c{n % 10}{n:04}" in published for n in range(RECORDS))
    disclosed = disclose(held.entry, table=table, plan=plan)
    assert disclosed.judged.verdict.passed


CAPPED = """label: y
attributes:
  amount:
    type: integer
    maskings:
      capped: {top_bottom: {top: 3000}}
      tens: {bucketize: {width: 10}}
  town: {maskings: {capital: {mapping: {a: a, b: other, c: other, d: d, e: e}}}}
configurations: {c1: {amount: capped, town: capital}, c2: {amount: tens, town: capital}}
"""


@for_each("often", [0, 1_500])
def test_no_masked_value_is_a_value_of_few_records(write, often):
    """Whether most amounts are rare, or only some of them."""
    rng = np.random.default_rng(often)
    amounts = np.concatenate([rng.integers(1, 4_000, 1_000), rng.choice([100, 200, 300], often)]).astype(int)
    towns = rng.choice(list("abcde"), amounts.size, p=[0.5, 0.4, 0.09, 0.005, 0.005])
    rows = [f"{amount},{town},{'mn'[amount % 2]}" for amount, town in zip(amounts, towns, strict=True)]
    table = write("t.csv", "\n".join(["amount,town,y", *rows]) + "\n")
    held = prepare_entry(table, load_plan(write("plan.yaml", CAPPED)), name="t")
    exact = prepare_entry(table, load_plan(write("plan.yaml", CAPPED)), name="t", exact=True)
    rare = {
        "amount": {str(each) for each in amounts if (amounts == each).sum() < 20},
        "town": {each for each in "abcde" if (towns == each).sum() < 20},
    }
    assert rare["amount"]
    assert rare["town"]
    for attribute, before in zip(held.entry.attributes, exact.entry.attributes, strict=True):
        for masking, exactly in zip(attribute.maskings, before.maskings, strict=True):
            assert not rare[attribute.name] & set(masking.domain), masking.id
            assert abs(np.sum(masking.joint) - np.sum(exactly.joint)) < 10
            if masking.id == "tens":  # intervals tell no value, so all of them stay
                assert masking.domain == exactly.domain
    if often:
        assert {"100", "200", "300"} <= set(held.entry.attributes[0].maskings[0].domain)
