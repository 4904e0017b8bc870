"""From a table to a plot of the service's advice, by commands alone."""

import json
import re
from pathlib import Path
from uuid import uuid4

import pytest

from aegis_provider.report.figures import frontier
from aegis_sdk.wire import Advice, EntryDocument

HEALTH = Path(__file__).parents[2] / "examples" / "health"


@pytest.fixture
def advised(aegis, tmp_path):
    """Files with the example's entry and the service's full ranking of it."""
    entry, advice = tmp_path / "entry.json", tmp_path / "advice.json"
    name = f"health-{uuid4().hex}"
    aegis("summarize", HEALTH / "health.csv", "--plan", HEALTH / "plan.yaml", "--name", name, "--output", entry)
    entry_id = aegis("publish", entry, "--accept-unique")[1].strip()
    arguments = ("--measure", "mutual_information", "--limit", 10_000, "--json")
    advice.write_text(aegis("advise", entry_id, *map(str, arguments))[1])
    return entry, advice


@pytest.mark.long
def test_an_advice_becomes_a_page_with_its_frontier(aegis, advised, tmp_path):
    entry, advice = advised
    page = tmp_path / "plot.html"
    code, out, complaint = aegis("disclose", entry, "--plot", page, "--advice", advice, "--json")
    assert (code, complaint) == (0, "")
    assert json.loads(out)["figures"] == ["frontier", "costs", "lattice"]

    document = EntryDocument.model_validate_json(entry.read_bytes())
    asked = Advice.model_validate_json(advice.read_bytes())
    chart = frontier(document, asked, "k")
    utilities = {row.configuration: row.utility for row in asked.ranking}
    edge = {mark.first for mark in chart.chosen.marks if mark.on_frontier}
    k = {each.id: each.privacy["k"] for each in document.configurations}
    best = {}
    for row in asked.ranking:
        best[k[row.configuration]] = max(best.get(k[row.configuration], 0.0), row.utility)
    beaten = {k for k in best if any(other > k and best[other] >= best[k] for other in best)}
    assert {each.x: utilities[each.name] for each in edge} == {k: best[k] for k in best if k not in beaten}
    cells = set(re.findall(r'<th scope="row"><bdi>([^<]*)</bdi>', page.read_text(encoding="utf-8")))
    assert {each.name for each in edge} <= cells
    assert asked.configuration in {each.name for each in edge}

    assert "Intervals (95 %) are those of samples like this table." in chart.notes
    assert len(chart.points) == 70
