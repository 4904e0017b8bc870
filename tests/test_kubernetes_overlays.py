"""Checks of the overlays for Kubernetes, built by kustomize. No cluster is needed."""

import copy
import re
import shutil
import subprocess
from typing import Any

import pytest
import yaml

from app.settings import Settings
from tests.for_each import for_each
from tests.manifests import FOLDER, OVERLAYS, ROOT, VERSIONS, Manifest, built, faults, manifests, title

OPERATIONS = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
MONITORING = manifests(FOLDER / "monitoring")
[HPA] = manifests(FOLDER / "autoscaling")
[INGRESS] = manifests(FOLDER / "ingress")

with_kustomize = pytest.mark.skipif(shutil.which("kubectl") is None, reason="there is no kubectl, which has kustomize")


def overlay(name: str) -> dict[str, Manifest]:
    """The manifests of an overlay, by their kinds and names."""
    return {title(manifest): manifest for manifest in yaml.safe_load_all(built(FOLDER / "overlays" / name))}


def test_the_newest_version_with_a_schema_is_among_those_that_judge():
    import kubernetes_validate  # noqa: PLC0415 -- a second, for each process that collects tests

    assert kubernetes_validate.latest_version().startswith(f"{VERSIONS[-1]}.")
    assert all(version in OPERATIONS for version in VERSIONS)


@with_kustomize
@for_each("name", OVERLAYS)
def test_every_overlay_is_built_and_every_field_of_it_is_known(name):
    made = overlay(name)
    assert {title: told for title, manifest in made.items() if (told := faults(manifest))} == {}
    assert set(map(title, manifests(FOLDER / "base"))) - set(made) == (
        {"PodDisruptionBudget aegis-api"} if name == "small" else set()
    )


@with_kustomize
@for_each("name", OVERLAYS)
def test_a_budget_leaves_a_pod_that_may_go(name):
    made = overlay(name)
    for manifest in made.values():
        if manifest["kind"] == "PodDisruptionBudget" and "minAvailable" in manifest["spec"]:
            replicas = made[f"Deployment {manifest['metadata']['name']}"]["spec"]["replicas"]
            assert 0 < manifest["spec"]["minAvailable"] < replicas


@with_kustomize
def test_the_overlay_of_the_document_is_built_and_changes_what_it_says(tmp_path):
    [text] = re.findall(r"```yaml\n# overlay/kustomization.yaml\n(.*?)```", OPERATIONS, re.DOTALL)
    shutil.copytree(FOLDER, tmp_path / "docs/kubernetes")
    (tmp_path / "overlay").mkdir()
    (tmp_path / "overlay/kustomization.yaml").write_text(text)
    made = list(yaml.safe_load_all(built(tmp_path / "overlay")))
    assert {title(manifest) for manifest in made} == set(overlay("high-availability"))
    for manifest in made:
        assert faults(manifest) == {}, title(manifest)
        assert manifest["metadata"]["namespace"] == "aegis"
    version = (ROOT / "distribution/VERSION").read_text().strip()
    images = set(re.findall(r"image: (\S+)", built(tmp_path / "overlay")))
    assert images == {f"registry.example.org/aegis:{version}"}
    assert f"registry.example.org/aegis:{version} " in OPERATIONS


def test_a_field_that_the_prometheus_operator_does_not_know_is_found():
    for manifest in MONITORING:
        assert faults(manifest) == {}
        wrong = copy.deepcopy(manifest)
        wrong["spec"]["group"] = wrong["spec"].pop("groups", [])
        assert "$.spec" in faults(wrong)


def test_prometheus_scrapes_the_pods_of_the_api_and_the_workers_where_they_show_their_metrics():
    [monitor] = [each for each in MONITORING if each["kind"] == "PodMonitor"]
    pods = [each["spec"]["template"] for each in manifests(FOLDER / "base") if each["kind"] in {"Deployment", "Job"}]
    wanted = monitor["spec"]["selector"]["matchLabels"].items()
    assert all(wanted <= pod["metadata"]["labels"].items() for pod in pods)
    [endpoint] = monitor["spec"]["podMetricsEndpoints"]
    shown = [pod for pod in pods if endpoint["port"] in {port["name"] for port in ports(pod)}]
    components = {pod["metadata"]["labels"]["app.kubernetes.io/component"] for pod in shown}
    assert components == {"api", "worker"}


def ports(pod: dict[str, Any]) -> list[dict[str, Any]]:
    return [port for container in pod["spec"]["containers"] for port in container.get("ports", ())]


def test_prometheus_without_the_operator_reads_what_the_document_s_command_writes():
    [command] = re.findall(r"^(sed .*docs/kubernetes/monitoring/rules.yaml)", OPERATIONS, re.MULTILINE)
    written = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    [rules] = [each for each in MONITORING if each["kind"] == "PrometheusRule"]
    assert yaml.safe_load(written) == rules["spec"]


