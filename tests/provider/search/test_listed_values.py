"""The utility of the search where rare values count as merged: that of advice on the default entry, before rounding."""

from dataclasses import replace

import pytest

from aegis_provider import Requirement, find_configurations, load_plan
from aegis_provider.advice import advise
from aegis_provider.summary import summarize_shared
from tests.for_each import for_each

HOURS = 3600 * 24


@pytest.mark.long
@for_each("measure", ["joint", "mutual_information"])
def test_the_order_is_that_of_advice_on_the_default_entry(health_table, measure):
    plan = load_plan(health_table.with_name("start.yaml"), configurations_needed=False)
    required = [Requirement({"k": 5}, 0.01), Requirement({"k": 50}, 0.0)]
    found = find_configurations(health_table, plan, required, measure=measure, most=40, seconds=HOURS)
    shown = tuple(replace(each, suppressed=None) for each in found.configurations)  # then all records are counted
    entry = summarize_shared(health_table, replace(plan, configurations=shown), name="found", pairs=True).entry
    advice = advise(entry, measure)
    assert [row.id for row in advice.ranking] == [each.id for each in found.configurations]
    assert [row.utility for row in advice.ranking] == pytest.approx(list(found.utilities), rel=1e-9)
