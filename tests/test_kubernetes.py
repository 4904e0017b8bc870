"""Checks of the base of the manifests for Kubernetes, by its own schemas and against the composition."""

import copy
import re
from collections.abc import Iterator
from functools import reduce
from ipaddress import ip_address, ip_network
from operator import getitem
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from aegis_sdk._links import is_public, link_faults
from app.cli.commands import cli
from app.platform.http.server import ANSWER_SECONDS
from tests.manifests import FOLDER, VERSIONS, faults, manifests, title
from tests.test_containers import COMMANDS, COMPOSE, DOCKERFILE, ROOT, aegis_services
from tests.test_containers import Settings as ServiceSettings

OPERATIONS = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
BASE = FOLDER / "base"
MANIFESTS = manifests(BASE)
#: Seconds that a process has to end besides those for what it does.
TO_END = 2


def pods() -> dict[str, dict[str, Any]]:
    """The templates of all pods, by their component."""
    templates = [m["spec"]["template"] for m in MANIFESTS if m["kind"] in {"Deployment", "Job"}]
    return {template["metadata"]["labels"]["app.kubernetes.io/component"]: template for template in templates}


def containers(component: str) -> Iterator[dict[str, Any]]:
    spec = pods()[component]["spec"]
    yield from (*spec.get("initContainers", ()), *spec["containers"])


def variables(container: dict[str, Any]) -> dict[str, str]:
    """What a container has in its environment."""
    [common] = [manifest["data"] for manifest in MANIFESTS if manifest["kind"] == "ConfigMap"]
    assert container["envFrom"] == [{"configMapRef": {"name": "aegis-settings"}}]
    return common | {each["name"]: each["value"] for each in container.get("env", ())}


def secrets(component: str) -> dict[str, str]:
    """The names of the secrets that a pod has, by their volumes."""
    volumes = pods()[component]["spec"]["volumes"]
    return {volume["name"]: volume["secret"]["secretName"] for volume in volumes if "secret" in volume}


each_pod = pytest.mark.parametrize("component", pods())


def test_the_base_has_every_file_of_its_folder_and_nothing_else():
    kustomization = yaml.safe_load((BASE / "kustomization.yaml").read_text())
    assert set(kustomization) == {"apiVersion", "kind", "resources"}
    assert {path.name for path in BASE.iterdir()} == {"kustomization.yaml", *kustomization["resources"]}


def test_kubernetes_knows_every_field():
    assert {title(manifest): told for manifest in MANIFESTS if (told := faults(manifest))} == {}


def test_a_field_that_there_is_not_is_found():
    changes = [
        (("spec",), "replica", 2),
        (("spec", "template", "spec"), "enableServiceLink", False),
        (("spec", "template", "spec", "containers", 0), "readynessProbe", {}),
        (("spec", "template", "spec", "containers", 0, "securityContext"), "readOnlyRootFileSystem", True),
        (("spec",), "replicas", "two"),
    ]
    for path, name, value in changes:
        manifest = copy.deepcopy(next(each for each in MANIFESTS if each["kind"] == "Deployment"))
        reduce(getitem, path, manifest)[name] = value
        assert set(faults(manifest)) == set(VERSIONS), name


@each_pod
def test_every_pod_is_confined_as_the_composition_is(component):
    spec = pods()[component]["spec"]
    assert spec["automountServiceAccountToken"] is False
    pod = spec["securityContext"]
    assert (pod["runAsNonRoot"], pod["seccompProfile"]) == (True, {"type": "RuntimeDefault"})
    assert re.search(r"^USER \d+:\d+$", DOCKERFILE, re.MULTILINE)  # proves to an engine that it is not root
    for container in containers(component):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"requests", "limits"} == set(container["resources"])
        assert container["resources"]["limits"].keys() == {"memory"}


@each_pod
def test_no_pod_asks_for_a_user_or_group_so_that_openshift_may_choose_them(component):
    spec = pods()[component]["spec"]
    for context in (spec["securityContext"], *(each["securityContext"] for each in containers(component))):
        assert not {"runAsUser", "runAsGroup", "fsGroup", "supplementalGroups"} & set(context)
    assert {volume["secret"]["defaultMode"] for volume in spec["volumes"] if "secret" in volume} == {0o444}
    # Whom OpenShift chooses is of the group root, which may enter the folder that everything starts in.
    assert "install --directory --owner aegis --group root --mode 770 /var/lib/aegis" in DOCKERFILE


@each_pod
def test_variables_of_kubernetes_itself_are_not_taken_for_settings(component):
    """A service named `aegis` would otherwise set AEGIS_PORT."""
    assert pods()[component]["spec"]["enableServiceLinks"] is False


