"""What a plan promises is found in the service by whoever requires exactly that."""

from uuid import uuid4

import pytest

from aegis_provider import load_plan
from aegis_provider.prepare import prepare_entry


@pytest.mark.long
def test_whoever_requires_what_a_plan_promises_finds_it(client, tmp_path):
    """The smallest class has 40 records, and counts are rounded to multiples of 3."""
    table, plan = tmp_path / "t.csv", tmp_path / "plan.yaml"
    rows = [(a, y) for a in "uvwxy" for y in "ny" for _ in range(20)]
    table.write_text("a,y\n" + "".join(f"{a},{y}\n" for a, y in rows))
    plan.write_text("label: y\nattributes: {a: {}}\nconfigurations: {c: {}}\nprivacy: {c: {k: 5, t: 0.125}}\n")
    prepared = prepare_entry(table, load_plan(plan), name=f"promised-{uuid4().hex}")
    published = client.publish(prepared.entry)
    require = {"k": 5, "t": 0.125}
    assert client.advise(published.id, "mutual_information", require=require).configuration == "c"
