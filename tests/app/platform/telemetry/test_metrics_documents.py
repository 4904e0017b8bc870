"""The table of metrics, the dashboard and the alerts are about the metrics that there are."""

import json
import re

import pytest
import yaml
from prometheus_client import CollectorRegistry

from app.platform.database.session import Database
from app.platform.process.child import ChildProcess
from app.platform.queue.lanes import JobWatch
from app.platform.queue.model import Lane
from app.platform.telemetry import JobMetrics, WebhookMetrics
from app.worker.worker import observed
from docs.generate import ROOT
from tests.app.platform.telemetry.scrapes import families, scraped
from tests.service import Worker, ask, publish, running_app

RULES = ROOT / "docs/kubernetes/monitoring/rules.yaml"
KEYWORDS = frozenset({"by", "le", "rate", "sum", "max", "min", "increase", "histogram_quantile"})


@pytest.fixture(scope="module")
async def shown(_one_loop, shared_database_url):
    """What the API and a worker show after some work, one after the other."""
    registry = CollectorRegistry()
    watch = JobWatch(JobMetrics(registry))
    WebhookMetrics(registry)
    database = Database(shared_database_url)
    observed(registry, database, {lane: ChildProcess("time", deadline=60) for lane in Lane})
    async with running_app(shared_database_url) as api, Worker.on(shared_database_url, watch) as worker:
        head = await publish(api)
        await api.get("/v1/advice/nothing")
        await ask(api, head["id"])
        await worker.run()
        yield families((await api.get("/metrics")).text), families(scraped(registry))
    await database.close()


def labels_of(family):
    return sorted({name for one in family.samples for name in one.labels} - {"le"})


async def test_the_table_has_every_metric_with_its_kind_its_labels_and_where_it_is(shown):
    api, worker = shown
    said = {}
    for line in (ROOT / "docs/operations.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if re.fullmatch(r"`(aegis|process)_\w+`", cells[0]) and len(cells) == 5:
            said[cells[0].strip("`")] = (cells[1], sorted(re.findall(r"`(\w+)`", cells[2])), cells[3])
    there = {}
    for name, family in (api | worker).items():
        where = "both" if name in api and name in worker else "API" if name in api else "worker"
        there[name] = (family.type, labels_of(family), where)
    assert {name: what for name, what in said.items() if name.startswith("aegis_")} == {
        name: what for name, what in there.items() if name.startswith("aegis_")
    }
    # Without /proc there are none of these.
    processes = {name: what for name, what in there.items() if name.startswith("process_")}
    assert processes.items() <= said.items()


async def test_names_and_labels_follow_the_conventions(shown):
    for name, family in (shown[0] | shown[1]).items():
        assert re.fullmatch(r"(aegis|process)(_[a-z]+)+", name)
        assert (family.type == "counter") == name.endswith("_total")
        assert not re.search("_(ms|milliseconds|minutes|kb|percent)(_|$)", name)
        of_data = {"tenant", "entry", "version", "key"} - ({"version"} if name == "aegis_build_info" else set())
        assert not of_data & set(labels_of(family))


def dashboard():
    return json.loads((ROOT / "docs/grafana/aegis.json").read_text(encoding="utf-8"))


def expressions():
    """Every expression of the dashboard and of the rules, with its name."""
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]
    for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["spec"]["groups"]:
        for rule in group["rules"]:
            yield rule.get("alert") or rule["record"], rule["expr"]


async def test_an_expression_is_of_metrics_and_labels_that_there_are(shown):
    there = {one.name: one.labels for family in (shown[0] | shown[1]).values() for one in family.samples}
    labels = {"le", "job", "instance", "namespace"}.union(*there.values())
    for name, expression in expressions():
        used = set(re.findall(r"[a-zA-Z_]\w*", re.sub(r'"[^"]*"|\[[^\]]*\]', "", expression)))
        metrics = {word for word in used if word.startswith(("aegis_", "process_"))}
        assert metrics, name
        assert {word for word in metrics if word.startswith("aegis_")} <= set(there), name
        assert used - metrics - KEYWORDS <= labels, name
        for opening, closing in ("()", "{}", "[]"):
            assert expression.count(opening) == expression.count(closing), name


def test_the_dashboard_can_be_imported():
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        assert panel["type"] == "row" or (panel["description"] and panel["datasource"]["uid"] == "${datasource}")