@each_pod
def test_every_container_runs_a_command_of_the_image_with_settings_that_there_are(component):
    for container in containers(component):
        assert container["image"] == COMPOSE["services"]["api"]["image"]
        assert container["args"][0] in COMMANDS
        options = {option.envvar for option in cli.get_command(None, container["args"][0]).params}
        assert set(variables(container)) <= {f"AEGIS_{name.upper()}" for name in ServiceSettings.model_fields} | options


def test_what_the_composition_sets_is_set_here():
    composed = set().union(*(service["environment"] for service in aegis_services().values()))
    here = set().union(*(variables(container) for component in pods() for container in containers(component)))
    # Here, the first key is read from a secret.
    assert composed - here == {"AEGIS_FIRST_KEY_FILE"}


@each_pod
def test_every_secret_is_a_file_that_is_there(component):
    volumes = {volume["name"] for volume in pods()[component]["spec"]["volumes"]}
    for container in containers(component):
        mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        assert set(mounts) <= volumes
        files = {value for name, value in variables(container).items() if name.endswith("_FILE")}
        assert {str(Path(file).parent) for file in files} == set(mounts.values()) - {"/tmp"}
        assert all(mount.get("readOnly") for mount in container["volumeMounts"] if mount["mountPath"] != "/tmp")
    urls = [
        value for container in containers(component) for name, value in variables(container).items() if "URL" in name
    ]
    assert urls
    assert not [url for url in urls if urlsplit(url).password]


def test_only_the_migration_has_what_the_owner_of_the_database_may_do():
    for component in pods():
        names = set().union(*(variables(container) for container in containers(component)))
        assert ("aegis-owner-password" in secrets(component).values()) == (component == "migrate")
        assert ("AEGIS_OWNER_DATABASE_URL" in names) == (component == "migrate")
        assert ("aegis-audit-key" in secrets(component).values()) == (component != "migrate")
        assert ("aegis-first-key" in secrets(component).values()) == (component == "migrate")


def test_the_job_of_the_last_version_goes_by_itself_and_is_synced_with_what_it_needs():
    [job] = [manifest for manifest in MANIFESTS if manifest["kind"] == "Job"]
    assert 0 < job["spec"]["ttlSecondsAfterFinished"] <= 24 * 3600
    assert job["metadata"]["annotations"] == {
        "argocd.argoproj.io/hook": "Sync",  # PreSync comes before the ConfigMap, and PostSync once all pods are ready
        "argocd.argoproj.io/hook-delete-policy": "BeforeHookCreation",
        "kustomize.toolkit.fluxcd.io/force": "enabled",
    }


def test_without_the_secret_of_the_first_key_the_job_runs_all_the_same():
    optional = [v["name"] for v in pods()["migrate"]["spec"]["volumes"] if v.get("secret", {}).get("optional")]
    assert optional == ["first-key"]


@pytest.mark.parametrize("component", ["api", "worker"])
def test_nothing_starts_before_the_database_is_migrated(component):
    first, _ = containers(component)
    assert first["args"][:2] == ["migrate", "--wait"]


@pytest.mark.parametrize("component", ["api", "worker"])
def test_pods_have_the_time_that_the_service_takes_to_end(component):
    spec = pods()[component]["spec"]
    settings = variables(spec["containers"][0])
    needed = float(settings.get("AEGIS_STOP_SECONDS", 0)) if component == "worker" else ANSWER_SECONDS
    needed += float(settings.get("AEGIS_DRAIN_SECONDS", 0)) + TO_END
    assert needed < spec["terminationGracePeriodSeconds"]


def test_the_api_is_unready_for_longer_than_it_takes_to_notice():
    [container] = pods()["api"]["spec"]["containers"]
    probe = container["readinessProbe"]
    noticed = probe["periodSeconds"] * probe["failureThreshold"]
    assert noticed < float(variables(container)["AEGIS_DRAIN_SECONDS"])
    assert probe["httpGet"]["path"] == "/readyz"
    assert {container[name]["httpGet"]["path"] for name in ("livenessProbe", "startupProbe")} == {"/healthz"}


def test_the_api_has_its_metrics_at_a_port_of_their_own():
    [container] = pods()["api"]["spec"]["containers"]
    ports = {port["name"]: str(port["containerPort"]) for port in container["ports"]}
    assert ports == {"http": "8000", "metrics": variables(container)["AEGIS_METRICS_PORT"]}
    assert "AEGIS_PORT=8000" in DOCKERFILE
    assert {port["targetPort"] for port in of_kind("Service")["spec"]["ports"]} == {"http"}
    reached = {rule["ports"][0]["port"]: places(rule["from"]) for rule in policy("api")["spec"]["ingress"]}
    assert reached == {"http": {"nginx-ingress"}, "metrics": {"monitoring"}}


