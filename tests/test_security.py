"""What docs/security.md says of the database, of proofs and of libraries is so."""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

import psycopg
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.postgres import create_database, drop_database

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
DOCUMENT = (ROOT / "docs/security.md").read_text(encoding="utf-8")
CLASSES = {"counts", "schema", "people", "secret", "technical"}
COPYLEFT = re.compile(r"\b(GPL|LGPL|AGPL|MPL|EPL|EUPL|CDDL|CC-BY-SA|SSPL)\b|-GPL|General Public|Mozilla")


def section(heading: str) -> str:
    return DOCUMENT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def rows(heading: str) -> list[list[str]]:
    """The rows of a section's table, without its head."""
    lines = [line for line in section(heading).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


def columns(url: str) -> Counter[tuple[str, str]]:
    query = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
    with psycopg.connect(url) as connection:
        return Counter(connection.execute(query).fetchall())


def test_every_column_of_the_database_has_its_class(postgres, migrated):
    url = create_database(postgres.url, "listed", template=migrated)
    there = columns(url)
    drop_database(postgres.url, "listed")
    queue = {table for table, _ in there if table.startswith("procrastinate_")} | {"alembic_version"}
    said = Counter(
        (table.strip("`"), column)
        for table, listed, kind, _ in rows("What is stored")
        if kind in CLASSES
        for column in re.findall(r"`(\w+)`", listed)
    )
    assert said == Counter({(table, column): 1 for table, column in there if table not in queue})
    assert queue <= set(re.findall(r"`(\w+)`", section("What is stored")))


def test_every_control_names_its_proof():
    controls = rows("Threats and controls")
    assert len(controls) > 20
    assert all(re.search(r"`tests/[\w/]+\.py`|`make check`", proof) for _, _, proof in controls)


def needed(*roots: str) -> Mapping[str, Distribution]:
    """Everything that is installed for these, by name, but for distributions of this repository."""
    found: dict[str, Distribution] = {}
    waiting, done = list(map(Requirement, roots)), set()
    while waiting:
        one = waiting.pop()
        extras = frozenset(one.extras) | {""}
        if (one.name, extras) in done or not applies(one, {""}):
            continue
        done.add((one.name, extras))
        found[canonicalize_name(one.name)] = distribution(one.name)
        inner = map(Requirement, found[canonicalize_name(one.name)].requires or ())
        waiting += [strip(each) for each in inner if applies(each, extras)]
    return {name: one for name, one in found.items() if not name.startswith("aegis-masking")}


def applies(one: Requirement, extras: frozenset[str] | set[str]) -> bool:
    return one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in extras)


def strip(one: Requirement) -> Requirement:
    """The requirement without its marker, which has been evaluated."""
    one.marker = None
    return one


SERVICE = "aegis-masking-server[embedded]"
PROVIDER = "aegis-masking-provider[postgres,noise,independence,check,synth]"


def licence(one: Distribution) -> str:
    """The licence that a library declares: the expression, else its classifiers, else its text."""
    about = one.metadata
    classified = ", ".join(line for line in about.get_all("Classifier") or () if line.startswith("License"))
    return about.get("License-Expression") or classified or about.get("License") or ""


def test_every_library_declares_a_licence_and_copyleft_ones_are_listed():
    libraries = needed(SERVICE, PROVIDER)
    assert [name for name, one in libraries.items() if not licence(one)] == []
    copyleft = {name for name, one in libraries.items() if COPYLEFT.search(licence(one))}
    assert {name for row in rows("Libraries") for name in re.findall(r"`([\w-]+)`", row[0])} == copyleft


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()[1:]
    return {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}


def bill(path: Path) -> dict[str, Any]:
    """The components of a bill of materials, by name."""
    document = json.loads(path.read_text(encoding="utf-8"))
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    return {canonicalize_name(one["name"]): one for one in document["components"]}


@pytest.mark.long  # it reads the texts of all licences
def test_a_bill_of_materials_has_every_library_as_it_is_pinned_with_its_licence(tmp_path):
    file = tmp_path / "bill.json"
    told = ["--gather-license-texts", "--no-validate", "--output-format", "JSON", "--output-file", str(file)]
    subprocess.run([BIN / "cyclonedx-py", "environment", *told, sys.executable], check=True, capture_output=True)
    components, pinned = bill(file), pins()
    for name in needed(SERVICE, PROVIDER):
        assert components[name]["version"] == pinned[name]
        assert components[name]["licenses"]


@pytest.mark.long
def test_make_sbom_lists_what_an_installation_brings_and_no_more():
    target = "sbom/aegis-masking.cdx.json"
    (ROOT / target).unlink(missing_ok=True)
    make = ["make", "--old-file=.venv/.installed", f"BIN={BIN}", target]
    subprocess.run(make, cwd=ROOT, check=True, capture_output=True)  # validates it by the schema of CycloneDX
    components = bill(ROOT / target)
    assert set(components) == set(needed("aegis-masking"))
    assert {name: one["version"] for name, one in components.items()}.items() <= pins().items()
