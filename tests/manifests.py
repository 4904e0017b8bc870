"""The manifests for Kubernetes, and the schemas that judge them."""

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs/kubernetes"
OVERLAYS = ("small", "high-availability", "openshift")

VERSIONS = ("1.30", "1.34", "1.37")
"""Those of Kubernetes whose schemas judge the manifests: an older one that is common, one between, and the newest."""

Manifest = dict[str, Any]


def title(manifest: Manifest) -> str:
    """The kind and the name of a manifest."""
    return f"{manifest['kind']} {manifest['metadata']['name']}"


def manifests(folder: Path) -> list[Manifest]:
    """The manifests in the files that a kustomization names, as they are written."""
    names = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
    return [manifest for name in names for manifest in yaml.safe_load_all((folder / name).read_text())]


@cache
def built(folder: Path) -> str:
    """What kustomize makes of a folder; kubectl has it."""
    return subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True, check=True).stdout


def faults(manifest: Manifest) -> dict[str, str]:
    """What rejects a manifest, and why: versions of Kubernetes, or the Prometheus operator, if it is one of its own."""
    if manifest["apiVersion"].startswith("monitoring.coreos.com/"):
        return _faults_of_the_operator(manifest)
    import kubernetes_validate as known  # noqa: PLC0415 -- a second, for each process that collects tests

    found = {}
    for version in VERSIONS:
        try:
            known.validate(manifest, version, strict=True)
        except known.ValidationError as error:
            found[version] = str(error)
    return found


def _faults_of_the_operator(manifest: Manifest) -> dict[str, str]:
    """By the schemas of prometheus-operator 0.93.0 (Apache-2.0) without their texts; unknown fields are faults here."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 -- like kubernetes_validate, which brings it

    schemas = json.loads((ROOT / "tests/prometheus_operator.json").read_text())
    errors = Draft202012Validator(schemas[manifest["kind"]]).iter_errors(manifest)
    return {error.json_path: error.message for error in errors}
