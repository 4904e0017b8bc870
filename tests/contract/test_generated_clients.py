"""Clients that others generate from the OpenAPI document: nothing is dropped, and they work with the real service."""

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from aegis_sdk import Client, wire
from tests.answers import OPENAPI, document
from tests.service import example_entry

pytestmark = pytest.mark.long

ROOT = OPENAPI.parents[1]
GENERATOR = ROOT / ".venv-generator/bin/openapi-python-client"
PACKAGE = "aegis_generated"

#: One set, so that npx installs it once, and keeps it. openapi-typescript needs TypeScript 5.
NPM = ("@redocly/cli@2.77.0", "@stoplight/spectral-cli@6.16.3", "openapi-typescript@7.13.0", "typescript@5.9.3")
#: The linters tell their makers nothing, and what is installed runs nothing then.
QUIET = {
    "REDOCLY_TELEMETRY": "off",
    "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
    "SCARF_ANALYTICS": "false",
    "npm_config_ignore_scripts": "true",
}


def ran(*command, cwd=ROOT, **environment):
    """What a command says, which must succeed."""
    told = {"cwd": cwd, "env": os.environ | environment}
    found = subprocess.run(command, capture_output=True, text=True, check=False, **told)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout + found.stderr


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """Import modules of the Python client."""
    if not GENERATOR.exists():
        (pytest.fail if "CI" in os.environ else pytest.skip)(f"there is no {GENERATOR}: run `make test-long`")
    folder = tmp_path_factory.mktemp("generated")
    (folder / "options.yaml").write_text("post_hooks: []\n")  # which would only format it
    options = ("--meta", "none", "--config", folder / "options.yaml", "--fail-on-warning")
    said = ran(GENERATOR, "generate", "--path", OPENAPI, "--output-path", folder / PACKAGE, *options)
    assert "warning" not in said.lower()
    sys.path.insert(0, str(folder))
    yield lambda module: importlib.import_module(f"{PACKAGE}.{module}")
    sys.path.remove(str(folder))


def test_a_python_client_has_every_operation_and_reads_every_example(generated):
    for methods in document()["paths"].values():
        for operation in methods.values():
            called = generated(f"api.{operation['tags'][0]}.{operation['operationId']}")
            assert callable(called.sync_detailed)
            assert callable(called.asyncio_detailed)
    models = generated("models")
    for name, schema in document()["components"]["schemas"].items():
        for example in schema.get("examples", []) if "properties" in schema else []:
            again = getattr(models, name).from_dict(example).to_dict()
            read = getattr(wire, name).model_validate_json
            assert read(json.dumps(again)) == read(json.dumps(example)), name
    parse = generated("api.advice.read_advice")._parse_response
    for example, view in ((wire.EXAMPLE_ADVICE, models.Advice), (wire.EXAMPLE_COARSE_ADVICE, models.CoarseAdvice)):
        assert isinstance(parse(client=None, response=httpx.Response(200, json=example)), view)


@pytest.fixture
def call(generated, url):
    """Call an operation of the service by the Python client."""
    with generated("client").Client(base_url=url) as client:
        yield lambda operation, *ids, **said: generated(f"api.{operation}").sync(*ids, client=client, **said)


def test_a_python_client_publishes_asks_reads_and_pages(generated, call, url):
    models, keyword = generated("models"), uuid4().hex
    documents = [example_entry(name=f"{keyword}-{number}", keywords=[keyword]) for number in range(3)]
    published = [
        call("entries.publish_entry", body=models.EntryDocument.from_dict(one), accept_small_counts=True)
        for one in documents
    ]
    head = published[0]
    assert isinstance(head, models.PublishedHead), head
    question = models.AdviceRequest(measure="mutual_information")
    asked = call("advice.ask_advice", head.id, body=question, prefer="wait=60")
    answer = call("advice.read_advice", asked.id)
    assert isinstance(answer, models.Advice), answer
    assert (answer.status, answer.id, answer.entry.id) == ("succeeded", asked.id, head.id)
    assert answer.request.to_dict()["measure"] == "mutual_information"
    with Client(url) as sdk:
        same = sdk.advise(str(head.id), "mutual_information")
    ranking = [(row.configuration, row.deviation) for row in answer.ranking]
    assert ranking == [(row.configuration, row.deviation) for row in same.ranking]
    pages = [call("entries.list_entries", limit=2, keyword=keyword)]
    pages.append(call("entries.list_entries", limit=2, keyword=keyword, page_token=pages[0].next_page_token))
    assert [[one.name for one in page.items] for page in pages] == [[f"{keyword}-2", f"{keyword}-1"], [f"{keyword}-0"]]
    assert pages[1].next_page_token is None
    missing = call("entries.read_entry", uuid4())
    assert isinstance(missing, models.Problem)
    assert (missing.status, missing.code) == (404, "not_found")


@pytest.fixture
def npx():
    """Run a command of one of the pinned packages."""
    if shutil.which("npx") is None:
        pytest.skip("there is no Node")
    command = ("npx", "--yes", *(f"--package={package}" for package in NPM), "--")
    told = {"capture_output": True, "text": True, "env": os.environ | QUIET}
    installed = subprocess.run([*command, "tsc", "--version"], check=False, **told)
    if installed.returncode:
        pytest.skip(f"npm does not install the linters: {installed.stderr[-500:]}")
    return lambda *arguments, cwd=ROOT: ran(*command, *arguments, cwd=cwd, **QUIET)


def test_linters_find_nothing_to_say_and_typescript_reads_the_types_that_are_made(npx, tmp_path):
    """One test, since npx must not install the same packages twice at the same time."""
    redocly = ("redocly", "lint", "--config", "openapi/redocly.yaml")
    spectral = ("spectral", "lint", "--ruleset", "openapi/spectral.yaml", "--fail-severity", "hint")
    unlicensed = document() | {"info": {"title": "Aegis", "version": "1"}}
    (tmp_path / "unlicensed.json").write_text(json.dumps(unlicensed))
    for linter, rule in ((redocly, "info-license"), (spectral, "info-contact")):
        npx(*linter, OPENAPI)
        with pytest.raises(AssertionError, match=rule):
            npx(*linter, tmp_path / "unlicensed.json")
    shutil.copy(Path(__file__).with_name("use_of_types.ts"), tmp_path)
    said = npx("openapi-typescript", OPENAPI, "--default-non-nullable=false", "-o", tmp_path / "aegis.d.ts")
    assert "warn" not in said.lower()
    npx("tsc", "--noEmit", "--strict", "use_of_types.ts", cwd=tmp_path)
