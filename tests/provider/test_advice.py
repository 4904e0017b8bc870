"""Which of several configurations is best that keep the same, and what a model should reach on each."""

from dataclasses import asdict

import pytest

from aegis_provider import load_plan, prepare_entry, summarize
from aegis_provider.advice import advise, expected_of
from tests.provider import several_labels


def test_of_configurations_that_tie_the_one_that_leaves_out_fewest_records_is_best(plan_of, write):
    """Whatever is shared beside a column that tells the label for certain adds nothing to it."""
    table = write("t.csv", "code,more,y\n" + "".join(f"{n % 4},{n % 3},{n % 2}\n" for n in range(240)))
    plan = plan_of("{code: {}, more: {}}", "{both: {}, none: {code: drop, more: drop}, alone: {more: drop}}")
    entry = summarize(table, plan, name="t", pairs=True)
    told = [[row.id for row in advise(entry, left_out=left_out).ranking] for left_out in ({}, {"both": 7, "none": 0})]
    assert told == [["both", "alone", "none"], ["alone", "both", "none"]]
    without = advise(entry, weights={"more": 0}).ranking
    assert [(row.id, row.utility > 0) for row in without] == [("both", True), ("alone", True), ("none", False)]


MASKED = {"s": {"s0": "u", "s1": "u", "s2": "v"}, "y": {"y0": "few", "y1": "few", "y2": "many", "y3": "many"}}
PLAN = """
labels: [{labels}]
attributes:
  a: {{maskings: {{a3: {{mapping: {{a0: p, a1: p, a2: q, a3: q, a4: r, a5: r}}}}}}}}
{others}
configurations: {{{configurations}}}
"""
OTHERS = """
  s: {maskings: {s2: {mapping: {s0: u, s1: u, s2: v}}}}
  y: {maskings: {y2: {mapping: {y0: few, y1: few, y2: many, y3: many}}}}
"""


def test_of_a_masked_label_it_is_what_an_entry_of_the_masked_column_says(write):
    """Of every label that a configuration shows, as it shows it; on the table as it is, of the label as it is."""
    table = several_labels.table(write, 5, records=900)

    def expected(labels, others, configurations, masked=()):
        header, *rows = [line.split(",") for line in table.read_text().split()]
        columns = [[MASKED[name][row[place]] if name in masked else row[place] for row in rows]
                   for place, name in enumerate(header)]  # fmt: skip
        records = "".join(f"{','.join(row)}\n" for row in [header, *zip(*columns, strict=True)])
        text = PLAN.format(labels=labels, others=others, configurations=configurations)
        plan = load_plan(write("plan.yaml", text))
        entry = prepare_entry(write("c.csv", records), plan, name="t", pairs=True, exact=True).entry
        return {each.id: expected_of(entry, each.id) for each in entry.masked}

    told = expected("y, s", OTHERS, "none: {a: a3}, both: {a: a3, s: s2, y: y2}, dropped: {a: a3, s: drop, y: y2}")
    assert {name: [*of] for name, of in told.items()} == {"none": ["y", "s"], "both": ["y", "s"], "dropped": ["y"]}
    before = expected("y, s", "", "none: {a: a3}, dropped: {a: a3, s: drop}", masked="sy")
    for masked, whole in (("both", "none"), ("dropped", "dropped")):
        for label, of in told[masked].items():
            assert asdict(of[0]) == pytest.approx(asdict(before[whole][label][0]))
            assert of[1] == told["none"][label][1]
            assert of[0] != of[1]