def of_kind(kind: str) -> dict[str, Any]:
    """The one manifest of a kind."""
    [manifest] = [each for each in MANIFESTS if each["kind"] == kind]
    return manifest


def policy(component: str) -> dict[str, Any]:
    """Whom the pods of a component reach, and who reaches them."""
    [found] = [each for each in MANIFESTS if title(each) == f"NetworkPolicy aegis-{component}"]
    return found


def places(peers: list[dict[str, Any]]) -> set[str]:
    """The namespaces among what a rule is about."""
    selected = (peer["namespaceSelector"]["matchLabels"] for peer in peers if "namespaceSelector" in peer)
    return {labels["kubernetes.io/metadata.name"] for labels in selected}


def reaches(component: str, where: str, port: int, protocol: str = "TCP") -> bool:
    """Whether pods of a component may connect to a namespace or an address, as Kubernetes reads the policy."""
    for rule in policy(component)["spec"]["egress"]:
        ports = [each for each in rule["ports"] if each.get("protocol", "TCP") == protocol]
        named = any(each["port"] <= port <= each.get("endPort", each["port"]) for each in ports)
        blocks = [peer["ipBlock"] for peer in rule["to"] if "ipBlock" in peer]
        if named and (where in places(rule["to"]) or any(is_in(where, block) for block in blocks)):
            return True
    return False


def is_in(address: str, block: dict[str, Any]) -> bool:
    """Whether an address is in a block and not in what that leaves out."""
    try:
        number = ip_address(address)
    except ValueError:
        return False
    return number in ip_network(block["cidr"]) and not any(number in ip_network(out) for out in block["except"])


def test_workers_reach_every_port_that_a_webhook_may_have_and_no_other():
    for port in (22, 80, 443, 444, 1023, 1024, 8443, 65535):
        promised = not list(link_faults(f"https://hooks.example.org:{port}/", allow_private=False))
        for address in ("93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"):
            assert reaches("worker", address, port) == promised, port


def test_no_pod_reaches_an_address_that_no_webhook_may_have():
    for address in ("10.1.2.3", "100.64.0.1", "169.254.169.254", "172.16.0.1", "192.168.1.1", "fd00::1", "fe80::1"):
        assert not is_public(address)
        for component in pods():
            assert not any(reaches(component, address, port) for port in (80, 443, 8443)), (component, address)


def test_names_the_issuer_and_the_collector_are_reached():
    [collector] = re.findall(r"^    AEGIS_TRACES_ENDPOINT=(\S+)$", OPERATIONS, re.MULTILINE)
    for component in pods():
        for where, port in (("kube-system", 53), ("openshift-dns", 5353)):
            assert {reaches(component, where, port, protocol) for protocol in ("TCP", "UDP")} == {True}
        traced = component != "migrate"
        assert reaches(component, "monitoring", urlsplit(collector).port) == traced, component
        signs_in = component == "api"
        assert reaches(component, "keycloak", 8443) == signs_in
    assert reaches("api", "93.184.215.14", 443)


def test_the_worker_s_probe_asks_where_it_shows_its_metrics():
    [container] = pods()["worker"]["spec"]["containers"]
    [port] = container["ports"]
    assert str(port["containerPort"]) == variables(container)["AEGIS_WORKER_METRICS_PORT"]
    assert container["readinessProbe"]["httpGet"] == {"path": "/metrics", "port": port["name"]}


def selectors(manifest: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Which pods of ours a manifest is about."""
    spec = manifest["spec"]
    for name in ("selector", "podSelector"):
        if name in spec:
            yield spec[name].get("matchLabels", spec[name])


def test_every_selector_selects_the_pods_of_one_component():
    for manifest in MANIFESTS:
        for selector in selectors(manifest) if manifest["kind"] not in {"ConfigMap", "Job"} else ():
            chosen = [name for name, pod in pods().items() if selector.items() <= pod["metadata"]["labels"].items()]
            assert len(chosen) == 1, title(manifest)
            assert selector["app.kubernetes.io/name"] == "aegis"


@each_pod
def test_every_pod_has_a_policy_for_the_network_that_names_ports_that_there_are(component):
    [policy] = [
        manifest
        for manifest in MANIFESTS
        if manifest["kind"] == "NetworkPolicy" and component in manifest["metadata"]["name"]
    ]
    assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
    named = {port["name"] for container in containers(component) for port in container.get("ports", ())}
    assert {port["port"] for rule in policy["spec"].get("ingress", ()) for port in rule["ports"]} == named
