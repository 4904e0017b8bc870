"""Prices of a plan: a masked table costs what the highest k that it reaches says."""

import pytest

from aegis_provider import PlanError, document_of, load_plan, prepare_entry
from tests.for_each import for_each

ATTRIBUTES = "{a: {maskings: {gone: {suppress: {}}, low: {bucketize: {edges: [0, 5, 9]}}}}}"
ROWS = "1,n\n1,m\n2,n\n2,m\n6,n\n6,m\n" * 40
PRICES = "{currency: EUR, by_k: {2: 500, 5: 200.50, 50: 0}}"
CONFIGURATIONS = "{none: {a: low}, one: {a: low}, four: {a: low}, nine: {a: gone}, many: {a: gone}}\nprivacy: {"
CONFIGURATIONS += "one: {k: 1}, four: {k: 4}, nine: {k: 9}, many: {k: 60}}"


@pytest.mark.parametrize("exact", [False, True])
def test_a_table_costs_what_the_highest_k_that_it_reaches_says(write, plan_of, tmp_path, exact):
    table = write("t.csv", f"a,y\n{ROWS}")
    prepared = prepare_entry(table, plan_of(ATTRIBUTES, f"{CONFIGURATIONS}\nprices: {PRICES}"), name="t", exact=exact)
    document = document_of(prepared.entry)
    amounts = {one["id"]: one.get("price") for one in document["configurations"]}
    euros = {name: {"amount": each, "currency": "EUR"} for name, each in (("four", 500), ("nine", 200.5), ("many", 0))}
    assert amounts == {"none": None, "one": None} | euros
    assert document["format"] == 5
    prepared.write(tmp_path / "entry.json", tmp_path / "controlled.yaml")
    assert load_plan(tmp_path / "controlled.yaml").prices == prepared.plan.prices


def test_prices_that_no_table_reaches_leave_the_entry_as_it_is(write, plan_of):
    table = write("t.csv", f"a,y\n{ROWS}")
    high = f"{CONFIGURATIONS}\nprices: {{currency: EUR, by_k: {{1000: 1}}}}"
    entries = [prepare_entry(table, plan_of(ATTRIBUTES, each), name="t").entry for each in (CONFIGURATIONS, high)]
    assert document_of(entries[0]) == document_of(entries[1])


FAULTY = {
    "{currency: EUR, by_k: {2: -1}}": "prices.by_k.2: expected an amount of at least 0, not -1",
    "{currency: EUR, by_k: {2: .nan}}": "prices.by_k.2: ",
    "{currency: EUR, by_k: {2: 1e300}}": "prices.by_k.2: ",
    "{currency: EUR, by_k: {2: 500 USD}}": "prices.by_k.2: ",
    "{currency: [EUR, USD], by_k: {2: 500}}": "prices.currency: expected one currency by its code in ISO 4217",
    "{currency: euro, by_k: {2: 500}}": "prices.currency: expected one currency by its code in ISO 4217",
    "{currency: EUR, by_k: {two: 500}}": "prices.by_k.two: expected prices by k",
    "{currency: EUR, by_k: {0: 500}}": "prices.by_k.0: expected prices by k",
    "{currency: EUR, by_k: {}}": "prices.by_k: expected at least one price",
    "{currency: EUR}": "prices: `by_k` is missing",
}


@for_each("prices", FAULTY)
def test_prices_that_make_no_sense_are_refused_with_their_place(plan_of, prices):
    with pytest.raises(PlanError) as raised:
        plan_of(ATTRIBUTES, f"{CONFIGURATIONS}\nprices: {prices}")
    assert FAULTY[prices] in str(raised.value)