@pytest.mark.skipif(shutil.which("promtool") is None, reason="there is no promtool, which Debian's prometheus has")
def test_prometheus_takes_the_rules_and_records_the_longest_queue_that_an_api_shows(tmp_path):
    [rules] = [each["spec"] for each in MONITORING if each["kind"] == "PrometheusRule"]
    waiting, running = "aegis_queue_waiting_jobs", "aegis_queue_running_jobs"
    shown = {
        f'{name}{{namespace="n", lane="light", instance="{api}"{backlog}}}': jobs
        for api, few in (("a", 3), ("b", 4))
        for name, backlog, jobs in (
            (waiting, ', backlog="one"', 1),
            (waiting, ', backlog="few"', few),
            (running, "", 2),
        )
    }
    recorded = {"labels": 'aegis_queue_jobs{namespace="n", lane="light"}', "value": 1 + 4 + 2}
    case = {
        "interval": "1m",
        "input_series": [{"series": series, "values": f"{jobs} {jobs}"} for series, jobs in shown.items()],
        "promql_expr_test": [{"expr": "aegis_queue_jobs", "eval_time": "1m", "exp_samples": [recorded]}],
    }
    (tmp_path / "rules.yml").write_text(yaml.safe_dump(rules))
    (tmp_path / "tests.yml").write_text(yaml.safe_dump({"rule_files": ["rules.yml"], "tests": [case]}))
    for arguments in (("check", "rules", "rules.yml"), ("test", "rules", "tests.yml")):
        ran = subprocess.run(["promtool", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr


def test_workers_are_scaled_by_what_prometheus_records_for_each_lane_and_the_adapter_answers():
    [rules] = [each["spec"]["groups"] for each in MONITORING if each["kind"] == "PrometheusRule"]
    [recorded] = [rule for group in rules for rule in group["rules"] if "record" in rule]
    [answered] = yaml.safe_load((FOLDER / "autoscaling/adapter-values.yaml").read_text())["rules"]["external"]
    assert recorded["record"] in answered["seriesQuery"]
    metrics = [metric["external"]["metric"] for metric in HPA["spec"]["metrics"]]
    assert {metric["name"] for metric in metrics} == {recorded["record"]}
    assert [metric["selector"]["matchLabels"] for metric in metrics] == [{"lane": "light"}, {"lane": "heavy"}]
    for label in ("namespace", "lane"):
        assert label in re.search(r"max by \((.*?)\)", recorded["expr"])[1]


@with_kustomize
def test_only_the_autoscaler_says_how_many_workers_there_are_and_a_tenant_may_use_all_of_them():
    made = overlay("high-availability")
    workers = made[title(HPA)]["spec"]
    assert "replicas" not in made[f"Deployment {workers['scaleTargetRef']['name']}"]["spec"]
    settings = made["ConfigMap aegis-settings"]["data"]
    assert int(settings["AEGIS_TENANT_JOBS"]) == workers["maxReplicas"]
    pool, apis = Settings.model_fields["pool_size"].default, made["Deployment aegis-api"]["spec"]["replicas"]
    connections = (apis + 1) * (2 * pool + 1) + (workers["maxReplicas"] + 1) * 12
    text = (FOLDER / "overlays/high-availability/kustomization.yaml").read_text()
    assert connections < int(re.search(r"max_connections of (\d+)", text)[1])


def test_the_ingress_limits_what_the_proxy_of_the_document_limits():
    annotations = {name.partition("/")[2]: value for name, value in INGRESS["metadata"]["annotations"].items()}
    [nginx] = re.findall(r"```nginx\n(.*?)```", OPERATIONS, re.DOTALL)
    for name, pattern in {
        "client-max-body-size": r"client_max_body_size (\w+);",
        "proxy-read-timeout": r"proxy_read_timeout (\w+);",
        "keepalive": r"keepalive (\d+);",
        "max-conns": r"max_conns=(\d+);",
        "limit-req-rate": r"rate=(\S+);",
        "limit-req-burst": r"burst=(\d+)",
        "limit-req-reject-code": r"limit_req_status (\d+);",
    }.items():
        assert annotations[name] == re.search(pattern, nginx)[1], name


def test_the_ingress_leads_to_the_service():
    services = {each["metadata"]["name"]: each for each in manifests(FOLDER / "base") if each["kind"] == "Service"}
    [rule] = INGRESS["spec"]["rules"]
    [path] = rule["http"]["paths"]
    backend = path["backend"]["service"]
    assert backend["port"]["name"] in {port["name"] for port in services[backend["name"]]["spec"]["ports"]}
    assert INGRESS["spec"]["tls"][0]["hosts"] == [rule["host"]]


@with_kustomize
def test_openshift_has_no_user_and_its_router_and_its_monitoring_reach_the_pods():
    made = overlay("openshift")
    assert not re.search(r"runAsUser|runAsGroup|fsGroup|nginx", built(FOLDER / "overlays/openshift"))
    assert made["Ingress aegis"]["metadata"]["annotations"]["route.openshift.io/termination"] == "edge"
    for name in ("aegis-api", "aegis-worker"):
        rules = made[f"NetworkPolicy {name}"]["spec"]["ingress"]
        seen = {rule["ports"][0]["port"]: rule["from"][0]["namespaceSelector"]["matchLabels"] for rule in rules}
        assert seen["metrics"] == {"kubernetes.io/metadata.name": "openshift-user-workload-monitoring"}
        assert seen.get("http", {}) == ({"policy-group.network.openshift.io/ingress": ""} if "api" in name else {})
