"""Which of several configurations is best that keep the same."""

from aegis_provider import summarize
from aegis_provider.advice import advise


def test_of_configurations_that_tie_the_one_that_leaves_out_fewest_records_is_best(plan_of, write):
    """Whatever is shared beside a column that tells the label for certain adds nothing to it."""
    table = write("t.csv", "code,more,y\n" + "".join(f"{n % 4},{n % 3},{n % 2}\n" for n in range(240)))
    plan = plan_of("{code: {}, more: {}}", "{both: {}, none: {code: drop, more: drop}, alone: {more: drop}}")
    entry = summarize(table, plan, name="t", pairs=True)
    told = [[row.id for row in advise(entry, left_out=left_out).ranking] for left_out in ({}, {"both": 7, "none": 0})]
    assert told == [["both", "alone", "none"], ["alone", "both", "none"]]
    without = advise(entry, weights={"more": 0}).ranking
    assert [(row.id, row.utility > 0) for row in without] == [("both", True), ("alone", True), ("none", False)]
